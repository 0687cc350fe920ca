import Foundation

/// Files through bare system calls. Paths are created before the measurement.
final class BareFiles {
    private let paths: [[CChar]]
    private let temporary: [CChar]

    init(_ urls: [URL], temporary: URL) {
        paths = urls.map { Array($0.path.utf8CString) }
        self.temporary = Array(temporary.path.utf8CString)
    }

    /// Writes a temporary file and renames it: `open`, `write`, `close`, `rename`.
    func write(_ value: Data, _ index: Int) throws {
        let file = open(temporary, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw CocoaError(.fileWriteUnknown) }
        let written = value.withUnsafeBytes { Foundation.write(file, $0.baseAddress, $0.count) }
        guard close(file) == 0, written == value.count, rename(temporary, paths[index]) == 0 else {
            throw CocoaError(.fileWriteUnknown)
        }
    }

    /// Reads a file into a buffer of its size: `open`, `fstat`, `malloc`, `read`, `close`, `free`.
    /// Returns the size.
    func read(_ index: Int) throws -> Int {
        let file = open(paths[index], O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw CocoaError(.fileReadUnknown) }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0, let buffer = malloc(Int(status.st_size)) else {
            throw CocoaError(.fileReadUnknown)
        }
        defer { free(buffer) }
        guard Foundation.read(file, buffer, Int(status.st_size)) == Int(status.st_size) else {
            throw CocoaError(.fileReadUnknown)
        }
        return Int(status.st_size)
    }
}
