internal import Synchronization
internal import VellumCore

// The limits of archives: requested when a store is opened, granted, and changed on disk.

extension DatabaseFile {
    /// Raises the limits of an open store where larger ones are requested.
    ///
    /// - Returns: What could not be granted, if `policy` is to share the store anyway; otherwise `nil`.
    /// - Throws: ``VellumError/Code/contradiction`` for what cannot be granted, if `policy` is to refuse.
    func grant<Value>(_ options: StoreOptions<Value>, to store: Store<Value>, _ name: String) throws(VellumError) -> VellumError? {
        let (memory, disk, durability) = (options.memory, options.disk, options.durability)
        // Another process may have raised the limit.
        let isKnown = disk == nil || state == .suspended
        let open = isKnown ? store.capacities : try store.currentCapacities()
        let isMemoryGranted = memory?.isAtLeast(open.memory) ?? true
        let isDiskGranted = disk?.isAtLeast(open.disk) ?? true
        var refused: VellumError?
        if !isMemoryGranted || !isDiskGranted || durability != store.durability {
            let requested = (memory: memory ?? open.memory, disk: disk ?? open.disk)
            refused = .openWithOtherLimits(name, path, open, store.durability, requested: requested, durability)
        }
        if let refused, options.policy == .refuse { throw refused }
        if let memory, isMemoryGranted { store.raise(memory: memory) }
        if let disk, isDiskGranted { try store.raise(disk: disk) }
        _ = stores.giveSizes(to: store, memory: memory != nil && isMemoryGranted, disk: disk != nil && isDiskGranted)
        return refused
    }

    /// Applies the sizes that are the first to be given since the store was opened, and logs one notice if others are ignored.
    func keepFirst<Value>(_ options: StoreOptions<Value>, of store: Store<Value>, _ name: String) throws(VellumError) {
        let (isFirstOfMemory, isFirstOfDisk) = stores.giveSizes(to: store, memory: options.memory != nil, disk: options.disk != nil)
        if isFirstOfMemory, let memory = options.memory { store.resize(memory: memory) }
        if isFirstOfDisk, let disk = options.disk {
            do throws(VellumError) {
                try store.resize(disk: disk)
            } catch {
                stores.takeBackDiskSize(of: store)
                throw error
            }
        }
        let open = store.capacities
        let requested = (memory: options.memory ?? open.memory, disk: options.disk ?? open.disk)
        if store.durability != options.durability {
            let refused = VellumError.openWithOtherLimits(name, path, open, store.durability, requested: requested, options.durability)
            if stores.isFirstNotice(of: name) { Log.notice("\(refused)") }
            store.report(refused)
        } else if requested != open, stores.isFirstNotice(of: name) {
            Log.sizesIgnored(name, open, requested: requested)
        }
    }
}

extension VellumError {
    fileprivate static func openWithOtherLimits(
        _ name: String, _ path: String, _ open: (memory: Capacity, disk: Capacity), _ openDurability: Durability,
        requested: (memory: Capacity, disk: Capacity), _ durability: Durability
    ) -> VellumError {
        guard openDurability == durability else {
            return VellumError(
                .contradiction,
                """
                The archive is open with the durability \(openDurability) and was requested with \(durability). All handles of an open archive \
                share one durability: request \(openDurability), or close the archive first.
                """
            ).located(archive: Log.displayed(name), path: path)
        }
        func list(_ limits: (memory: Capacity, disk: Capacity)) -> String {
            "\(limits.memory) of memory and \(limits.disk) of disk"
        }
        return VellumError(
            .contradiction,
            """
            The archive is open with \(list(open)), and was requested with \(list(requested)). While an archive is open, its limits can only \
            be raised. Request at least the same, or close it first.
            """
        ).located(archive: Log.displayed(name), path: path)
    }
}
