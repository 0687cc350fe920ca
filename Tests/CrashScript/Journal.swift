internal import Foundation

/// The operations that a process began and finished, in a file beside the store. It is written with
/// `write(2)`, so that a killed process loses no line.
///
/// First the contents of the file when the process begins, then two lines for each operation:
///
///     entry tight k3 17 200 1767225600170 - 1767225600000
///     begin 18 1767225600180 write safe:k5:put:40:-
///     done 18
package final class Journal: Sendable {
    private let descriptor: Int32

    /// Continues the journal at `path`, or creates one.
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

    /// An error that the process itself detected.
    package func complain(_ text: String) { append("wrong \(text.replacing("\n", with: " "))") }
}

extension Model {
    /// The initial lines of a journal.
    package var lines: [String] {
        var lines = [
            "state \(operations) \(now) \(tightLimit) \(catalog) \(cacheVersion) \(typeVersion)"
        ]
        for archive in ScriptArchive.allCases {
            for (key, held) in items(on: archive).sorted(by: { $0.value.place < $1.value.place }) {
                let end = held.expires.map(String.init) ?? "-"
                lines.append(
                    """
                    entry \(archive.rawValue) \(key) \(held.version) \(held.filling) \(end) \
                    \(held.used)
                    """
                )
            }
        }
        return lines
    }

    /// Adds an initial line of a journal.
    ///
    /// - Returns: Whether it was one.
    mutating func take(_ words: [String]) -> Bool {
        switch words.first {
        case "state" where words.count == 7:
            operations = Int(words[1]) ?? 0
            now = Int64(words[2]) ?? 0
            tightLimit = Int(words[3]) ?? 0
            catalog = Int(words[4]) ?? 0
            cacheVersion = Int(words[5]) ?? 0
            typeVersion = Int64(words[6]) ?? 0
            return true
        case "entry" where words.count == 7:
            guard let archive = ScriptArchive(rawValue: words[1]) else { return false }
            put(
                Item(
                    archive: archive,
                    key: words[2],
                    version: Int(words[3]) ?? 0,
                    filling: Int(words[4]) ?? 0
                ),
                expires: Int64(words[5]),
                used: Int64(words[6]) ?? 0
            )
            return true
        default: return false
        }
    }
}

/// The parsed contents of a journal.
package struct JournalEntries: Sendable {
    package var start = Model()
    /// The operations that were begun, and whether they finished; `nil` for an expected failure.
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
                if !start.take(line.split(separator: " ").map(String.init)) {
                    complaints.append("an unreadable line: \(line)")
                }
            }
        }
    }
}
