internal import Foundation
internal import VellumCore

extension FolderFiles {
    /// Writes the value of a key. On failure the old value stays, and nothing is left of the new one.
    ///
    /// Two failures come too late for that, and say so: ``FileFailure/Step/syncing`` and ``FileFailure/Step/removingOld``.
    ///
    /// - Complexity: O(size).
    func write(_ value: Data, for key: Filename) throws(FileFailure) {
        sweepOnce()
        let spelling = names.spelling(of: key)
        try writer.making(folder, ifMissing: creatingDirectories) { () throws(FileFailure) in try store(value, spelling) }
        for place in names.oldPlaces(of: spelling) { _ = try remove(place, .removingOld) }
    }

    private func store(_ value: Data, _ spelling: FileNames.Spelling) throws(FileFailure) {
        let place = names.place(of: spelling)
        guard case .named(let name) = place else {
            try put(value, at: place)
            return
        }
        let needsRoom = names.needsExactName(name)
        while true {
            let isWritten = try writer.write([value], in: folder) { (temporary) throws(FileFailure) in
                if needsRoom { try makeRoom(for: name) }
                return try writer.rename(temporary, to: name, in: folder)
            }
            if isWritten { return }
            // There is a folder of that name: an earlier version made it, for keys with `/` in them.
            let beside = names.placeBeside(spelling)
            guard beside != place else { throw FileFailure(step: .replacing, code: EISDIR, path: folder.text + "/" + name) }
            if try put(value, at: beside, ifFolder: name) { return }
        }
    }

    /// Writes a value at a place, whatever is there.
    ///
    /// - Parameter occupied: The name that must belong to a folder at that moment.
    /// - Returns: Whether it does.
    @discardableResult
    func put(_ value: Data, at place: FilePlace, ifFolder occupied: String? = nil) throws(FileFailure) -> Bool {
        var pieces = [value]
        if case .hashed(let text) = place { pieces.append(LongKeyFile.end(for: text)) }
        return try writer.write(pieces, in: folder) { (temporary) throws(FileFailure) in
            try shared.placing.withLock { (_) throws(FileFailure) in
                if let occupied, try kind(of: occupied) != .folder { return false }
                let name =
                    switch place {
                    case .named(let name): name
                    case .hashed(let text): try nameToWrite(text)
                    }
                guard try writer.rename(temporary, to: name, in: folder) else {
                    throw FileFailure(step: .replacing, code: EISDIR, path: folder.text + "/" + name)
                }
                return true
            }
        }
    }

    /// What the folder has under a name; `nil` if it has nothing.
    func kind(of name: String) throws(FileFailure) -> FileSystemCalls.Kind? {
        try folder.withPath(of: name.utf8) { (path) throws(FileFailure) -> FileSystemCalls.Kind? in
            switch calls.statusAt(path) {
            case .value(let status): return status.kind
            case .failure(-ENOENT): return nil
            case .failure(let code): throw FileFailure(step: .opening, code: -code, path: String(cString: path))
            }
        }
    }
}
