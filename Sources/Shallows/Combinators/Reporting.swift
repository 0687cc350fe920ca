extension ErasableStorage {
    /// Returns a storage that reports what no error says: layers that failed and were passed over, fills that failed, and failed sets
    /// without a completion.
    ///
    /// ```swift
    /// let storage = memory.combined(with: disk).reporting { report in metrics.count(report.event) }
    /// ```
    ///
    /// Transforms and compositions of the storage keep the reporter.
    ///
    /// - Parameter report: Called on any thread, before the call that is reported ends. Reports are logged as well.
    @preconcurrency
    public func reporting(_ report: @escaping @Sendable (StorageReport) -> Void) -> AnyStorage<Access, ErasedKey, ErasedValue> {
        erased().transforming { operations in
            operations.with(
                retrieve: { key, call in operations.retrieve(key, call.reporting(report)) },
                set: { value, key, call in operations.set(value, key, call.reporting(report)) },
                remove: { key, call in operations.remove(key, call.reporting(report)) },
                removeAll: { call in operations.removeAll(call.reporting(report)) },
                fireAndForget: operations.fireAndForget.reporting(report))
        }
    }
}
