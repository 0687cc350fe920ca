public import VellumCore

/// A reference to a store without reference counting, for memory hits. A file refers to its stores
/// weakly, and counting references to such an object takes a slow path that costs as much as the
/// rest of a hit. The owner of this reference must retain the store, too.
///
/// Unchecked because the store has its own locks, and the reference never changes.
@usableFromInline
package struct UnretainedStore<Value>: @unchecked Sendable {
    @usableFromInline let reference: Unmanaged<Store<Value>>

    @inlinable
    package init(_ store: Store<Value>) { reference = .passUnretained(store) }

    /// Returns the value under the key if memory has it.
    @inlinable
    package func valueInMemory(
        forKey key: EntryKey,
        under expiration: Expiration,
        ahead: RefreshAhead?
    ) throws(VellumError) -> Value? {
        try reading { store throws(VellumError) in
            try store.valueInMemory(forKey: key, under: expiration, ahead: ahead)
        }
    }

    /// Returns the value under the key: ``Store/value(forKey:under:ahead:)``.
    @inlinable
    package func value(
        forKey key: EntryKey,
        under expiration: Expiration = .never,
        ahead: RefreshAhead? = nil
    ) throws(VellumError) -> Value? {
        try reading { store throws(VellumError) in
            try store.value(forKey: key, under: expiration, ahead: ahead)
        }
    }

    /// Runs `body` with the store. Always inlined, so that it is no call of a closure.
    @inlinable
    @inline(__always)
    func reading(
        _ body: (Store<Value>) throws(VellumError) -> Value?
    ) throws(VellumError) -> Value? {
        try reference._withUnsafeGuaranteedRef { store -> Result<Value?, VellumError> in
            do throws(VellumError) {
                return .success(try body(store))
            } catch {
                return .failure(error)
            }
        }.get()
    }
}
