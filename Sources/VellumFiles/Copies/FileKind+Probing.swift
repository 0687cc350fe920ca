internal import Foundation
internal import VellumCore
internal import VellumEngine

extension FileKind {
    /// Returns what a file holds, without opening it: archives if its header does not say, so that
    /// opening it says what it is.
    ///
    /// - Throws: ``VellumError`` if there is no file that can be read.
    static func ofFile(at url: URL) throws(VellumError) -> FileKind {
        try known(ofFileAt: url) ?? .archives
    }

    /// The same; `nil` if the header does not say.
    static func known(ofFileAt url: URL) throws(VellumError) -> FileKind? {
        do {
            let path = try FileSystem.resolved(url.path)
            try FilePaths.check(path)
            guard let identity = FileIdentity(path: path),
                let open = OpenDatabases.shared.file(of: identity)
            else {
                return try FileHeader.kind(of: path) ?? FileHeader.kind(inLogOf: path)
            }
            // Another descriptor would release the locks of this process when it is closed.
            var bytes = [UInt8](repeating: 0, count: FileHeader.size)
            let isRead = pread(open, &bytes, bytes.count, 0) == bytes.count
            return try (isRead ? FileHeader(bytes: bytes).kind : nil)
                ?? FileHeader.kind(inLogOf: path)
        } catch let error as SQLiteError where error.isUnsafePath {
            throw VellumError(error)
        } catch {
            let isMissing =
                FileIdentity(path: url.path) == nil
                && FileSystem.isReadable(FileSystem.folder(of: url.path))
            let reason =
                isMissing
                ? "There is no file at this path."
                : "The file cannot be read. \(OpeningProblem(path: url.path).advice)"
            throw VellumError(.cannotOpen, reason, path: url.path, cause: error)
        }
    }
}

extension FileHeader {
    /// The kind that the log names, which has the first page as long as nobody has copied it
    /// (sqlite.org/fileformat2.html, 4.1).
    fileprivate static func kind(inLogOf path: String) throws -> FileKind? {
        guard let pageSize = try logPageSize(path) else { return nil }
        let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path + "-wal"))
        defer { file.closeFile() }
        var offset = UInt64(32)
        var kind = FileKind?.none
        while true {
            try file.seek(toOffset: offset)
            guard let frame = try file.read(upToCount: 24 + size).map(Array.init),
                frame.count == 24 + size
            else { return kind }
            if FileHeader(bytes: frame).number(at: 0) == 1 {
                kind = FileHeader(bytes: Array(frame[24...])).kind
            }
            offset += UInt64(24 + pageSize)
        }
    }
}
