#if Metrics
    internal import CoreMetrics
    internal import VellumCore

    /// The instruments of a backend. Each is made once: making one takes a lock of the backend, and
    /// some allocate.
    final class Instruments: Sendable {
        private enum Instrument: Sendable {
            case counter(Counter), seconds(FloatingPointCounter), gauge(Meter), timer(Timer)
        }

        private let factory: (any MetricsFactory)?
        private let made = Locked<[Metric: Instrument]>([:])

        init(_ factory: (any MetricsFactory)?) { self.factory = factory }

        /// Records a report. Gauges that it does not have end.
        func record(_ figures: Figures) {
            for (metric, value) in figures.values { record(value, as: metric) }
            let ended = made.withLock { made in
                let ended = made.filter {
                    $0.key.kind == .gauge && figures.values[$0.key] == nil
                }
                for metric in ended.keys { made[metric] = nil }
                return ended.values
            }
            for case .gauge(let meter) in ended {
                meter.set(0)  // A backend may go on with it.
                meter.destroy()
            }
        }

        /// Calls the backend, without a lock.
        func record(_ value: Int64, as metric: Metric) {
            switch made.withLock({ $0[metric] }) ?? make(metric) {
            case .counter(let counter): counter.increment(by: value)
            case .seconds(let counter): counter.increment(by: Double(value) / 1e9)
            case .gauge(let meter): meter.set(value)
            case .timer(let timer): timer.recordNanoseconds(value)
            }
        }

        private func make(_ metric: Metric) -> Instrument {
            let label = metric.label
            let factory = factory ?? MetricsSystem.factory
            let dimensions = metric.dimensions.sorted { $0.key < $1.key }.map {
                ($0.key, $0.value)
            }
            let instrument: Instrument =
                switch metric.kind {
                case .counter:
                    .counter(Counter(label: label, dimensions: dimensions, factory: factory))
                case .seconds:
                    .seconds(
                        FloatingPointCounter(label: label, dimensions: dimensions, factory: factory)
                    )
                case .gauge: .gauge(Meter(label: label, dimensions: dimensions, factory: factory))
                case .timer: .timer(Timer(label: label, dimensions: dimensions, factory: factory))
                }
            made.withLock { $0[metric] = instrument }
            return instrument
        }
    }
#endif
