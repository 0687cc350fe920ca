internal import Foundation
internal import VellumFiles

/// Opens files for commands.
enum Opening {
    /// Opens a file, runs a body and closes the file.
    static func file<Result>(_ path: String, access: ArchiveFile.Access = .reading, _ body: (ArchiveFile) throws -> Result) throws -> Result {
        let file = try ArchiveFile(at: url(path, access: access), access: access)
        let result = Swift.Result { try body(file) }
        let closing = Swift.Result { try file.close() }
        let value = try result.get()
        try closing.get()
        return value
    }

    /// Opens an archive of a file, runs a body and closes the file.
    static func archive<Result>(
        _ name: String, of path: String, access: ArchiveFile.Access = .reading, _ body: (RawArchive) throws -> Result
    ) throws -> Result {
        try file(path, access: access) { file in
            guard let archive = try file.archive(named: name) else { throw try missing(name, in: file) }
            return try body(archive)
        }
    }

    /// The failure of an archive that is not there. Names those that are.
    static func missing(_ name: String, in file: ArchiveFile) throws -> Failure {
        let names = try file.archives().map(\.name)
        let shown = names.prefix(5).map { TerminalText.shown($0, width: 40) }.joined(separator: ", ")
        let others = names.isEmpty ? "the file has none" : "there are: \(shown)\(names.count > 5 ? ", …" : "")"
        return Failure(.nothing, "there is no archive \(TerminalText.shown(name, width: 60)); \(others)")
    }

    /// The URL of a file that can be used, as far as the system says. Of a folder it is that of its archives.
    static func url(_ path: String, access: ArchiveFile.Access) throws -> URL {
        var path = path
        let shown = TerminalText.shown(path, width: 100)
        var status = stat()
        guard !path.isEmpty, stat(path, &status) == 0 else {
            throw Failure(.unusable, errno == EACCES ? "no permission to read \(shown)" : "there is no file \(shown)")
        }
        if status.st_mode & S_IFMT == S_IFDIR {
            path = (path as NSString).appendingPathComponent("Archives.sqlite")
            guard stat(path, &status) == 0 else { throw Failure(.unusable, "\(shown) is a folder without a file Archives.sqlite") }
        }
        guard Foundation.access(path, R_OK) == 0 else { throw Failure(.unusable, "no permission to read \(shown)") }
        if access == .writing, Foundation.access(path, W_OK) != 0 { throw Failure(.unusable, "no permission to write \(shown)") }
        return URL(fileURLWithPath: path)
    }
}
