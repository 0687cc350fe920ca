internal import Foundation
internal import VellumCore

/// Keys that are too long for a name. Those that share a digest have numbered files, without a gap: the first missing one is the end.
///
/// Moving files of one digest needs the lock, and so does reading beyond the first of them.
extension FolderFiles {
    /// The value of the key; `nil` if there is none.
    func readLong(_ text: String) throws(FileError) -> Data? {
        let digits = digest.digits(of: text)
        var number = 0
        func next() throws(FileError) -> (isLast: Bool, value: Data?) {
            switch try contents(of: LongKeyFile.name(digest: digits, number: number)) {
            case .missing: return (true, nil)
            case .folder: return (false, nil)
            case .value(let data):
                guard let parts = LongKeyFile.parts(of: data), LongKeyFile.isKey(parts.key, text) else { return (false, nil) }
                return (true, parts.value)
            }
        }
        let first = try next()
        if first.isLast { return first.value }
        // The file belongs to another key, which is rare.
        return try shared.locating.withLock { (_) throws(FileError) -> Data? in
            while true {
                number += 1
                let answer = try next()
                if answer.isLast { return answer.value }
            }
        }
    }

    /// The name of the file to write: the key's own, or a free one. Called with the lock held.
    func nameToWrite(_ text: String) throws(FileError) -> String {
        let digits = digest.digits(of: text)
        let found = try find(text, digits)
        return LongKeyFile.name(digest: digits, number: found.own ?? found.damaged ?? found.end)
    }

    /// Removes the key's file; the last one of its digest takes its place, so that there is no gap.
    func removeLong(_ text: String, _ step: FileError.Step) throws(FileError) -> Bool {
        try shared.locating.withLock { (_) throws(FileError) -> Bool in
            let digits = digest.digits(of: text)
            let found = try find(text, digits, toEnd: true)
            guard let own = found.own else { return false }
            let name = LongKeyFile.name(digest: digits, number: own)
            guard own < found.end - 1 else { return try unlink(name, step) }
            _ = try writer.rename(LongKeyFile.name(digest: digits, number: found.end - 1), to: name)
            return true
        }
    }

    /// The numbers of the key's own file among those of the digest, of the first damaged one, and of the first missing one.
    private func find(
        _ text: String, _ digits: String, toEnd: Bool = false
    ) throws(FileError) -> (own: Int?, damaged: Int?, end: Int) {
        var own: Int?
        var damaged: Int?
        var number = 0
        while true {
            switch try owner(of: LongKeyFile.name(digest: digits, number: number)) {
            case .missing: return (own, damaged, number)
            case .damaged: damaged = damaged ?? number
            case .folder: break
            case .key(let key):
                if LongKeyFile.isKey(key, text) { own = number }
                if own != nil, !toEnd { return (own, damaged, number) }
            }
            number += 1
        }
    }

    /// The key of a file. One that cannot be read counts as damaged: a write may replace it.
    func owner(of name: String) throws(FileError) -> LongKeyFile.Owner {
        do throws(FileError) {
            return try reader.longKey(of: name)
        } catch {
            // Where even its status cannot be read, the folder or the disk has failed, and every other number would fail, too.
            guard error.concernsOneFile, try folder.kind(of: name) != nil else { throw error }
            return .damaged
        }
    }
}
