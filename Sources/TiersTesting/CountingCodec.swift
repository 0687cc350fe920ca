public import Foundation
public import Tiers

/// A codec that counts what it is asked for, and fails when told to.
public final class CountingCodec<Value>: Codec {
    /// What was asked for so far.
    public struct Counts: Hashable, Sendable {
        public var encodes = 0
        public var decodes = 0

        public init(encodes: Int = 0, decodes: Int = 0) {
            self.encodes = encodes
            self.decodes = decodes
        }
    }

    private let base: any Codec<Value>
    private let state = Locked((counts: Counts(), failure: (any Error)?.none))

    public init(_ base: any Codec<Value>) {
        self.base = base
    }

    public var counts: Counts { state.withLock { $0.counts } }

    public func reset() { state.withLock { $0.counts = Counts() } }

    /// Makes every later call throw the error; `nil` makes the codec work again.
    public func fail(with error: (any Error)?) { state.withLock { $0.failure = error } }

    public func encode(_ value: Value) throws -> Data {
        try note { $0.encodes += 1 }
        return try base.encode(value)
    }

    public func decode(_ bytes: Data) throws -> Value {
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
