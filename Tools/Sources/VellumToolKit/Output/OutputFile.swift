internal import Foundation

/// A file that appears under its name when it is complete, for nobody but the user.
struct OutputFile {
    let path: String
    /// The name under which it is written.
    let temporary: String
    private let replaces: Bool

    /// - Parameter replaces: Whether a file that is there may be replaced.
    init(_ path: String, replaces: Bool) throws {
        self.path = path
        self.replaces = replaces
        if replaces { try Self.checkIsNotInUse(path) } else { try Self.checkIsFree(path) }
        if Self.isFolder(path) {
            throw Failure(.failed, "\(TerminalText.shown(path)) is a folder")
        }
        let folder = (path as NSString).deletingLastPathComponent
        let random = String(UInt64.random(in: .min ... .max), radix: 36)
        temporary = (folder as NSString).appendingPathComponent(".vellum-\(random).part")
        Interrupts.shared.add(leftover: temporary)
    }

    /// Writes all bytes and gives the file its name.
    static func write(_ bytes: some ContiguousBytes, to path: String, replaces: Bool) throws {
        try OutputFile(path, replaces: replaces).creating { descriptor in
            try Descriptors.write(bytes, to: descriptor, name: TerminalText.shown(path))
            guard fsync(descriptor) == 0 || errno == EINVAL || errno == ENOTSUP else {
                throw notWritten(path)
            }
        }
    }

    /// Runs what writes to ``temporary``, which is created, then gives the file its name.
    func creating(_ write: (_ descriptor: Int32) throws -> Void) throws {
        try finishing {
            let descriptor = open(
                temporary,
                O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
                0o600
            )
            guard descriptor >= 0 else { throw Self.notWritten(path) }
            defer { _ = close(descriptor) }
            try write(descriptor)
        }
    }

    /// What `errno` says.
    private static func notWritten(_ path: String) -> SystemFailure {
        SystemFailure("write \(TerminalText.shown(path))", code: errno)
    }

    /// Runs what writes ``temporary``, then gives the file its name. Removes it if that fails.
    func finishing(_ write: () throws -> Void) throws {
        defer { Interrupts.shared.forget(leftover: temporary) }
        do {
            try write()
            try Self.put(temporary, at: path, replaces: replaces)
        } catch {
            unlink(temporary)
            throw error
        }
    }

    /// Gives a file that is complete its name.
    static func put(_ temporary: String, at path: String, replaces: Bool) throws {
        if replaces {
            try checkIsNotInUse(path)
            guard Foundation.rename(temporary, path) == 0 else { throw notWritten(path) }
        } else if link(temporary, path) == 0 {
            // A link never replaces a file that was made meanwhile.
            unlink(temporary)
        } else if errno == EEXIST {
            throw exists(path)
        } else {
            // A file system without links.
            try checkIsFree(path)
            guard Foundation.rename(temporary, path) == 0 else { throw notWritten(path) }
        }
    }

    static func checkIsFree(_ path: String) throws {
        var status = stat()
        if lstat(path, &status) == 0 { throw exists(path) }
    }

    /// A database that a program uses, or that one has left when it was killed, is not replaced:
    /// its log would be taken for that of the new file.
    static func checkIsNotInUse(_ path: String) throws {
        var status = stat()
        guard
            let suffix = ["-wal", "-journal"].first(
                where: { lstat(path + $0, &status) == 0 }
            )
        else { return }
        let name = TerminalText.shown(path)
        throw Failure(
            .failed,
            """
            \(name) is a database in use: there is a file \(name)\(suffix). Nothing was replaced; \
            vellum restore replaces such a file
            """
        )
    }

    private static func exists(_ path: String) -> Failure {
        Failure(
            .failed,
            """
            \(TerminalText.shown(path)) exists: give another name, or --force to \
            replace it
            """
        )
    }

    private static func isFolder(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }
}
