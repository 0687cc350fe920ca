#if Metrics
    import CoreMetrics
    import Synchronization

    /// A backend of swift-metrics in memory: totals of counters, and the durations that were
    /// recorded since they were last taken.
    final class MemoryMetrics: MetricsFactory {
        private let totals = Mutex<[String: Double]>([:])
        private let durations = Mutex<[Int64]>([])

        /// A total by the label and the last dimension, such as `cache.loads failed`.
        func total(_ name: String) -> Double { totals.withLock { $0[name] ?? 0 } }

        func takeDurations() -> [Int64] { durations.withLock { exchange(&$0, with: []) } }

        private func exchange(_ old: inout [Int64], with new: [Int64]) -> [Int64] {
            defer { old = new }
            return old
        }

        private func add(_ amount: Double, to name: String) {
            totals.withLock { $0[name, default: 0] += amount }
        }

        private final class Handler: CounterHandler, MeterHandler, TimerHandler, RecorderHandler {
            let name: String
            let metrics: MemoryMetrics

            init(_ label: String, _ dimensions: [(String, String)], _ metrics: MemoryMetrics) {
                name = ([label] + dimensions.suffix(1).map(\.1)).joined(separator: " ")
                self.metrics = metrics
            }

            func increment(by amount: Int64) { metrics.add(Double(amount), to: name) }
            func recordNanoseconds(_ duration: Int64) {
                metrics.durations.withLock { $0.append(duration) }
            }
            func reset() {}
            func set(_ value: Int64) {}
            func set(_ value: Double) {}
            func increment(by amount: Double) {}
            func decrement(by amount: Double) {}
            func record(_ value: Int64) {}
            func record(_ value: Double) {}
        }

        func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
            Handler(label, dimensions, self)
        }
        func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
            Handler(label, dimensions, self)
        }
        func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
            Handler(label, dimensions, self)
        }
        func makeRecorder(
            label: String,
            dimensions: [(String, String)],
            aggregate: Bool
        ) -> any RecorderHandler {
            Handler(label, dimensions, self)
        }
        func destroyCounter(_ handler: any CounterHandler) {}
        func destroyMeter(_ handler: any MeterHandler) {}
        func destroyTimer(_ handler: any TimerHandler) {}
        func destroyRecorder(_ handler: any RecorderHandler) {}
    }
#endif
