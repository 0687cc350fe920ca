import Foundation

/// A folder for one test, in memory if the system offers that, because thousands of stores are
/// opened.
final class FastFolder: Sendable {
    let url: URL

    init() throws {
        let memory = "/dev/shm"
        let parent =
            FileManager.default.isWritableFile(atPath: memory)
            ? URL(fileURLWithPath: memory) : FileManager.default.temporaryDirectory
        url = parent.appendingPathComponent("vellum-\(UUID().uuidString)", isDirectory: true)
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit {
        do {
            try FileManager.default.removeItem(at: url)
        } catch {
            // A test may have removed it.
        }
    }

    func file(_ name: String) -> URL { url.appendingPathComponent(name) }

    func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: url.path)
    }
}
