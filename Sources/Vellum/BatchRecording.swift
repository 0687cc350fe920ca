public import Foundation
public import VellumCore

/// How far a recording in batches came.
///
/// ```swift
/// let recording = await users.async.record(
///     contentsOf: people, inBatchesOf: 500)
/// print("\(recording.recorded) of \(people.count)")
/// ```
public struct BatchRecording: Sendable {
    /// How many objects were recorded: the first ones, in whole batches.
    public var recorded = 0
    /// Why it ended before the last object; `nil` if it did not. `CancellationError` if the task or
    /// the progress was cancelled.
    public var failure: (any Error)?

    /// Returns how many objects were recorded, if these are all.
    ///
    /// - Throws: ``failure``.
    @discardableResult
    public func get() throws -> Int {
        if let failure { throw failure }
        return recorded
    }
}

extension AsyncArchiveStore {
    /// Records the objects of a collection in batches, each in one transaction.
    ///
    /// ```swift
    /// let progress = Progress(totalUnitCount: 0)
    /// let recording = await users.async.record(
    ///     contentsOf: people, inBatchesOf: 500, progress: progress)
    /// try recording.get()
    /// ```
    ///
    /// Other writers go on between two batches. Encodes a batch in the caller's task and awaits its
    /// turn. Each batch is as durable as ``record(_:expiration:)`` makes an object, and its objects
    /// become the most recently used. Ends between two batches when the task or the progress is
    /// cancelled.
    ///
    /// - Parameters:
    ///   - objects: Encoded batch by batch.
    ///   - size: The number of objects in a batch; at least one.
    ///   - expiration: How long the objects are valid. `nil`: that of the handle.
    ///   - progress: Gets the number of objects as its total, and how many were recorded.
    /// - Returns: How far it came. It never throws, so that no number is lost.
    /// - Complexity: O(m log n) for m objects; the data of one batch is in memory.
    public func record<Objects: Collection>(
        contentsOf objects: Objects,
        inBatchesOf size: Int,
        expiration: Expiration? = nil,
        progress: Progress? = nil
    ) async -> BatchRecording where Objects.Element == Archive {
        progress?.totalUnitCount = Int64(objects.count)
        var recording = BatchRecording()
        var rest = objects[...]
        while !rest.isEmpty {
            let batch = rest.prefix(Swift.max(1, size))
            guard await record(Array(batch), expiration, progress, &recording) else { break }
            rest = rest[batch.endIndex...]
        }
        return recording
    }

    /// Records the objects of an asynchronous sequence in batches, each in one transaction.
    ///
    /// The next batch is read when the last one is recorded. The total of the progress is the
    /// caller's to set. An error of the sequence ends the recording: what was read before it is
    /// recorded. Everything else is as for a collection.
    public func record<Objects: AsyncSequence>(
        contentsOf objects: Objects,
        inBatchesOf size: Int,
        expiration: Expiration? = nil,
        progress: Progress? = nil
    ) async -> BatchRecording where Objects.Element == Archive {
        var recording = BatchRecording()
        var batch = [Archive]()
        var failure = (any Error)?.none
        do {
            for try await object in objects {
                batch.append(object)
                guard batch.count >= size else { continue }
                guard await record(batch, expiration, progress, &recording) else {
                    return recording
                }
                batch = []
            }
        } catch {
            failure = error
        }
        if !batch.isEmpty {
            guard await record(batch, expiration, progress, &recording) else { return recording }
        }
        // Some sequences just end when their task is cancelled.
        recording.failure = failure ?? (Task.isCancelled ? CancellationError() : nil)
        return recording
    }

    /// - Returns: Whether the batch was recorded.
    private func record(
        _ batch: [Archive],
        _ expiration: Expiration?,
        _ progress: Progress?,
        _ recording: inout BatchRecording
    ) async -> Bool {
        do {
            guard progress?.isCancelled != true else { throw CancellationError() }
            try await record(contentsOf: batch, expiration: expiration)
            recording.recorded += batch.count
            progress?.completedUnitCount += Int64(batch.count)
            return true
        } catch {
            recording.failure = error
            return false
        }
    }
}
