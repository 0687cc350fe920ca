// An app and its extension on one file, which is released before the app is suspended.

import Foundation
import Vellum

#if !canImport(Darwin)
    extension FileManager {
        /// As on Apple platforms, so that the example is compiled.
        nonisolated func containerURL(forSecurityApplicationGroupIdentifier name: String) -> URL? {
            temporaryDirectory.appending(path: name)
        }
    }
#endif

struct NoGroup: Error {}

struct Shared {
    let factory: ArchivesFactory

    init() throws {
        let group = "group.com.example.shop"
        guard
            let folder = FileManager.default.containerURL(
                forSecurityApplicationGroupIdentifier: group
            )
        else { throw NoGroup() }
        factory = ArchivesFactory(
            directory: folder.appending(path: "Shop")
        )
    }

    func didEnterBackground() throws {
        try factory.suspend()
    }

    func willEnterForeground() throws {
        try factory.resume()
    }
}

extension Shared {
    /// Work in the background: between the two calls the file is open.
    func inBackground(_ work: () throws -> Void) throws {
        try factory.resume()
        defer { suspendOrReport() }
        try work()
    }

    func suspendOrReport() {
        do { try factory.suspend() } catch { print("The file is still open: \(error)") }
    }
}
// snippet.hide

let shared = try Shared()
try shared.didEnterBackground()
try shared.willEnterForeground()
try shared.inBackground {}
