internal import Foundation
internal import VellumFiles

/// Opens files for commands.
enum Opening {
    /// Opens a file, runs a body and closes the file.
    static func file<Result>(
        _ path: String,
        access: ArchiveFile.Access = .reading,
        _ body: (ArchiveFile) throws -> Result
    ) throws -> Result {
        if access == .writing { ToolLog.tell() }
        let file = try ArchiveFile(at: url(path, access: access), access: access)
        let result = Swift.Result { try body(file) }
        let closing = Swift.Result { try file.close() }
        let value = try result.get()
        try closing.get()
        return value
    }

    /// Opens an archive of a file, runs a body and closes the file.
    static func archive<Result>(
        _ name: String,
        of path: String,
        access: ArchiveFile.Access = .reading,
        _ body: (RawArchive) throws -> Result
    ) throws -> Result {
        try file(path, access: access) { file in
            try body(find(name, in: file))
        }
    }

    /// The archive of a name. `Airport` is `Sample.Airport`, too, if that is the only one.
    ///
    /// - Throws: A ``Failure`` that names the archives that are there.
    static func find(_ name: String, in file: ArchiveFile) throws -> RawArchive {
        if let archive = try file.archive(named: name) { return archive }
        let archives = try file.archives()
        let similar = archives.filter { $0.name.hasSuffix("." + name) }
        guard similar.count == 1, let only = similar.first else {
            throw missing(name, among: similar.isEmpty ? archives : similar)
        }
        return only
    }

    private static func missing(_ name: String, among archives: [RawArchive]) -> Failure {
        let names = archives.map(\.name)
        let shown = names.prefix(5).map {
            TerminalText.shown($0, width: 40)
        }.joined(
            separator: ", "
        )
        let others =
            names.isEmpty
            ? "the file has none" : "there are: \(shown)\(names.count > 5 ? ", …" : "")"
        return Failure(
            .nothing,
            "there is no archive \(TerminalText.shown(name, width: 60)); \(others)"
        )
    }

    /// The URL of a file that can be used, as far as the system says. Of a folder it is that of its
    /// archives.
    static func url(_ path: String, access: ArchiveFile.Access) throws -> URL {
        var path = path
        let shown = TerminalText.shown(path)
        var status = stat()
        guard !path.isEmpty, stat(path, &status) == 0 else {
            throw Failure(
                .unusable,
                errno == EACCES ? "no permission to read \(shown)" : "there is no file \(shown)"
            )
        }
        if status.st_mode & S_IFMT == S_IFDIR {
            path = (path as NSString).appendingPathComponent("Archives.sqlite")
            guard stat(path, &status) == 0 else {
                let isHidden = errno == EACCES
                throw Failure(
                    .unusable,
                    isHidden
                        ? "no permission to read \(shown)"
                        : "\(shown) is a folder without a file Archives.sqlite"
                )
            }
        }
        guard Foundation.access(path, R_OK) == 0 else {
            throw Failure(.unusable, "no permission to read \(shown)")
        }
        if access == .writing, Foundation.access(path, W_OK) != 0 {
            throw Failure(.unusable, "no permission to write \(shown)")
        }
        return URL(fileURLWithPath: path)
    }
}
