internal import Foundation
internal import MiniCache
internal import VellumCore
internal import VellumRemote

/// Copies of a shared cache in a file of this machine, written behind the callers.
final class LocalCopies: LastGood {
    private struct State {
        /// What is to be written; `nil` for a removal.
        var waiting: [EntryKey: RemoteRecord?] = [:]
        var isWriting = false
    }

    /// More keys do not wait: their copies stay as they are, and removals are never left out.
    private static let mostWaiting = 1024
    private let cache: MiniCache<String, Data>
    let failures = EventHub<VellumError>()
    private let state = Locked(State())

    init(_ cache: MiniCache<String, Data>) { self.cache = cache }

    func keep(_ record: RemoteRecord, forKey key: EntryKey) { write(record, key) }

    func forget(_ key: EntryKey) { write(nil, key) }

    func record(forKey key: EntryKey) async -> RemoteRecord? {
        if let waiting = state.withLock({ $0.waiting[key] }) { return waiting }
        let cache = cache
        do {
            let bytes = try await BlockingPool.run { try cache.value(forKey: key.normalized) }
            return bytes.flatMap { RemoteRecord($0, under: key.normalized) }
        } catch {
            report(error)
            return nil
        }
    }

    private func write(_ record: RemoteRecord?, _ key: EntryKey) {
        let starts = state.withLock { state in
            guard record == nil || state.waiting.count < Self.mostWaiting || state.waiting[key] != nil else { return false }
            state.waiting[key] = .some(record)
            defer { state.isWriting = true }
            return !state.isWriting
        }
        guard starts else { return }
        Task {
            do {
                try await BlockingPool.run { [self] in writeAll() }
            } catch {
                report(error)
            }
        }
    }

    private func writeAll() {
        while let (key, record) = state.withLock({ state in
            state.isWriting = !state.waiting.isEmpty
            return state.waiting.first
        }) {
            do throws(VellumError) {
                if let record {
                    try cache.set(record.encoded(under: key.normalized), forKey: key.normalized)
                } else {
                    try cache.removeValue(forKey: key.normalized)
                }
            } catch {
                report(error)
            }
            // Until it is written, readers find it here. What is newer stays.
            state.withLock { state in
                if let present = state.waiting[key], present == record { state.waiting[key] = nil }
            }
        }
    }

    private func report(_ error: any Error) {
        failures.send(error as? VellumError ?? VellumError(.inputOutput, "A copy could not be read or written.", cause: error))
    }
}
