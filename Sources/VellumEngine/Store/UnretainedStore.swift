public import VellumCore

/// A reference to a store that is not counted, for the way of a hit: a store is held weakly by its file, and counting references
/// to such an object takes a slow path that costs as much as the rest of a hit. Whoever has one must hold the store, too.
///
/// Unchecked because the store is protected by its own locks; the reference is never changed.
@usableFromInline
package struct UnretainedStore<Value>: @unchecked Sendable {
    @usableFromInline let reference: Unmanaged<Store<Value>>

    @inlinable
    package init(_ store: Store<Value>) { reference = .passUnretained(store) }

    /// What ``Store/find(_:under:)`` finds.
    @inlinable
    package func value(forKey key: EntryKey, under expiration: Expiration = .never) throws(VellumError) -> Value? {
        try reference._withUnsafeGuaranteedRef { store in
            Result { () throws(VellumError) in try store.value(forKey: key, under: expiration) }
        }.get()
    }
}
