internal import Foundation
internal import VellumCore

/// What is to be looked at before a name or a path is taken for a key's.
extension FolderFiles {
    /// Whether a path of an earlier version leads through folders alone. Through a link it would lead to what is somebody else's.
    func leadsInside(_ path: String) throws(FileFailure) -> Bool {
        for slash in path.utf8.indices where path.utf8[slash] == UInt8(ascii: "/") {
            let above = path[..<slash]
            let isFolder = try folder.withPath(of: above.utf8) { (path) throws(FileFailure) -> Bool in
                switch calls.statusAt(path) {
                case .value(let status): return status.kind == .folder
                case .failure(-ENOENT), .failure(-ENOTDIR), .failure(-ENAMETOOLONG): return false
                case .failure(let code): throw FileFailure(step: .opening, code: -code, path: String(cString: path))
                }
            }
            guard isFolder else { return false }
        }
        return true
    }

    /// Whether the folder has something under `name`, and spells it so.
    func hasExactly(_ name: String) throws(FileFailure) -> Bool {
        try spelling(of: name)?.hasSameBytes(as: EntryKey(name).normalized) == true
    }

    /// How the folder spells what it has under `name`, in normal form; `nil` if it has nothing there.
    private func spelling(of name: String) throws(FileFailure) -> String? {
        try folder.withPath(of: name.utf8) { (path) throws(FileFailure) -> String? in
            switch calls.spelling(path) {
            case .value(let bytes):
                // The end of the path that is inside the folder has as many parts as the name.
                let depth = name.utf8.count { $0 == UInt8(ascii: "/") } + 1
                let parts = bytes.split(separator: UInt8(ascii: "/")).suffix(depth)
                return EntryKey(parts.map { String(decoding: $0, as: UTF8.self) }.joined(separator: "/")).normalized
            case .failure(-ENOENT), .failure(-ENOTDIR), .failure(-ENAMETOOLONG): return nil
            case .failure(let code): throw FileFailure(step: .opening, code: -code, path: String(cString: path))
            }
        }
    }

    /// Moves the file of another key away that an earlier version wrote under the same letters in another case.
    func makeRoom(for name: String) throws(FileFailure) {
        guard let found = try spelling(of: name), !found.hasSameBytes(as: name),
            case .value(let data) = try contents(of: found)
        else { return }
        let place = SafeName.place(of: found, names.rule)
        if try value(at: place, isOld: false) == nil { try put(data, at: place) }
        _ = try unlink(found, .replacing)
    }
}
