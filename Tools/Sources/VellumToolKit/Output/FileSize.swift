internal import Foundation

/// The size of a file.
enum FileSize {
    static func of(_ path: String) throws -> Int {
        var status = stat()
        guard stat(path, &status) == 0 else {
            throw SystemFailure("read \(TerminalText.shown(path))", code: errno)
        }
        return Int(status.st_size)
    }
}
