internal import Foundation

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// What a process was about to do and has done, in a file beside the store: written with `write(2)`, so that a killed process loses
/// nothing of it.
///
/// First what the file holds when the process begins, then two lines for each operation:
///
///     entry tight k3 17 200 1767225600170 - 1767225600000
///     begin 18 1767225600180 write safe:k5:put:40:-
///     done 18
package final class Journal: Sendable {
    private let descriptor: Int32

    /// Goes on with the journal at `path`, or begins one.
    package init(_ path: String) throws {
        descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
    }

    deinit { close(descriptor) }

    package func append(_ line: String) {
        var bytes = Array((line + "\n").utf8)
        let count = write(descriptor, &bytes, bytes.count)
        precondition(count == bytes.count, "The journal cannot be written.")
    }

    package func begin(_ operation: Step, _ model: Model) {
        append("begin \(model.operations) \(model.now) \(operation)")
    }

    package func done(_ number: Int) { append("done \(number)") }

    /// What is wrong, seen by the process itself.
    package func complain(_ text: String) { append("wrong \(text.replacing("\n", with: " "))") }
}

extension Model {
    /// The lines with which a journal begins.
    package var lines: [String] {
        var lines = [
            "state \(operations) \(now) \(tightLimit) \(catalog) \(version.rawValue) \(versionsSeen[.versionOne] ?? 0) \(versionsSeen[.versionTwo] ?? 0)"
        ]
        for shelf in State.allCases {
            for (key, held) in items(on: shelf).sorted(by: { $0.value.place < $1.value.place }) {
                let end = held.expires.map(String.init) ?? "-"
                lines.append("entry \(shelf.rawValue) \(key) \(held.version) \(held.filling) \(end) \(held.used)")
            }
        }
        return lines
    }

    /// Takes in a line of the beginning of a journal.
    ///
    /// - Returns: Whether it was one.
    mutating func take(_ words: [String]) -> Bool {
        switch words.first {
        case "state" where words.count == 8:
            operations = Int(words[1]) ?? 0
            now = Int64(words[2]) ?? 0
            tightLimit = Int(words[3]) ?? 0
            catalog = Int(words[4]) ?? 0
            version = State(rawValue: words[5]) ?? .versionOne
            for (shelf, word) in zip([State.versionOne, .versionTwo], words[6...]) where word != "0" { versionsSeen[shelf] = Int64(word) }
            return true
        case "entry" where words.count == 7:
            guard let shelf = State(rawValue: words[1]) else { return false }
            put(
                Item(shelf: shelf, key: words[2], version: Int(words[3]) ?? 0, filling: Int(words[4]) ?? 0), expires: Int64(words[5]),
                used: Int64(words[6]) ?? 0)
            return true
        default: return false
        }
    }
}

/// A journal, read.
package struct JournalEntries: Sendable {
    package var start = Model()
    /// What was begun, and whether it was done; `nil` where it failed as it should.
    package var operations: [(number: Int, now: Int64, operation: Step, isDone: Bool)] = []
    package var complaints: [String] = []

    package init(path: String) throws {
        let text = String(decoding: try Data(contentsOf: URL(fileURLWithPath: path)), as: UTF8.self)
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ", maxSplits: 3).map(String.init)
            switch words.first {
            case "begin" where words.count == 4:
                guard let operation = Step(words[3]) else {
                    complaints.append("an unreadable line: \(line)")
                    continue
                }
                operations.append((Int(words[1]) ?? 0, Int64(words[2]) ?? 0, operation, false))
            case "done":
                if operations.last?.number == Int(words[1]) {
                    operations[operations.count - 1].isDone = true
                } else {
                    complaints.append("an operation that was done and never begun: \(line)")
                }
            case "wrong": complaints.append(String(line))
            default:
                if !start.take(line.split(separator: " ").map(String.init)) { complaints.append("an unreadable line: \(line)") }
            }
        }
    }
}
