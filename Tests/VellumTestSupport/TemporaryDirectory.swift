package import Foundation

/// A folder for one test, removed with the value.
///
/// ```swift
/// let folder = try TemporaryDirectory()
/// let file = try DatabaseFile.open(at: folder.file("Archives.sqlite"))
/// ```
package final class TemporaryDirectory: Sendable {
    package let url: URL

    package init() throws {
        url = FileManager.default.temporaryDirectory.appendingPathComponent(
            "vellum-\(UUID().uuidString)",
            isDirectory: true
        )
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit {
        do {
            try FileManager.default.removeItem(at: url)
        } catch {
            // The test may have removed it already; otherwise the system cleans up temporary files.
        }
    }

    /// Returns the URL of a file in the folder.
    package func file(_ name: String) -> URL { url.appendingPathComponent(name) }

    /// Returns the size of a file in bytes; 0 if it does not exist.
    package func size(of name: String) -> Int {
        do {
            let attributes = try FileManager.default.attributesOfItem(atPath: file(name).path)
            return (attributes[.size] as? NSNumber)?.intValue ?? 0
        } catch {
            return 0
        }
    }
}
