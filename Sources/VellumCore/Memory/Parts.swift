internal import Foundation
public import Synchronization

/// A part of a memory cache: the entries whose hashes lead to it.
@usableFromInline
package protocol CachePart: Sendable {
    var usage: StorageUsage { get }

    /// Returns the last use of the least recently used entry; `nil` if there is none.
    mutating func oldestUse() -> UseStamp?
}

/// The parts of a memory cache, each with a lock, so that threads on different cores seldom wait for each other.
///
/// Together they are one cache: ``evict(while:_:)`` finds the least recently used entry of all parts.
///
/// - Complexity: O(1) unless stated otherwise.
///
/// Unchecked because each part is protected by its lock, and the hits are protected by being atomic. The pointers never change.
@usableFromInline
package struct Parts<Part: CachePart>: ~Copyable, @unchecked Sendable {
    @usableFromInline let parts: UnsafeMutablePointer<Locked<Part>>
    @usableFromInline package let count: Int
    @usableFromInline package let clock = UseClock()
    @usableFromInline let entries = Atomic(0)
    @usableFromInline let bytes = Atomic(0)
    /// For each part, a stamp that is not later than the last use of any of its entries.
    @usableFromInline let bounds: Locked<[UseStamp]>
    /// The hits of each part, in a cache line of its own.
    @usableFromInline let hits: UnsafeMutablePointer<Atomic<Int>>
    @usableFromInline static var hitsStride: Int { 8 }

    @usableFromInline package static var usualCount: Int { PartCount.usual }

    @inlinable
    package init(count: Int = Self.usualCount, _ make: () -> Part) {
        self.count = count
        parts = .allocate(capacity: count)
        for index in 0..<count { (parts + index).initialize(to: Locked(make())) }
        bounds = Locked(Array(repeating: .never, count: count))
        hits = .allocate(capacity: count * Self.hitsStride)
        for index in 0..<count * Self.hitsStride { (hits + index).initialize(to: Atomic(0)) }
    }

    deinit {
        parts.deinitialize(count: count)
        parts.deallocate()
        hits.deinitialize(count: count * Self.hitsStride)
        hits.deallocate()
    }

    // MARK: One part

    /// The part of a key with that hash.
    @inlinable
    package func index(ofHash hash: UInt64) -> Int { Int(truncatingIfNeeded: hash >> 32) & (count - 1) }

    /// Runs `body` with a part that no other thread uses. `body` may neither insert nor remove entries.
    @inlinable
    package func withLock<Result: Sendable>(_ index: Int, _ body: (inout Part) -> Result) -> Result {
        parts[index].withLock { part in body(&part) }
    }

    /// Runs `body` with a part that no other thread uses, and counts what it inserts and removes.
    @inlinable
    package func update<Result: Sendable>(_ index: Int, _ body: (inout Part) -> Result) -> Result {
        parts[index].withLock { part in update(&part, body) }
    }

    @inlinable
    func update<Result>(_ part: inout Part, _ body: (inout Part) -> Result) -> Result {
        let before = part.usage
        let result = body(&part)
        let after = part.usage
        if after.entries != before.entries { entries.wrappingAdd(after.entries &- before.entries, ordering: .relaxed) }
        if after.bytes != before.bytes { bytes.wrappingAdd(after.bytes &- before.bytes, ordering: .relaxed) }
        return result
    }

    /// Counts a hit. Called inside the lock of the part.
    @inlinable
    package func countHit(_ index: Int) {
        let hits = hits + index * Self.hitsStride
        // Nobody else writes it.
        hits.pointee.store(hits.pointee.load(ordering: .relaxed) &+ 1, ordering: .relaxed)
    }

    // MARK: All parts

    /// The number of hits. Takes no lock.
    package var hitCount: Int { (0..<count).reduce(0) { $0 &+ hits[$1 * Self.hitsStride].load(ordering: .relaxed) } }

    @inlinable
    package var usage: StorageUsage { StorageUsage(entries: entries.load(ordering: .relaxed), bytes: bytes.load(ordering: .relaxed)) }

    /// Runs `body` with each part, as all of them are at one moment.
    @inlinable
    package func updateAll(_ body: (inout Part) -> Void) { updateAll(from: 0, body) }

    // Each part stays locked until it was visited, and all are locked when the first one is.
    @inlinable
    func updateAll(from index: Int, _ body: (inout Part) -> Void) {
        guard index < count else { return }
        parts[index].withLock { part in
            updateAll(from: index + 1, body)
            update(&part, body)
        }
    }

    /// Removes least recently used entries.
    ///
    /// - Parameters:
    ///   - isOver: Whether there are still too many. Called outside the locks of the parts.
    ///   - evict: Removes the least recently used entry of a part.
    /// - Complexity: O(parts) for each entry, plus what ``CachePart/oldestUse()`` takes.
    @inlinable
    package func evict(while isOver: () -> Bool, _ evict: (inout Part) -> Void) {
        guard isOver() else { return }
        bounds.withLock { bounds in
            // Anything inserted into an empty part later has a newer stamp.
            let start = clock.latest
            while isOver() {
                let (first, others) = Self.oldest(bounds)
                guard bounds[first] < .last else { break }
                bounds[first] = update(first) { part in
                    guard let oldest = part.oldestUse() else { return .last }
                    // Another part may have an older one.
                    guard oldest <= others else { return oldest }
                    evict(&part)
                    return part.oldestUse() ?? .last
                }
            }
            for index in bounds.indices where bounds[index] == .last { bounds[index] = start }
        }
    }

    /// Returns the index of the earliest stamp, and the earliest of the others.
    @inlinable
    static func oldest(_ bounds: [UseStamp]) -> (first: Int, others: UseStamp) {
        var (first, others) = (0, UseStamp.last)
        for index in 1..<max(1, bounds.count) {
            if bounds[index] < bounds[first] {
                (first, others) = (index, bounds[first])
            } else if bounds[index] < others {
                others = bounds[index]
            }
        }
        return (first, others)
    }
}

/// The number of locks among which threads are distributed.
enum PartCount {
    /// Four for each core, because two threads then seldom want the same one: a power of two.
    static let usual: Int = {
        var count = 1
        while count < min(32, 4 * ProcessInfo.processInfo.activeProcessorCount) { count *= 2 }
        return count
    }()
}
