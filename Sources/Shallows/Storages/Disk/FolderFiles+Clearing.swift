internal import Foundation

extension FolderFiles {
    /// Removes everything in the folder, and the folder. What is there when the call fails can be removed by calling it again.
    ///
    /// Links in the folder are removed, never what they lead to. If the folder itself is a link, it stays, and leads to an empty one.
    ///
    /// - Complexity: O(number of files).
    func clear() throws(FileFailure) {
        var triesLeft = 10
        while true {
            try removeEverything(in: [])
            let answer = try removeFolder([])
            switch answer {
            case 0, -ENOENT, -ENOTDIR:
                return
            case -ENOTEMPTY, -EEXIST:
                // Somebody else wrote in between.
                triesLeft -= 1
                guard triesLeft == 0 else { continue }
                fallthrough
            default: throw FileFailure(step: .removing, code: -answer, path: folder.text)
            }
        }
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
