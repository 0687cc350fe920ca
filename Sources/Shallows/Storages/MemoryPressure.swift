#if canImport(Darwin)
    internal import Dispatch
    internal import VellumCore

    extension LRUStorage {
        /// Evicts the least recently used values whenever the system asks for memory, for as long as the storage exists.
        ///
        /// - Parameter fraction: The part of the values that stays: from 0, none, to 1, all.
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
