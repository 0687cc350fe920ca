internal import Foundation

/// Temporary files of a folder that nobody will rename any more: their process was killed.
struct TemporaryFiles: Sendable {
    /// How long a temporary file is left alone whose process cannot be seen from here, in seconds: it may be one of another machine
    /// or container that uses the folder.
    static let patience = 24 * 60 * 60

    let folder: FolderPath
    let calls: FileSystemCalls
    let processes: ProcessTable

    /// Removes those of processes that are gone. Returns how many.
    ///
    /// - Complexity: O(number of files in the folder), and a few calls for each temporary one.
    @discardableResult
    func sweep(at now: Date = Date()) throws(FileFailure) -> Int {
        var count = 0
        for entry in try calls.entries(of: [], in: folder) where entry.kind == .file {
            let name = String(decoding: entry.name, as: UTF8.self)
            guard name.utf8.starts(with: SafeName.temporaryPrefix.utf8), try isAbandoned(name, now) else { continue }
            let answer = try folder.withPath(of: name.utf8) { (path) throws(FileFailure) in calls.unlink(path) }
            guard answer == 0 || answer == -ENOENT else {
                throw FileFailure(step: .removing, code: -answer, path: folder.text + "/" + name)
            }
            if answer == 0 { count += 1 }
        }
        return count
    }

    private func isAbandoned(_ name: String, _ now: Date) throws(FileFailure) -> Bool {
        if let isAlive = TemporaryName(name).flatMap(processes.isAlive) { return !isAlive }
        return try folder.withPath(of: name.utf8) { (path) throws(FileFailure) in
            switch calls.statusAt(path) {
            case .value(let status): return status.modified < Int(now.timeIntervalSince1970) - Self.patience
            case .failure: return false  // Whoever wrote it has just renamed it.
            }
        }
    }
}

extension FileSystemCalls {
    /// What a folder inside `folder` holds, or that one itself where the path is empty; nothing if it is not there.
    func entries(of path: some Collection<UInt8>, in folder: FolderPath) throws(FileFailure) -> [Entry] {
        try folder.withPath(of: path) { (path) throws(FileFailure) in
            switch list(path) {
            case .value(let entries): return entries
            case .failure(-ENOENT): return []
            case .failure(let code): throw FileFailure(step: .listing, code: -code, path: String(cString: path))
            }
        }
    }
}
