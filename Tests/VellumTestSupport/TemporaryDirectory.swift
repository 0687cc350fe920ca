package import Foundation

/// A folder of its own for one test, gone with the value.
///
/// ```swift
/// let folder = try TemporaryDirectory()
/// let file = try DatabaseFile.open(at: folder.file("Archives.sqlite"))
/// ```
package final class TemporaryDirectory: Sendable {
    package let url: URL

    package init() throws {
        url = FileManager.default.temporaryDirectory.appendingPathComponent("vellum-\(UUID().uuidString)", isDirectory: true)
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit {
        do {
            try FileManager.default.removeItem(at: url)
        } catch {
            // The test may have removed it; a folder for temporary files may keep the rest.
        }
    }

    /// Where a file of that name would lie.
    package func file(_ name: String) -> URL { url.appendingPathComponent(name) }

    /// How many bytes a file takes; 0 if there is none.
    package func size(of name: String) -> Int {
        do {
            let attributes = try FileManager.default.attributesOfItem(atPath: file(name).path)
            return (attributes[.size] as? NSNumber)?.intValue ?? 0
        } catch {
            return 0
        }
    }
}
