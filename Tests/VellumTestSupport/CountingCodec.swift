package import Foundation
internal import VellumCore
package import VellumEngine

/// A codec that counts its calls, and can be made to fail.
package final class CountingCodec<Value>: Codec {
    /// The calls so far.
    package struct Counts: Hashable, Sendable {
        package var encodes = 0
        package var decodes = 0

        package init(encodes: Int = 0, decodes: Int = 0) {
            self.encodes = encodes
            self.decodes = decodes
        }
    }

    private let base: any Codec<Value>
    private let state = Locked(
        (counts: Counts(), failure: (any Error)?.none, step: (@Sendable () -> Void)?.none)
    )

    /// Retained while the codec is used.
    private let folder: TemporaryDirectory?

    package init(_ base: any Codec<Value>, in folder: TemporaryDirectory? = nil) {
        (self.base, self.folder) = (base, folder)
    }

    package var counts: Counts { state.withLock { $0.counts } }

    package func reset() { state.withLock { $0.counts = Counts() } }

    /// Makes every later call throw the error; `nil` makes the codec work again.
    package func fail(with error: (any Error)?) { state.withLock { $0.failure = error } }

    /// Runs a step of a test before the next decoding.
    package func beforeDecoding(_ step: @escaping @Sendable () -> Void) {
        state.withLock { $0.step = step }
    }

    package func encode(_ value: Value) throws -> Data {
        try note { $0.encodes += 1 }
        return try base.encode(value)
    }

    package func decode(_ bytes: Data) throws -> Value {
        let step = state.withLock { state in
            defer { state.step = nil }
            return state.step
        }
        step?()
        try note { $0.decodes += 1 }
        return try base.decode(bytes)
    }

    private func note(_ count: (inout Counts) -> Void) throws {
        let failure = state.withLock { state in
            count(&state.counts)
            return state.failure
        }
        if let failure { throw failure }
    }
}
