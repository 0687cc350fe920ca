import Foundation
import Vellum
import VellumTesting

/// A temporary folder with archives and a manual clock. Deleted with the object.
final class TemporaryArchives: Sendable {
    let directory: URL
    let clock = TestClock()
    let factory: ArchivesFactory

    init() {
        let name = "VellumTests-\(UUID().uuidString)"
        directory = FileManager.default.temporaryDirectory.appendingPathComponent(
            name,
            isDirectory: true
        )
        factory = ArchivesFactory(
            directory: directory.appendingPathComponent("archives"),
            clock: clock.wallClock
        )
    }

    /// Returns another factory of the same folder, whose path is spelled differently.
    func anotherFactory(
        _ spelling: String = "archives",
        durability: Durability = .crashSafe
    ) -> ArchivesFactory {
        ArchivesFactory(
            directory: URL(fileURLWithPath: directory.path + "/" + spelling),
            durability: durability,
            clock: clock.wallClock
        )
    }

    var file: URL { factory.directory.appendingPathComponent("Archives.sqlite") }

    /// Creates the folder, with a file of these contents in the place of the archives.
    func put(_ contents: Data) throws {
        try FileManager.default.createDirectory(
            at: factory.directory,
            withIntermediateDirectories: true
        )
        try contents.write(to: file)
    }

    /// Changes one byte of the file in the only occurrence of `text`. The file must be closed.
    func damage(_ text: String) throws {
        var contents = try Data(contentsOf: file)
        guard let place = contents.range(of: Data(text.utf8)) else {
            throw CocoaError(.fileReadCorruptFile)
        }
        contents[place.lowerBound + place.count / 2] ^= 1
        try contents.write(to: file)
    }

    deinit {
        try? factory.close()
        try? FileManager.default.removeItem(at: directory)
    }
}

extension TestClock {
    /// Sets the clock. Nothing else happens.
    func advance(bySeconds seconds: Int64) { now += TimeInterval(seconds) }
}
