import Foundation
import MiniCache
import Testing
import Vellum
import VellumCore
import VellumFiles
import VellumTestSupport

/// Objects with an index.
struct Peak: ArchiveCodable, IndexedArchivable, Equatable {
    static let archiveName = "Peak"
    static var archiveIndexes: [ArchiveIndex<Peak>] { [.index(\.country, \.height)] }
    var primaryKey: String { name }
    var name: String
    var country: String
    var height: Int

    init(_ number: Int) {
        (name, country, height) = ("peak \(number)", number % 3 == 0 ? "CH" : "IT", number * 10)
    }
}

/// The same objects as an earlier program recorded them: with a height in feet, and no index.
struct OldPeak: ArchiveCodable {
    static let archiveName = "Peak"
    var primaryKey: String { name }
    var name: String
    var country: String
    var feet: Int
}

/// The same objects with another version of their type.
struct NewPeak: ArchiveCodable, VersionedArchive, Equatable {
    static let archiveName = "Peak"
    static let archiveVersion = 1
    var primaryKey: String { name }
    var name: String
    var height: Int

    static func migrate(_ old: StoredObject) throws -> Migrated<NewPeak> {
        let old = try old.decode(OldPeak.self)
        return .object(NewPeak(name: old.name, height: old.feet / 10))
    }
}

/// Another archive.
struct Hut: ArchiveCodable, Equatable {
    static let archiveName = "Hut"
    var primaryKey: String
    var beds = 0
}

/// Everything about the files of a folder that a program may change.
struct FolderState: Equatable, CustomStringConvertible {
    struct File: Equatable {
        var mode: mode_t
        var modified: Int
        var changed: Int
        var contents: Data
    }

    var files: [String: File] = [:]

    init(_ folder: URL) throws {
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
            let path = folder.path + "/" + name
            var status = stat()
            guard lstat(path, &status) == 0 else { throw CocoaError(.fileReadUnknown) }
            let isFile = status.st_mode & S_IFMT == S_IFREG
            files[name] = File(
                mode: status.st_mode,
                modified: status.st_mtim.tv_sec &* 1_000_000_000 &+ status.st_mtim.tv_nsec,
                changed: status.st_ctim.tv_sec &* 1_000_000_000 &+ status.st_ctim.tv_nsec,
                contents: isFile ? try Data(contentsOf: URL(fileURLWithPath: path)) : Data()
            )
        }
    }

    var description: String {
        files.map { "\($0.key): \($0.value.contents.count) bytes, \($0.value.modified)" }.sorted()
            .joined(separator: "\n")
    }
}

/// A folder with a file of peaks and huts.
struct PeakFolder {
    let folder: TemporaryDirectory
    let url: URL

    /// How the file came to be.
    enum Form: CaseIterable {
        /// By `backup(to:)`, without a log.
        case backup
        /// A program has closed it.
        case closed
        /// The same, in a folder in which nobody may write.
        case sealed
    }

    static let count = 300

    init(_ form: Form = .backup) throws {
        folder = try TemporaryDirectory()
        url = folder.file("Peaks of the Alps 100%.sqlite")
        try (form == .backup ? Self.backup : Self.closed).get().write(to: url)
        // As this package makes both.
        let permissions: [FileAttributeKey: Any] = [.posixPermissions: 0o600]
        try FileManager.default.setAttributes(permissions, ofItemAtPath: url.path)
        if form == .sealed { try seal(true) }
    }

    /// The bytes of such a file, which is made once.
    private static let backup = Result { try bytes(.backup) }
    private static let closed = Result { try bytes(.closed) }

    private static func bytes(_ form: Form) throws -> Data {
        let source = try TemporaryDirectory()
        let factory = ArchivesFactory(directory: source.url)
        try fill(factory)
        if form == .backup { try factory.backup(to: source.file("Backup.sqlite")) }
        try factory.close()
        let name = form == .backup ? "Backup.sqlite" : "Archives.sqlite"
        return try Data(contentsOf: source.file(name))
    }

    static func fill(_ factory: ArchivesFactory) throws {
        let peaks = try factory.store(for: Peak.self, diskLimit: 1.megaByte)
        try peaks.record(contentsOf: (0..<count).map(Peak.init))
        try factory.store(for: Hut.self).record(Hut(primaryKey: "hut", beds: 40))
        // The oldest but one.
        _ = try peaks.access(archiveWithKey: "peak 0")
    }

    func seal(_ isSealed: Bool) throws {
        try FileManager.default.setAttributes(
            [.posixPermissions: isSealed ? 0o555 : 0o755],
            ofItemAtPath: folder.url.path
        )
    }

    var state: FolderState { get throws { try FolderState(folder.url) } }
}

/// The code of the error that is thrown; `nil` if none is.
func code(_ body: () throws -> Void) -> VellumError.Code? {
    do {
        try body()
        return nil
    } catch {
        return (error as? VellumError)?.code ?? VellumError.Code.inputOutput
    }
}

/// Ends a loop of another task.
final class Flag: Sendable {
    private let state = Locked(false)

    var isSet: Bool { state.withLock { $0 } }

    func set() { state.withLock { $0 = true } }
}
