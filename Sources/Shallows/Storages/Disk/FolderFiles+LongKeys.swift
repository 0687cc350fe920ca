internal import Foundation
internal import VellumCore

/// Keys that are too long for a name. Those of one digest have numbered files, without a gap: the first that is not there ends them.
///
/// Only who moves files of the same digest needs the lock, and who reads beyond the first.
extension FolderFiles {
    /// The value of the key; `nil` if there is none.
    func readLong(_ text: String) throws(FileFailure) -> Data? {
        let digits = digest.digits(of: text)
        var number = 0
        func next() throws(FileFailure) -> (isLast: Bool, value: Data?) {
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
        // Another key's. Nearly never, so that one may wait for the other.
        return try shared.placing.withLock { (_) throws(FileFailure) -> Data? in
            while true {
                number += 1
                let answer = try next()
                if answer.isLast { return answer.value }
            }
        }
    }

    /// The name of the file to write: the key's own, or one that is free. For who holds the lock.
    func nameToWrite(_ text: String) throws(FileFailure) -> String {
        let digits = digest.digits(of: text)
        let found = try find(text, digits)
        return LongKeyFile.name(digest: digits, number: found.own ?? found.damaged ?? found.end)
    }

    /// Removes the key's file; the last one of its digest takes its place, so that there is no gap.
    func removeLong(_ text: String, _ step: FileFailure.Step) throws(FileFailure) -> Bool {
        try shared.placing.withLock { (_) throws(FileFailure) -> Bool in
            let digits = digest.digits(of: text)
            let found = try find(text, digits, toEnd: true)
            guard let own = found.own else { return false }
            let name = LongKeyFile.name(digest: digits, number: own)
            guard own < found.end - 1 else { return try unlink(name, step) }
            _ = try writer.rename(LongKeyFile.name(digest: digits, number: found.end - 1), to: name, in: folder)
            return true
        }
    }

    /// Which of the files of this digest is the key's, which is the first that is damaged, and the first number that has no file.
    private func find(
        _ text: String, _ digits: String, toEnd: Bool = false
    ) throws(FileFailure) -> (own: Int?, damaged: Int?, end: Int) {
        var own: Int?
        var damaged: Int?
        var number = 0
        while true {
            switch try look(LongKeyFile.name(digest: digits, number: number)) {
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

    /// Whose file it is. One that cannot be read is as good as damaged: nobody's, until a set replaces it.
    func look(_ name: String) throws(FileFailure) -> LongKeyFile.Found {
        do throws(FileFailure) {
            return try folder.withPath(of: name.utf8) { (path) throws(FileFailure) in try reader.longKey(at: path) }
        } catch {
            // If it cannot even be looked at, that says something of the folder or the disk: each next number would be as this one.
            guard error.isOfOneFile, try kind(of: name) != nil else { throw error }
            return .damaged
        }
    }
}
