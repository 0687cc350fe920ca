internal import VellumCore
internal import VellumRemote

#if Metrics
    public import CoreMetrics
    public import Tracing
#endif

/// Spans and durations of loads, and of the commands that shared caches send to their server
/// (decision 81).
///
/// ```swift
/// VellumTracing.enable()
/// ```
///
/// A loader runs in a span `load NAME`, a command in a client span by OpenTelemetry's conventions
/// for databases. The parent is the span of the caller that started it. Durations are the timers
/// `cache.load.duration` and `db.client.operation.duration`. A failure is `error.type`: a code, or
/// the type of the loader's error, never its text. Hits are not observed, and cost nothing.
public enum VellumTracing {
    #if Metrics
        /// Observes the calls of this process that begin from now on.
        ///
        /// - Parameters:
        ///   - tracer: Makes the spans; `nil` for that of `InstrumentationSystem`.
        ///   - factory: Makes the timers; `nil` for that of `MetricsSystem`.
        public static func enable(
            tracer: (any Tracer)? = nil,
            factory: (any MetricsFactory)? = nil
        ) {
            ObservedCall.install(SpanMaker(tracer: tracer, instruments: Instruments(factory)))
        }
    #else
        /// Needs the package trait `Metrics`.
        @available(
            *,
            unavailable,
            message: """
                Metrics need the trait 'Metrics'. In Package.swift, add traits: [\"Metrics\"] to \
                the .package line of Vellum.
                """
        )
        public static func enable() {}
    #endif
}

#if Metrics
    private struct SpanMaker: CallObserver {
        var tracer: (any Tracer)?
        var instruments: Instruments

        func observe<Success: Sendable, Failure: Error>(
            _ call: ObservedCall,
            _ body: () async -> Result<Success, Failure>
        ) async -> Result<Success, Failure> {
            var (name, kind, label, dimensions) = Self.description(of: call)
            let begin = ContinuousClock.now
            return await (tracer ?? InstrumentationSystem.tracer).withAnySpan(name, ofKind: kind) {
                span in
                let result = await body()
                let failure =
                    if case .failure(let error) = result {
                        Self.type(of: error)
                    } else { "" }
                if kind == .internal {
                    dimensions["cache.result"] = failure.isEmpty ? "loaded" : "failed"
                } else {
                    dimensions["error.type"] = failure
                }
                let attributes = dimensions.merging(["error.type": failure]) { $1 }.filter {
                    !$0.value.isEmpty
                }
                span.updateAttributes { all in
                    for (key, value) in attributes { all[key] = value }
                }
                span.attributes["server.port"] = attributes["server.port"].flatMap { Int($0) }
                if !failure.isEmpty { span.setStatus(SpanStatus(code: .error)) }
                let metric = Metric(label: label, kind: .timer, dimensions: dimensions)
                instruments.record((ContinuousClock.now - begin).nanoseconds, as: metric)
                return result
            }
        }

        /// A timer has the same dimensions always, empty ones where there are none: some backends
        /// end the process otherwise.
        private static func description(
            of call: ObservedCall
        ) -> (String, SpanKind, timer: String, [String: String]) {
            switch call {
            case .load(let cache):
                return ("load \(cache)", .internal, "cache.load.duration", ["cache.name": cache])
            case .command(let command, let script, let host, let port, let database):
                let dimensions = [
                    "db.system.name": "redis", "db.operation.name": command,
                    "db.stored_procedure.name": script ?? "",
                    "db.namespace": "\(database)", "server.address": host, "server.port": "\(port)",
                ]
                return (
                    script.map { "\(command) \($0)" } ?? command, .client,
                    "db.client.operation.duration", dimensions
                )
            }
        }

        private static func type(of error: any Error) -> String {
            switch error {
            case let error as VellumError: error.code.description
            case let error as RemoteFailure: VellumError(error, cache: "").code.description
            default: String(describing: Swift.type(of: error))
            }
        }
    }
#endif
