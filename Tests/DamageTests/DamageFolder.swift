import Foundation

/// A folder in memory, if the system offers that.
final class DamageFolder {
    let url: URL

    init() throws {
        let memory = URL(fileURLWithPath: "/dev/shm", isDirectory: true)
        let place =
            FileManager.default.isWritableFile(atPath: memory.path)
            ? memory : FileManager.default.temporaryDirectory
        url = place.appendingPathComponent("vellum-damage-\(UUID().uuidString)", isDirectory: true)
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit {
        do {
            try FileManager.default.removeItem(at: url)
        } catch {
            // The system removes the rest of a temporary folder.
        }
    }
}
