import Foundation

/// A folder that lies in memory where there is such a place.
final class DamageFolder {
    let url: URL

    init() throws {
        let memory = URL(fileURLWithPath: "/dev/shm", isDirectory: true)
        let place = FileManager.default.isWritableFile(atPath: memory.path) ? memory : FileManager.default.temporaryDirectory
        url = place.appendingPathComponent("vellum-damage-\(UUID().uuidString)", isDirectory: true)
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit {
        do {
            try FileManager.default.removeItem(at: url)
        } catch {
            // What a folder for temporary files keeps is removed by the system.
        }
    }
}
