import CoreMetrics
import Foundation
import Hummingbird
import Logging
import MiniCache
import ServiceLifecycle
import Vellum
import VellumMetrics

/// `Server FOLDER PORT`: items of an archive over HTTP, and a cache of a slow source.
@main
struct Server {
    static func main() async throws {
        let arguments = CommandLine.arguments
        let folder = URL(fileURLWithPath: arguments.count > 1 ? arguments[1] : "ServerFiles")
        let port = arguments.count > 2 ? Int(arguments[2]) : nil
        let delay =
            ProcessInfo.processInfo.environment["BANK_MILLISECONDS"].flatMap { Int($0) } ?? 200
        let logger = Logger(label: "Server")

        let metrics = PrometheusMetrics()
        MetricsSystem.bootstrap(metrics)
        VellumTracing.enable()
        let factory = ArchivesFactory(directory: folder)
        let items = try factory.store(for: Item.self, diskLimit: .unlimited)
        let manager = MiniCacheManager(name: "Rates", directory: folder, durability: .relaxed)
        let rates: MiniCache<String, Rate> = manager.cache(
            cacheName: "rates",
            cacheVersion: .custom("1"),
            maxAge: .hours(1)
        )

        let reporter = MetricsReporter()
        reporter.add(items)
        reporter.add(rates)

        let router = Router()
        let streams = OpenStreams()
        let events = EventRoute(items: items, streams: streams)
        let bank = Bank(delay: .milliseconds(delay))
        let exchange = RateRoute(rates: rates, bank: bank)
        ItemRoutes(items: items).add(to: router.group("items"))
        router.get("events") { request, _ in events.response(to: request) }
        router.get("rates/:currency") { _, context in
            try await exchange.rate(of: try context.parameters.require("currency"))
        }
        router.get("health") { _, _ in
            // Reads and writes the file. An error is the answer 500.
            let health = try await items.perform { try $0.factory.check() }
            return health.isHealthy
                ? HTTPResponse.Status.ok : .serviceUnavailable
        }
        router.get("metrics") { _, _ in
            // It reads the file, on a thread that may wait for it.
            try await items.perform { _ in reporter.report() }
            return metrics.text
        }
        router.get("statistics") { _, _ in
            let count = try await items.async.count()
            return Statistics(
                items: count,
                streams: streams.count,
                rateRequests: await bank.requests
            )
        }

        var application = Application(router: router, logger: logger)
        application.configuration.address = .hostname("127.0.0.1", port: port ?? 8080)
        let files = FilesService(factory: factory, manager: manager)
        var configuration = ServiceGroupConfiguration(
            services: [files, application],
            gracefulShutdownSignals: [.sigterm, .sigint],
            logger: logger
        )
        // A client that does not read keeps its stream open for as long.
        configuration.maximumGracefulShutdownDuration = .seconds(5)
        try await ServiceGroup(configuration: configuration).run()
    }
}

/// What `GET /statistics` answers.
struct Statistics: ResponseCodable {
    var items: Int
    /// How many clients follow the events.
    var streams: Int
    /// How often the bank was asked.
    var rateRequests: Int
}
