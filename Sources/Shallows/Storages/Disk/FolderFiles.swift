internal import Foundation
internal import VellumCore

/// The files of a folder, one for each key.
///
/// ```swift
/// let files = FolderFiles(folder: url, encoder: .base64)
/// try files.write(data, for: "settings")
/// let settings = try files.read("settings")
/// ```
///
/// Every call blocks its thread while the system works, and may be made on any thread, at once with others: files are replaced
/// whole. Of two writes for one key at the same time the one that ends last stays. Other processes may use the folder, too, and may
/// remove it: the next write makes it again.
///
/// What a call must do is decided by ``FileNames``; here it is done.
final class FolderFiles: Sendable {
    let names: FileNames
    let folder: FolderPath
    let creatingDirectories: Bool
    let digest: KeyDigest
    let calls: FileSystemCalls
    let processes: ProcessTable
    let reader: FileReader
    let writer: FileWriter

    /// What others that use the folder in this process must know.
    let shared: SharedFolder
    private let sweeps: Sweeps

    /// - Parameters:
    ///   - folder: A folder on this machine, which need not exist.
    ///   - creatingDirectories: Whether a write makes the folder, and those above it, where they are missing.
    ///   - caseRule: Whether the folder tells letters apart; by default, what its volume says.
    ///   - shared: What others that use the folder at the same time are given, too.
    ///   - sweeps: The same, of who uses it earlier or later.
    init(
        folder: URL, encoder: Filename.Encoder = .base64, sync: FileSync = .none, creatingDirectories: Bool = true,
        caseRule: CaseRule? = nil, digest: KeyDigest = .fnv1a, calls: FileSystemCalls = .system, processes: ProcessTable = .system,
        shared: SharedFolder = SharedFolder(), sweeps: Sweeps = Sweeps()
    ) {
        self.shared = shared
        self.sweeps = sweeps
        self.folder = FolderPath(folder)
        names = FileNames(encoder: encoder, rule: caseRule ?? .ofVolume(at: self.folder.text))
        self.creatingDirectories = creatingDirectories
        self.digest = digest
        self.calls = calls
        self.processes = processes
        reader = FileReader(calls: calls)
        writer = FileWriter(calls: calls, sync: sync)
    }

    /// The name of a key's file in the folder: where it is, or would be, written. Nothing is read.
    ///
    /// The file holds the value and nothing else, unless the key is too long for a name (``LongKeyFile``).
    func fileName(for key: Filename) -> String {
        switch names.place(of: names.spelling(of: key)) {
        case .named(let name): name
        case .hashed(let text): LongKeyFile.name(digest: digest.digits(of: text), number: 0)
        }
    }

    /// The value of a key; `nil` if there is none.
    ///
    /// - Complexity: O(size).
    func read(_ key: Filename) throws(FileFailure) -> Data? {
        let spelling = names.spelling(of: key)
        if let value = try read(spelling) { return value }
        let old = names.oldPlaces(of: spelling)
        for place in old {
            if let value = try value(at: place, isOld: true) { return value }
        }
        // Another thread may have moved it from an old place to the new one in between.
        return old.isEmpty ? nil : try read(spelling)
    }

    private func read(_ spelling: FileNames.Spelling) throws(FileFailure) -> Data? {
        let place = names.place(of: spelling)
        if case .named(let name) = place {
            switch try contents(of: name) {
            case .value(let data): return data
            case .missing: return nil
            case .folder: return try value(at: names.placeBeside(spelling), isOld: false)
            }
        }
        return try value(at: place, isOld: false)
    }

    func value(at place: FilePlace, isOld: Bool) throws(FileFailure) -> Data? {
        switch place {
        case .hashed(let text): return try readLong(text)
        case .named(let path):
            guard try leadsInside(path) else { return nil }
            do throws(FileFailure) {
                guard case .value(let data) = try contents(of: path) else { return nil }
                return data
            } catch {
                // A path of an earlier version may lead through what is a file now, or be longer than paths may be.
                if isOld, error.code == ENOTDIR || error.code == ENAMETOOLONG { return nil }
                throw error
            }
        }
    }

    /// What the folder has under exactly this name.
    func contents(of name: String) throws(FileFailure) -> FileReader.Contents {
        let contents = try folder.withPath(of: name.utf8) { (path) throws(FileFailure) in try reader.contents(at: path) }
        guard names.rule == .insensitive, case .value = contents, names.needsExactName(name) else { return contents }
        return try hasExactly(name) ? contents : .missing
    }

    /// Removes what killed processes left in the folder. Returns how many files that were. The first write does so by itself.
    @discardableResult
    func sweep() throws(FileFailure) -> Int {
        try temporaryFiles.sweep()
    }

    func sweepOnce() { sweeps.sweepOnce(temporaryFiles) }

    private var temporaryFiles: TemporaryFiles { TemporaryFiles(folder: folder, calls: calls, processes: processes) }
}
