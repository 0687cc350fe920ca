import Foundation
import Hummingbird
import Logging
import MiniCache
import ServiceLifecycle
import Vellum

/// `Server FOLDER PORT`: items of an archive over HTTP, and a cache of a slow source.
@main
struct Server {
    static func main() async throws {
        let arguments = CommandLine.arguments
        let folder = URL(fileURLWithPath: arguments.count > 1 ? arguments[1] : "ServerFiles")
        let port = arguments.count > 2 ? Int(arguments[2]) : nil
        let delay = ProcessInfo.processInfo.environment["BANK_MILLISECONDS"].flatMap { Int($0) } ?? 200
        let logger = Logger(label: "Server")

        let factory = ArchivesFactory(directory: folder)
        let items = try factory.store(for: Item.self, diskLimit: .unlimited)
        let manager = MiniCacheManager(name: "Rates", directory: folder, durability: .relaxed)
        let rates: MiniCache<String, Rate> = manager.cache(cacheName: "rates", cacheVersion: .custom("1"), maxAge: .hours(1))

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
            // Reads the file. An error is the answer 500.
            let count = try await items.perform { try $0.count() }
            return Health(items: count, streams: streams.count, rateRequests: await bank.requests)
        }

        let application = Application(
            router: router, configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: port ?? 8080)), logger: logger)
        var services = ServiceGroupConfiguration(
            services: [FilesService(factory: factory, manager: manager), application],
            gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
        // A client that does not read its stream keeps it open for as long.
        services.maximumGracefulShutdownDuration = .seconds(5)
        try await ServiceGroup(configuration: services).run()
    }
}

/// What `GET /health` answers.
struct Health: ResponseCodable {
    var items: Int
    var streams: Int
    var rateRequests: Int
}
