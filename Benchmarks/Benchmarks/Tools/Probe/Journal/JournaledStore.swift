import Foundation
import Samples
import Vellum

/// A prototype: a journal in front of a store (`speed.md`, 4). It measures what one could gain, and proves nothing: nothing is recovered, and the
/// number of the last applied frame is not stored.
///
/// A record appends a frame to a preallocated segment and is acknowledged. A thread applies frames to the store, 256 or two milliseconds of
/// them in a transaction. A segment is used again once the store has synced what was in it.
final class JournaledStore: @unchecked Sendable {
    /// An encoded object.
    struct Record: Archivable, Codable, Sendable {
        static var archiveName: String { "record" }
        var key: String
        var bytes: Data
        var primaryKey: String { key }

        func archive() throws -> Data { bytes }
        static func deArchive(fromData data: Data) throws -> any Archivable { Record(key: "", bytes: data) }
    }

    private struct Segment {
        let file: Int32
        var length = 0
        /// The number of the last frame in it.
        var last = 0
    }

    private static let segmentSize = 1 << 20
    private let store: ArchiveStore<Record>
    // Guarded by `condition`.
    private let condition = NSCondition()
    private var segments: [Segment] = []
    private var current = 0
    private var next = 0
    private var queue: [(number: Int, record: Record)] = []
    private var first = 0
    private var pending: [String: (number: Int, record: Record)] = [:]
    private var applied = 0
    private var isOver = false
    private var failure: (any Error)?

    init(_ store: ArchiveStore<Record>, in folder: URL) throws {
        self.store = store
        for number in 0..<2 {
            let file = open(folder.appendingPathComponent("journal \(number)").path, O_RDWR | O_CREAT, 0o600)
            guard file >= 0, posix_fallocate(file, 0, off_t(Self.segmentSize)) == 0 else { throw CocoaError(.fileWriteUnknown) }
            segments.append(Segment(file: file))
        }
        Thread { self.drain() }.start()
    }

    // MARK: Callers

    func record(_ record: Record) throws {
        let (key, bytes) = (Data(record.key.utf8), record.bytes)
        condition.lock()
        defer { condition.unlock() }
        let size = 24 + key.count + bytes.count
        try makeRoom(for: size)
        next += 1
        var frame = Data(capacity: size)
        for number in [UInt64(size), UInt64(next), UInt64(key.count)] { withUnsafeBytes(of: number) { frame.append(contentsOf: $0) } }
        frame.append(key)
        frame.append(bytes)
        let checksum = CRC.of(frame)
        withUnsafeBytes(of: checksum) { frame.replaceSubrange(4..<8, with: $0) }
        let written = frame.withUnsafeBytes { pwrite(segments[current].file, $0.baseAddress, $0.count, off_t(segments[current].length)) }
        guard written == size else { throw CocoaError(.fileWriteOutOfSpace) }
        segments[current].length += size
        segments[current].last = next
        if first == queue.count { condition.broadcast() }
        queue.append((next, record))
        pending[record.key] = (next, record)
    }

    func value(_ key: String) throws -> Record? {
        condition.lock()
        let waiting = pending[key]?.record
        condition.unlock()
        return try waiting ?? store.access(archiveWithKey: key)
    }

    /// Waits until everything is in the store.
    func wait() throws {
        condition.lock()
        defer { condition.unlock() }
        while applied < next, failure == nil { condition.wait() }
        if let failure { throw failure }
    }

    func close() throws {
        try wait()
        condition.lock()
        isOver = true
        condition.broadcast()
        condition.unlock()
        for segment in segments { Foundation.close(segment.file) }
    }

    /// Goes on in the other segment when this one is full, and waits until the store has synced what is in it.
    private func makeRoom(for size: Int) throws {
        guard segments[current].length + size > Self.segmentSize else { return }
        let other = 1 - current
        while segments[other].length > 0, failure == nil { condition.wait() }
        if let failure { throw failure }
        current = other
    }

    // MARK: The thread that applies frames

    private func drain() {
        while true {
            condition.lock()
            while first == queue.count, !isOver { condition.wait() }
            if isOver { return condition.unlock() }
            let batch = queue[first..<min(first + 256, queue.count)]
            first += batch.count
            condition.unlock()
            let result = Result { try store.record(contentsOf: batch.map(\.record)) }
            finish(Array(batch), result)
        }
    }

    private func finish(_ batch: [(number: Int, record: Record)], _ result: Result<Void, any Error>) {
        condition.lock()
        for (number, record) in batch where pending[record.key]?.number == number { pending[record.key] = nil }
        applied = batch.last?.number ?? applied
        if first > 4096 {
            queue.removeFirst(first)
            first = 0
        }
        let old = 1 - current
        let isOldApplied = segments[old].length > 0 && segments[old].last <= applied
        condition.unlock()
        let outcome = isOldApplied ? result.flatMap { Result { try store.flush() } } : result
        condition.lock()
        if isOldApplied { segments[old].length = 0 }
        if case .failure(let error) = outcome { failure = error }
        condition.broadcast()
        condition.unlock()
    }
}

/// CRC-32C by a table.
private enum CRC {
    private static let table: [UInt32] = (0..<256).map { byte in
        (0..<8).reduce(UInt32(byte)) { crc, _ in crc & 1 == 1 ? crc >> 1 ^ 0x82F6_3B78 : crc >> 1 }
    }

    static func of(_ bytes: Data) -> UInt32 {
        table.withUnsafeBufferPointer { table in
            bytes.withUnsafeBytes { bytes in ~bytes.reduce(~0) { table[Int(UInt8(truncatingIfNeeded: $0) ^ $1)] ^ $0 >> 8 } }
        }
    }
}
