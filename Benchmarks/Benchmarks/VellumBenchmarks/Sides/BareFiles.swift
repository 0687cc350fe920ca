import Foundation

/// Files by the calls of the system and nothing else: paths are made before anything is measured.
final class BareFiles {
    private let paths: [[CChar]]
    private let temporary: [CChar]

    init(_ urls: [URL], temporary: URL) {
        paths = urls.map { Array($0.path.utf8CString) }
        self.temporary = Array(temporary.path.utf8CString)
    }

    /// Writes a file beside and puts it in its place: `open`, `write`, `close`, `rename`.
    func write(_ value: Data, _ index: Int) throws {
        let file = open(temporary, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw CocoaError(.fileWriteUnknown) }
        let written = value.withUnsafeBytes { Foundation.write(file, $0.baseAddress, $0.count) }
        guard close(file) == 0, written == value.count, rename(temporary, paths[index]) == 0 else { throw CocoaError(.fileWriteUnknown) }
    }

    /// Reads a file into memory of its size: `open`, `fstat`, `malloc`, `read`, `close`, `free`. Returns how many bytes it has.
    func read(_ index: Int) throws -> Int {
        let file = open(paths[index], O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw CocoaError(.fileReadUnknown) }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0, let buffer = malloc(Int(status.st_size)) else { throw CocoaError(.fileReadUnknown) }
        defer { free(buffer) }
        guard Foundation.read(file, buffer, Int(status.st_size)) == Int(status.st_size) else { throw CocoaError(.fileReadUnknown) }
        return Int(status.st_size)
    }
}
