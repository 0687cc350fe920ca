internal import Foundation

extension FolderFiles {
    /// Removes everything in the folder, and the folder. What is there when the call fails can be removed by calling it again.
    ///
    /// What others write meanwhile may be removed, too, or stay, and then the folder stays with it.
    ///
    /// Links in the folder are removed, never what they lead to. If the folder itself is a link, it stays, and leads to an empty one.
    ///
    /// - Complexity: O(number of files).
    func clear() throws(FileFailure) {
        for _ in 0..<10 {
            try removeEverything(in: [])
            try writer.syncFolder(folder, mayBeMissing: true)
            let answer = try removeFolder([])
            switch answer {
            case 0, -ENOENT: return try writer.syncFolder(FolderPath(writer.above(folder.text)), mayBeMissing: true)
            case -ENOTDIR: return
            case -ENOTEMPTY, -EEXIST: break  // Somebody else wrote in between.
            default: throw FileFailure(step: .removing, code: -answer, path: folder.text)
            }
        }
        // Whatever was there when the call was made is removed. What others go on writing stays, and the folder with it.
    }

    /// - Parameter path: Of a folder inside this one; empty for this one.
    private func removeEverything(in path: [UInt8]) throws(FileFailure) {
        for entry in try calls.entries(of: path, in: folder) {
            let inside = path.isEmpty ? entry.name : path + [UInt8(ascii: "/")] + entry.name
            var answer = try folder.withPath(of: inside) { (path) throws(FileFailure) in calls.unlink(path) }
            if answer == -EISDIR {
                try removeEverything(in: inside)
                answer = try removeFolder(inside)
            }
            // A folder that somebody else wrote into is met again by `clear`.
            guard [0, -ENOENT, -ENOTEMPTY, -EEXIST].contains(answer) else {
                throw FileFailure(step: .removing, code: -answer, path: folder.text + "/" + String(decoding: inside, as: UTF8.self))
            }
        }
    }

    private func removeFolder(_ path: [UInt8]) throws(FileFailure) -> Int32 {
        try folder.withPath(of: path) { (path) throws(FileFailure) in calls.removeFolder(path) }
    }
}
