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
            throw Failure(.failed, "\(TerminalText.shown(path, width: 100)) is a folder")
        }
        let folder = (path as NSString).deletingLastPathComponent
        let random = String(UInt64.random(in: .min ... .max), radix: 36)
        temporary = (folder as NSString).appendingPathComponent(".vellum-\(random).part")
        Interrupts.shared.add(leftover: temporary)
    }

    /// Writes all bytes and gives the file its name.
    static func write(_ bytes: some ContiguousBytes, to path: String, replaces: Bool) throws {
        let file = try OutputFile(path, replaces: replaces)
        try file.finishing {
            let descriptor = open(
                file.temporary,
                O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
                0o600
            )
            guard descriptor >= 0 else {
                throw SystemFailure("write \(TerminalText.shown(path, width: 100))", code: errno)
            }
            defer { _ = close(descriptor) }
            try Descriptors.write(bytes, to: descriptor, name: TerminalText.shown(path, width: 100))
            guard fsync(descriptor) == 0 || errno == EINVAL || errno == ENOTSUP else {
                throw SystemFailure("write \(TerminalText.shown(path, width: 100))", code: errno)
            }
        }
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
        let name = TerminalText.shown(path, width: 100)
        if replaces {
            try checkIsNotInUse(path)
            guard Foundation.rename(temporary, path) == 0 else {
                throw SystemFailure("write \(name)", code: errno)
            }
        } else if link(temporary, path) == 0 {
            // A link never replaces a file that was made meanwhile.
            unlink(temporary)
        } else if errno == EEXIST {
            throw exists(path)
        } else {
            // A file system without links.
            try checkIsFree(path)
            guard Foundation.rename(temporary, path) == 0 else {
                throw SystemFailure("write \(name)", code: errno)
            }
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
        let name = TerminalText.shown(path, width: 100)
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
            \(TerminalText.shown(path, width: 100)) exists: give another name, or --force to \
            replace it
            """
        )
    }

    private static func isFolder(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }
}
