#if canImport(Darwin)
    internal import Dispatch
    internal import VellumCore

    extension LRUStorage {
        /// Evicts the least recently used, down to that part of what is held, whenever the system asks for memory, as long as the
        /// storage lives.
        ///
        /// - Parameter fraction: From 0, which lets go of everything, to 1, which lets go of nothing.
        public func trimsUnderMemoryPressure(toFraction fraction: Double) {
            let source = DispatchSource.makeMemoryPressureSource(eventMask: [.warning, .critical], queue: .global())
            let part = min(max(fraction, 0), 1)
            source.setEventHandler { [weak self] in
                guard let self else { return source.cancel() }
                trim(toCount: Int(Double(totals.entries) * part))
            }
            source.activate()
        }
    }
#endif
