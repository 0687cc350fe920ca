/// A step of a script.
package enum Step: Hashable, Sendable {
    /// Changes that are applied together or not at all.
    case write([Change])
    /// The same while no file can grow: the step fails and changes nothing.
    case starved([Change])
    /// Moves an item from one archive to another, in a transaction that reads it; nothing if there
    /// is none.
    case move(ScriptArchive, ScriptArchive, String)
    /// Makes an item of what is there.
    case update(ScriptArchive, String)
    case read(ScriptArchive, String)
    /// Queries the safe archive by group and by tag.
    case query(Int)
    case flush
    /// Changes the limit of the tight archive.
    case limit(Int)
    /// Removes entries of the tight archive that were unused for so many milliseconds.
    case forget(Int)
    /// Declares another index of the safe archive.
    case index(Int)
    /// Raises the version of the type of the safe archive.
    case raise
    /// Runs background work that is due.
    case settle
    /// Removes expired entries.
    case sweep
    case reopen
    /// Opens the cache with another version.
    case replace
    /// Closes, drops and opens the cache.
    case drop
    /// Advances the clock by days.
    case wait(days: Int)

    /// One change of one key.
    package struct Change: Hashable, Sendable {
        package enum Kind: Hashable, Sendable {
            /// Records an item with a filling of this length, which expires after so many
            /// milliseconds.
            case put(filling: Int, age: Int?)
            case delete
            case clear
            /// Removes the items of the group that the key names (``Item/groupName``).
            case dissolve
        }

        package var archive: ScriptArchive
        package var key: String
        package var kind: Kind

        package init(_ archive: ScriptArchive, _ key: String, _ kind: Kind) {
            (self.archive, self.key, self.kind) = (archive, key, kind)
        }
    }
}

extension Step: LosslessStringConvertible {
    package var description: String {
        switch self {
        case .write(let changes): "write " + changes.map(\.description).joined(separator: ";")
        case .starved(let changes): "starved " + changes.map(\.description).joined(separator: ";")
        case .move(let from, let to, let key): "move \(from.rawValue):\(to.rawValue):\(key)"
        case .update(let archive, let key): "update \(archive.rawValue):\(key)"
        case .read(let archive, let key): "read \(archive.rawValue):\(key)"
        case .query(let number): "query \(number)"
        case .flush: "flush"
        case .limit(let bytes): "limit \(bytes)"
        case .forget(let milliseconds): "forget \(milliseconds)"
        case .index(let number): "index \(number)"
        case .raise: "raise"
        case .settle: "settle"
        case .sweep: "sweep"
        case .reopen: "reopen"
        case .replace: "replace"
        case .drop: "drop"
        case .wait(let days): "wait \(days)"
        }
    }

    package init?(_ description: String) {
        let words = description.split(separator: " ", maxSplits: 1).map(String.init)
        let rest = words.count > 1 ? words[1] : ""
        switch words.first {
        case "write", "starved":
            let parts = rest.split(separator: ";")
            let changes = parts.compactMap { Change(String($0)) }
            guard changes.count == parts.count else { return nil }
            self = words.first == "write" ? .write(changes) : .starved(changes)
        case "move":
            let parts = rest.split(separator: ":").map(String.init)
            guard parts.count == 3, let from = ScriptArchive(rawValue: parts[0]),
                let to = ScriptArchive(rawValue: parts[1])
            else {
                return nil
            }
            self = .move(from, to, parts[2])
        case "read", "update":
            let parts = rest.split(separator: ":").map(String.init)
            guard parts.count == 2, let archive = ScriptArchive(rawValue: parts[0]) else {
                return nil
            }
            self = words.first == "read" ? .read(archive, parts[1]) : .update(archive, parts[1])
        case "query": self = .query(Int(rest) ?? 0)
        case "flush": self = .flush
        case "limit": self = .limit(Int(rest) ?? 0)
        case "forget": self = .forget(Int(rest) ?? 0)
        case "index": self = .index(Int(rest) ?? 0)
        case "raise": self = .raise
        case "settle": self = .settle
        case "sweep": self = .sweep
        case "reopen": self = .reopen
        case "replace": self = .replace
        case "drop": self = .drop
        case "wait": self = .wait(days: Int(rest) ?? 0)
        default: return nil
        }
    }
}

extension Step.Change: LosslessStringConvertible {
    package var description: String {
        switch kind {
        case .put(let filling, let age):
            "\(archive.rawValue):\(key):put:\(filling):\(age.map(String.init) ?? "-")"
        case .delete: "\(archive.rawValue):\(key):delete"
        case .clear: "\(archive.rawValue):\(key):clear"
        case .dissolve: "\(archive.rawValue):\(key):dissolve"
        }
    }

    package init?(_ description: String) {
        let parts = description.split(separator: ":", omittingEmptySubsequences: false).map(
            String.init
        )
        guard parts.count >= 3, let archive = ScriptArchive(rawValue: parts[0]) else { return nil }
        switch parts[2] {
        case "put" where parts.count == 5:
            self.init(archive, parts[1], .put(filling: Int(parts[3]) ?? 0, age: Int(parts[4])))
        case "delete": self.init(archive, parts[1], .delete)
        case "clear": self.init(archive, parts[1], .clear)
        case "dissolve": self.init(archive, parts[1], .dissolve)
        default: return nil
        }
    }
}
