internal import Foundation
internal import VellumCore

/// The files of a folder, one for each key.
///
/// ```swift
/// let files = FolderFiles(.init(folder: url, encoder: .base64))
/// try files.write(data, for: "settings")
/// let settings = try files.read("settings")
/// ```
///
/// Every call blocks its thread for the file system, and may be made on any thread, concurrently with others: files are replaced whole.
/// Of two concurrent writes for one key the one that ends last stays. Other processes may use the folder, and may remove it: the next
/// write makes it again.
final class FolderFiles: Sendable {
    struct Configuration: Sendable {
        /// A folder on this machine, which need not exist.
        var folder: URL
        var encoder = Filename.Encoder.base64
        var sync = FileSync.none
        /// Whether a write makes the folder, and those above it, where they are missing.
        var makesFolders = true
        /// By default that of the folder's volume.
        var caseSensitivity: CaseSensitivity?
        var digest = KeyDigest.fnv1a
        var fileSystem = FileSystem.system
        /// The state that concurrent users of the folder share.
        var shared = SharedFolder()
        var sweptFolders = TemporaryFiles.SweptFolders()
    }

    let names: FileNames
    let folder: Folder
    let digest: KeyDigest
    let reader: FileReader
    let writer: FileWriter
    let shared: SharedFolder
    private let sweptFolders: TemporaryFiles.SweptFolders

    init(_ configuration: Configuration) {
        let folder = Folder(configuration.folder, on: configuration.fileSystem)
        self.folder = folder
        names = FileNames(
            encoder: configuration.encoder, caseSensitivity: configuration.caseSensitivity ?? .ofVolume(at: folder.path))
        digest = configuration.digest
        reader = FileReader(folder: folder)
        writer = FileWriter(folder: folder, sync: configuration.sync, makesFolders: configuration.makesFolders)
        shared = configuration.shared
        sweptFolders = configuration.sweptFolders
    }

    /// The name of the file that a key's value is written to. Reads nothing.
    ///
    /// The file holds the value and nothing else, unless the key is too long for a name (``LongKeyFile``).
    func fileName(for key: Filename) -> String {
        switch names.location(of: names.spelling(of: key)) {
        case .named(let name): name
        case .hashed(let text): LongKeyFile.name(digest: digest.digits(of: text), number: 0)
        }
    }

    /// The path that the original gave to the file of a key; that of ``fileName(for:)`` if it may lead out of the folder or to another key's file.
    func originalPath(for key: Filename) -> String {
        names.earlierPath(of: names.encoder.encodedString(representing: key)) ?? fileName(for: key)
    }

    /// Removes what killed processes left in the folder, if this process has not done so.
    func sweepOnce() { sweptFolders.sweepOnce(folder) }

    // MARK: Reading

    /// The value of a key; `nil` if there is none.
    ///
    /// - Complexity: O(size).
    func read(_ key: Filename) throws(FileError) -> Data? {
        let spelling = names.spelling(of: key)
        if let value = try read(spelling) { return value }
        let earlier = names.earlierLocations(of: spelling)
        for location in earlier {
            if let value = try value(at: location, isEarlier: true) { return value }
        }
        // Another thread may have moved it from an earlier location meanwhile.
        return earlier.isEmpty ? nil : try read(spelling)
    }

    private func read(_ spelling: FileNames.Spelling) throws(FileError) -> Data? {
        let location = names.location(of: spelling)
        guard case .named(let name) = location else { return try value(at: location) }
        switch try contents(of: name) {
        case .value(let data): return data
        case .missing: return nil
        case .folder: return try value(at: names.locationBesideFolder(spelling))
        }
    }

    /// - Parameter isEarlier: Whether an earlier version chose the location.
    func value(at location: FileLocation, isEarlier: Bool = false) throws(FileError) -> Data? {
        switch location {
        case .hashed(let text): return try readLong(text)
        case .named(let path):
            guard try leadsInside(path) else { return nil }
            do throws(FileError) {
                guard case .value(let data) = try contents(of: path) else { return nil }
                return data
            } catch {
                // A path of an earlier version may lead through a file, or be longer than paths may be.
                if isEarlier, error.code == ENOTDIR || error.code == ENAMETOOLONG { return nil }
                throw error
            }
        }
    }

    /// The contents of the file of exactly this name.
    func contents(of name: String) throws(FileError) -> FileReader.Contents {
        let contents = try reader.contents(of: name)
        guard names.caseSensitivity == .insensitive, case .value = contents, names.needsExactName(name) else { return contents }
        return try hasExactly(name) ? contents : .missing
    }

    // MARK: Checking names

    /// Whether a path of an earlier version leads through folders alone. A link may lead out of the folder.
    func leadsInside(_ path: String) throws(FileError) -> Bool {
        for slash in path.utf8.indices where path.utf8[slash] == UInt8(ascii: "/") {
            let above = String(path[..<slash])
            switch try folder.status(of: above) {
            case .value(let status): guard status.kind == .folder else { return false }
            case .failure(-ENOENT), .failure(-ENOTDIR), .failure(-ENAMETOOLONG): return false
            case .failure(let code): throw folder.error(.opening, code, above)
            }
        }
        return true
    }

    /// Whether the folder has something under `name`, in this spelling.
    func hasExactly(_ name: String) throws(FileError) -> Bool {
        try spelling(of: name)?.hasSameBytes(as: EntryKey(name).normalized) == true
    }

    /// How the folder spells what it has under `name`, in normal form; `nil` if it has nothing there.
    func spelling(of name: String) throws(FileError) -> String? {
        switch try folder.spelling(of: name) {
        case .value(let bytes):
            // The end of the path that is inside the folder has as many parts as the name.
            let depth = name.utf8.count { $0 == UInt8(ascii: "/") } + 1
            let parts = bytes.split(separator: UInt8(ascii: "/")).suffix(depth)
            return EntryKey(parts.map { String(decoding: $0, as: UTF8.self) }.joined(separator: "/")).normalized
        case .failure(-ENOENT), .failure(-ENOTDIR), .failure(-ENAMETOOLONG): return nil
        case .failure(let code): throw folder.error(.opening, code, name)
        }
    }
}
