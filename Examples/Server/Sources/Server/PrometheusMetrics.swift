import CoreMetrics
import Synchronization

/// A small backend of swift-metrics that writes the text format of
/// Prometheus. Durations are histograms, in seconds.
final class PrometheusMetrics: MetricsFactory {
    private let series = Mutex<[Series]>([])
    static let limits = [0.001, 0.005, 0.025, 0.1, 0.5, 2, 10]

    /// A metric with its labels.
    fileprivate final class Series: CounterHandler,
        FloatingPointCounterHandler, MeterHandler, TimerHandler
    {
        let (name, type, labels): (String, String, [(String, String)])
        let value = Mutex(0.0)
        /// How many durations are at most each limit, then all.
        let counts = Mutex([Int](repeating: 0, count: limits.count + 1))

        init(_ name: String, _ type: String, _ labels: [(String, String)]) {
            self.name =
                name.map { $0.isLetter || $0.isNumber ? String($0) : "_" }
                .joined() + ["counter": "_total", "histogram": "_seconds"][type, default: ""]
            (self.type, self.labels) = (type, labels)
        }

        private func add(_ amount: Double) { value.withLock { $0 += amount } }

        func increment(by amount: Int64) { add(Double(amount)) }
        func increment(by amount: Double) { add(amount) }
        func decrement(by amount: Double) { add(-amount) }
        func set(_ new: Int64) { set(Double(new)) }
        func set(_ new: Double) { value.withLock { $0 = new } }
        func reset() { set(0.0) }

        func recordNanoseconds(_ duration: Int64) {
            let seconds = Double(duration) / 1e9
            counts.withLock { counts in
                for (index, limit) in limits.enumerated() where seconds <= limit {
                    counts[index] += 1
                }
                counts[limits.count] += 1
            }
            add(seconds)
        }

        private func line(
            _ suffix: String,
            _ more: [(String, String)],
            _ value: some CustomStringConvertible
        ) -> String {
            let all = (labels + more).map { name, text in
                // By scalars: a quote with an accent is another character.
                let escapes: [Unicode.Scalar: String] =
                    ["\\": "\\\\", "\"": "\\\"", "\n": "\\n"]
                let escaped = text.unicodeScalars
                    .map { escapes[$0] ?? String($0) }.joined()
                return "\(name.replacing(".", with: "_"))=\"\(escaped)\""
            }
            let braces = all.isEmpty ? "" : "{\(all.joined(separator: ","))}"
            return "\(name)\(suffix)\(braces) \(value)"
        }

        var lines: [String] {
            let value = value.withLock { $0 }
            guard type == "histogram" else { return [line("", [], value)] }
            let counts = counts.withLock { $0 }
            let names = limits.map { "\($0)" } + ["+Inf"]
            return zip(names, counts).map { line("_bucket", [("le", $0)], $1) }
                + [line("_sum", [], value), line("_count", [], counts[limits.count])]
        }
    }

    private func make(
        _ label: String,
        _ type: String,
        _ labels: [(String, String)]
    ) -> Series {
        let new = Series(label, type, labels)
        return series.withLock { series in
            // What is made again goes on: its counters never go back.
            let old = series.first { $0.isSame(as: new) }
            if let old { return old }
            series.append(new)
            return new
        }
    }

    private func end(_ handler: AnyObject) {
        series.withLock { $0.removeAll { $0 === handler } }
    }

    /// The body of `GET /metrics`.
    var text: String {
        let series = series.withLock { $0 }
        return Dictionary(grouping: series, by: \.name).sorted { $0.key < $1.key }
            .flatMap { name, all in
                ["# TYPE \(name) \(all[0].type)"] + all.flatMap(\.lines)
            }.map { $0 + "\n" }.joined()
    }
}

extension PrometheusMetrics.Series {
    func isSame(as other: PrometheusMetrics.Series) -> Bool {
        name == other.name && labels.elementsEqual(other.labels, by: ==)
    }
}

extension PrometheusMetrics {
    typealias Labels = [(String, String)]

    func makeCounter(
        label: String,
        dimensions: Labels
    ) -> any CounterHandler { make(label, "counter", dimensions) }

    func makeFloatingPointCounter(
        label: String,
        dimensions: Labels
    ) -> any FloatingPointCounterHandler { make(label, "counter", dimensions) }

    func makeMeter(
        label: String,
        dimensions: Labels
    ) -> any MeterHandler { make(label, "gauge", dimensions) }

    func makeTimer(
        label: String,
        dimensions: Labels
    ) -> any TimerHandler { make(label, "histogram", dimensions) }

    /// Nothing here records distributions without a unit.
    func makeRecorder(
        label: String,
        dimensions: Labels,
        aggregate: Bool
    ) -> any RecorderHandler { NOOPMetricsHandler.instance }

    func destroyCounter(_ handler: any CounterHandler) { end(handler) }
    func destroyFloatingPointCounter(
        _ handler: any FloatingPointCounterHandler
    ) { end(handler) }
    func destroyMeter(_ handler: any MeterHandler) { end(handler) }
    func destroyTimer(_ handler: any TimerHandler) { end(handler) }
    func destroyRecorder(_ handler: any RecorderHandler) {}
}
