public import Tiers

/// A reference to an engine that is not counted, for the way of a hit: an engine is held weakly by its file, and counting
/// references to such an object is slow. Whoever has one must hold the engine, too.
///
/// Unchecked because the engine is protected by its own locks; the reference is never changed.
@usableFromInline
struct UncountedEngine: @unchecked Sendable {
    @usableFromInline let reference: Unmanaged<TieredStore<CachedValue>>

    init(_ engine: TieredStore<CachedValue>) { reference = .passUnretained(engine) }

    @inlinable
    func find(_ key: EntryKey, under expiration: Expiration) throws(StoreError) -> CachedValue? {
        try reference._withUnsafeGuaranteedRef { engine in
            Result { () throws(StoreError) in try engine.find(key, under: expiration) }
        }.get()
    }
}
