import CrashScript
import Foundation
import VellumCore
import VellumEngine

/// Carries out commands, one on each line, and answers.
enum ObeyMode {
    static func run(_ arguments: [String]) throws {
        // The other process may not commit its batch within two seconds on a busy machine.
        let archives = try DatabaseFile.$longestWaitForBatches.withValue(600_000) {
            try SharedArchives(in: arguments[2])
        }
        while let line = readLine() {
            do {
                let words = line.split(separator: " ").map(String.init)
                say(try whileBusy { try obey(words, archives) })
            } catch {
                say("wrong \(error)")
            }
        }
        try archives.close()
    }

    private static func obey(_ words: [String], _ archives: SharedArchives) throws -> String {
        if words.count == 2, words[0] == "stop", let point = CrashPoint(rawValue: words[1]) {
            CrashPoint.stop(at: point)
            return "done"
        }
        guard words.count >= 3, let archive = ScriptArchive(rawValue: words[1]) else {
            return "wrong words"
        }
        let version = words.count > 3 ? Int(words[3]) ?? 0 : 0
        switch words[0] {
        case "read": return "\(try archives.find(archive, words[2]) ?? -1)"
        case "put": try archives.put(archive, words[2], version)
        case "expire": try archives.put(archive, words[2], version, expiration: .after(.zero))
        case "together": try archives.put(words[2], version, on: [.safe, .power])
        case "delete": try archives.store(archive).remove(EntryKey(words[2]))
        case "clear": try archives.store(archive).removeAll()
        case "prefix": return "\(try archives.store(archive).removeAll(prefix: EntryKey(words[2])))"
        case "group": return "\(try archives.store(archive).removeAll(group: EntryKey(words[2])))"
        case "crowd":
            // More than the limit of the archive.
            for number in 0..<60 {
                try archives.put(.tight, "crowd \(number)", version, filling: 400)
            }
        default: return "wrong words"
        }
        return "done"
    }
}
