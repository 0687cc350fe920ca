internal import Foundation
internal import VellumCore

/// The readable entries of one archive of a damaged file: forward to a place that cannot be read, over it, back to it from the
/// other side, and on.
final class Salvage {
    private let source: Connection
    private let archive: Int64
    private let checksum: Checksum
    private var state = State.forward
    /// The last entry met on the way forward.
    private var first: Int64 = .min
    /// How many bytes were found for the next answer, and how many it may hold.
    private var bytes = 0
    private static let mostBytes = 4 << 20

    private enum State {
        case forward
        /// Behind what cannot be read: back from here to `first`, then on from `resume`.
        case back(from: Int64, resume: Int64)
        case finished
    }

    typealias Found = (key: EntryKey, entry: Entry)

    init(source: Connection, archive: Int64, checksum: Checksum) {
        self.source = source
        self.archive = archive
        self.checksum = checksum
    }

    /// The next few entries; `nil` when there are no more.
    func next(_ count: Int) -> [Found]? {
        var found: [Found] = []
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

    /// Looks for an entry behind what cannot be read, farther and farther: as many steps as a number has bits.
    private func leap() -> State {
        let start = max(first, 0)
        var step: Int64 = 1
        while step > 0, start <= .max - step {
            do throws(SQLiteError) {
                // The whole of it, so that the way forward meets it, too.
                let statement = try source.prepare(SQL.entriesAfter(archive))
                statement.bind(start + step - 1, at: 1)
                guard try statement.step() else { break }
                let number = statement.int(0)
                // A tree that is out of order may lead anywhere.
                if number >= start + step { return .back(from: number, resume: number - 1) }
            } catch {
                // Still in what cannot be read.
            }
            step = step &* 2
        }
        // All that is left lies between here and the end.
        return first == .max ? .finished : .back(from: .max, resume: .max)
    }

    /// - Returns: Whether the end was reached.
    private func readForward(_ count: Int, _ found: inout [Found]) throws(SQLiteError) -> Bool {
        let statement = try source.prepare(SQL.entriesAfter(archive))
        statement.bind(first, at: 1)
        while found.count < count, bytes < Self.mostBytes {
            guard try statement.step() else { return true }
            let number = statement.int(0)
            guard number > first else { throw SQLiteError(code: SQLiteError.corrupt, message: "Entries are out of order.") }
            first = number
            take(statement, &found)
        }
        return false
    }

    /// - Returns: Whether the place was reached where the way forward ended.
    private func readBack(_ from: inout Int64, _ count: Int, _ found: inout [Found]) throws(SQLiteError) -> Bool {
        let statement = try source.prepare(SQL.entriesBefore(archive))
        statement.bind(from, at: 1)
        while found.count < count, bytes < Self.mostBytes {
            guard try statement.step() else { return true }
            let number = statement.int(0)
            guard number > first, number < from else { return true }
            from = number
            take(statement, &found)
        }
        return false
    }

    private func take(_ row: Statement, _ found: inout [Found]) {
        let (entry, key) = (row.entry, row.entryKey)
        guard checksum.of(entry, key: key) == row.checksum else { return }
        bytes += entry.bytes.count
        found.append((EntryKey(String(decoding: key, as: UTF8.self)), entry))
    }
}
