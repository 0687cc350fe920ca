internal import Foundation
internal import VellumCore

/// Reads the entries of one archive of a damaged file: forward to a part that cannot be read, past
/// it, back to it from the other side, and on from there.
final class Salvage {
    private let source: Connection
    private let archive: Int64
    private let checksum: Checksum
    /// Entries that were removed, and whose rows are still there.
    private let removed: Set<Int64>
    private var state = State.forward
    /// The keys of the entries that were read and do not match their checksums.
    private(set) var damaged: [EntryKey] = []
    /// Whether a part could not be read.
    private(set) var hasGaps = false
    /// The last entry that was read forward.
    private var first: Int64
    /// How many bytes the current batch has.
    private var bytes = 0
    /// How many bytes a batch may have.
    private static let mostBytes = 4 << 20

    private enum State {
        case forward
        /// Past the unreadable part: backward from `from` to `first`, then forward from `resume`.
        case back(from: Int64, resume: Int64)
        case finished
    }

    /// - Parameter cleared: The number of the entry after which those come that were there since
    ///   the archive was emptied.
    init(source: Connection, archive: Int64, checksum: Checksum, cleared: Int64) {
        first = EntryID.zero(of: archive) + cleared
        self.source = source
        self.archive = archive
        self.checksum = checksum
        removed = RemovedTable.all(on: source)
    }

    /// The next entries, about `count`; `nil` when there are no more.
    func next(_ count: Int) -> [StoredEntry]? {
        var found: [StoredEntry] = []
        bytes = 0
        while found.count < count, bytes < Self.mostBytes {
            switch state {
            case .finished: return found.isEmpty ? nil : found
            case .forward:
                do throws(SQLiteError) {
                    if try readForward(count, &found) { state = .finished }
                } catch {
                    state = leap()
                }
            case .back(let from, let resume):
                var from = from
                do throws(SQLiteError) {
                    let isAtEnd = try readBack(&from, count, &found)
                    state = isAtEnd ? .forward : .back(from: from, resume: resume)
                } catch {
                    state = .forward
                }
                if case .forward = state { first = resume }
            }
        }
        return found
    }

    /// Looks for an entry past the unreadable part, in steps that double: at most as many steps as
    /// an entry's id has bits.
    private func leap() -> State {
        hasGaps = true
        let start = first
        var step: Int64 = 1
        while step > 0, start <= .max - step {
            do throws(SQLiteError) {
                // The whole entry, so that reading forward meets it, too.
                let statement = try source.prepare(EntryTable.after(archive), start + step - 1)
                guard try statement.step() else { break }
                let id = EntryRow(statement).id
                // A B-tree that is out of order may lead anywhere.
                if id >= start + step { return .back(from: id, resume: id - 1) }
            } catch {
                // Still in the unreadable part.
            }
            step = step &* 2
        }
        // All remaining entries are between here and the end.
        return first == .max ? .finished : .back(from: .max, resume: .max)
    }

    /// - Returns: Whether the end was reached.
    private func readForward(_ count: Int, _ found: inout [StoredEntry]) throws(SQLiteError) -> Bool
    {
        let statement = try source.prepare(EntryTable.after(archive), first)
        while found.count < count, bytes < Self.mostBytes {
            guard try statement.step() else { return true }
            let id = EntryRow(statement).id
            guard id > first else { throw .corrupt("Entries are out of order.") }
            first = id
            append(EntryRow(statement), to: &found)
        }
        return false
    }

    /// - Returns: Whether it reached the entry at which reading forward ended.
    private func readBack(
        _ from: inout Int64,
        _ count: Int,
        _ found: inout [StoredEntry]
    ) throws(SQLiteError) -> Bool {
        let statement = try source.prepare(EntryTable.before(archive), from)
        while found.count < count, bytes < Self.mostBytes {
            guard try statement.step() else { return true }
            let id = EntryRow(statement).id
            guard id > first, id < from else { return true }
            from = id
            append(EntryRow(statement), to: &found)
        }
        return false
    }

    private func append(_ row: EntryRow, to found: inout [StoredEntry]) {
        guard !removed.contains(row.id) else { return }
        let stored = row.stored(checksum)
        guard stored.isIntact else { return damaged.append(stored.key) }
        bytes += stored.entry.size
        found.append(stored)
    }
}

/// The groups of the entries of a damaged file. Where they cannot be read, an entry may have had
/// any: it is left out, because nobody could remove it with its group any more.
struct SalvagedMembers {
    private var groups: [Int64: [(name: EntryKey, revision: UInt32)]] = [:]
    private var isWhole = true

    init(of source: Connection) throws(SQLiteError) {
        do throws(SQLiteError) {
            guard try source.int(MemberTable.isThere) ?? 0 > 0 else {
                isWhole = try !Self.wereThere(in: source)
                return
            }
            let rows = try source.prepare(MemberTable.all)
            while try rows.step() {
                let row = MemberRow(rows)
                guard let name = row.name, name.utf8.count <= EntryKey.longestGroup else {
                    continue
                }
                groups[row.entryID, default: []].append((EntryKey(name), row.revision))
            }
        } catch {
            guard error.isDamage else { throw error }
            Log.error(
                """
                The groups of entries cannot be read. Entries of which they are not known are left \
                out.
                """,
                error
            )
            isWhole = false
        }
    }

    /// Whether the file says that it has groups. A damaged word says nothing.
    private static func wereThere(in source: Connection) throws(SQLiteError) -> Bool {
        do throws(SQLiteError) {
            return try Features(of: source).hasGroups
        } catch {
            guard error.isDamage else { throw error }
            return false
        }
    }

    /// - Returns: `nil` if the groups of the entry are not known.
    func groups(of entry: Entry) -> [EntryKey]? {
        guard let found = groups[entry.id] else { return isWhole ? [] : nil }
        return found.filter { $0.revision == entry.revision }.map(\.name)
    }
}
