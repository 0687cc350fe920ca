internal import Foundation
internal import VellumCore

extension FolderFiles {
    /// Writes the value of a key. On failure the old value stays, and nothing is left of the new one.
    ///
    /// Two failures come after the value was written: ``VellumCore/FileError/Step/syncing`` and ``VellumCore/FileError/Step/removingEarlier``.
    ///
    /// - Complexity: O(size).
    func write(_ value: Data, for key: Filename) throws(FileError) {
        sweepOnce()
        let spelling = names.spelling(of: key)
        try writer.retrying { () throws(FileError) in try store(value, spelling) }
        for location in names.earlierLocations(of: spelling) { _ = try remove(location, .removingEarlier) }
    }

    private func store(_ value: Data, _ spelling: FileNames.Spelling) throws(FileError) {
        let location = names.location(of: spelling)
        guard case .named(let name) = location else {
            try put(value, at: location)
            return
        }
        let needsRoom = names.needsExactName(name)
        while true {
            let isWritten = try writer.write([value]) { (temporary) throws(FileError) in
                if needsRoom { try makeRoom(for: name) }
                return try writer.rename(temporary, to: name)
            }
            if isWritten { return }
            // An earlier version made a folder of that name, for keys with `/` in them.
            let beside = names.locationBesideFolder(spelling)
            guard beside != location else { throw folder.error(.renaming, EISDIR, name) }
            if try put(value, at: beside, ifFolder: name) { return }
        }
    }

    /// Writes a value to a location.
    ///
    /// - Parameter occupied: The name that must belong to a folder at that moment.
    /// - Returns: Whether it does.
    @discardableResult
    private func put(_ value: Data, at location: FileLocation, ifFolder occupied: String? = nil) throws(FileError) -> Bool {
        var pieces = [value]
        if case .hashed(let text) = location { pieces.append(LongKeyFile.end(for: text)) }
        return try writer.write(pieces) { (temporary) throws(FileError) in
            try shared.locating.withLock { (_) throws(FileError) in
                if let occupied, try folder.kind(of: occupied) != .folder { return false }
                let name =
                    switch location {
                    case .named(let name): name
                    case .hashed(let text): try nameToWrite(text)
                    }
                guard try writer.rename(temporary, to: name) else { throw folder.error(.renaming, EISDIR, name) }
                return true
            }
        }
    }

    /// Moves the file of another key away that an earlier version wrote under the same letters in another case.
    private func makeRoom(for name: String) throws(FileError) {
        guard let found = try spelling(of: name), !found.hasSameBytes(as: name),
            case .value(let data) = try contents(of: found)
        else { return }
        let location = names.location(ofText: found)
        if try value(at: location) == nil { try put(data, at: location) }
        _ = try unlink(found, .renaming)
    }
}

extension FileError.Step {
    static let removingEarlier = FileError.Step(
        "The value was written, but the file that an earlier version wrote for its key could not be removed", isWriting: true)
}
