// A server keeps sessions, counters and pages in files of its own.

import Foundation
import CBORCoding
import MiniCache
import Vellum

/// Keeps what Hummingbird persists, such as sessions:
/// `app.addServices(driver)`.
struct CachePersistDriver: PersistDriver {
    let cache: MiniCache<String, Data>

    func create<Object: Codable & Sendable>(
        key: String,
        value: Object,
        expires: Duration?
    ) async throws {
        let data = try CBOREncoder().encode(value)
        let isNew =
            if let expires {
                try await cache.async.setIfAbsent(
                    data,
                    forKey: key,
                    expiration: .after(expires)
                )
            } else {
                try await cache.async.setIfAbsent(data, forKey: key)
            }
        guard isNew else { throw PersistError.duplicate }
    }

    /// Without a time to live, the one of the value that is there stays.
    func set<Object: Codable & Sendable>(
        key: String,
        value: Object,
        expires: Duration?
    ) async throws {
        let data = try CBOREncoder().encode(value)
        if let expires {
            return try await cache.async.set(
                data,
                forKey: key,
                expiration: .after(expires)
            )
        }
        try await cache.async.update(forKey: key) { $0 = data }
    }

    func get<Object: Codable & Sendable>(
        key: String,
        as type: Object.Type
    ) async throws -> Object? {
        let found = try await cache.async.value(forKey: key)
        guard let data = found else { return nil }
        do {
            return try CBORDecoder().decode(type, from: data)
        } catch is DecodingError {
            throw PersistError.invalidConversion
        }
    }

    func remove(key: String) async throws {
        try await cache.async.removeValue(forKey: key)
    }
}

/// What Vapor's `Cache` asks for. Vapor 4 wants futures:
/// `eventLoop.makeFutureWithTask { try await pages.get(key, as: type) }`.
struct PageCache: Sendable {
    let cache: MiniCache<String, Data>

    func get<Page: Decodable>(
        _ key: String,
        as type: Page.Type
    ) async throws -> Page? {
        let data = try await cache.async.value(forKey: key)
        return try data.map { try CBORDecoder().decode(type, from: $0) }
    }

    func set<Page: Encodable>(
        _ key: String,
        to page: Page?,
        expiresIn age: Duration?
    ) async throws {
        let data = try page.map { try CBOREncoder().encode($0) }
        guard let data else {
            return _ = try await cache.async.removeValue(forKey: key)
        }
        if let age {
            return try await cache.async.set(
                data,
                forKey: key,
                expiration: .after(age)
            )
        }
        try await cache.async.set(data, forKey: key)
    }
}

/// Sends the newest items as server-sent events, now and after each
/// change.
struct EventRoute: Sendable {
    let items: ArchiveStore<Item>
    let streams: OpenStreams

    func response(to request: Request) -> Response {
        Response(
            status: .ok,
            headers: [.contentType: "text/event-stream"],
            body: ResponseBody { writer in
                // Ends when the client has gone.
                try await request.body
                    .consumeWithCancellationOnInboundClose { _ in
                        try await send(to: &writer)
                    }
                try await writer.finish(nil)
            }
        )
    }

    private func send(
        to writer: inout any ResponseBodyWriter
    ) async throws {
        streams.begin()
        defer { streams.end() }
        let newest = items.observe(
            sortedBy: [SortDescriptor(\.changed, order: .reverse)],
            limit: 100
        )
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        // Ends when the server shuts down.
        for try await list in newest.cancelOnGracefulShutdown() {
            var event = ByteBuffer(string: "data: ")
            event.writeBytes(try encoder.encode(list))
            event.writeString("\n\n")
            try await writer.write(event)
        }
    }
}

/// A service of swift-service-lifecycle: what was written is on the disk
/// when the server has shut down. It is the first of the services,
/// because they end in the reverse order.
struct FilesService: Service {
    let factory: ArchivesFactory
    let manager: MiniCacheManager

    func run() async throws {
        // Also if the shutdown takes too long, and cancels this task.
        do { try await gracefulShutdown() } catch is CancellationError {}
        try factory.close()
        try manager.close()
    }
}

// snippet.hide
func makeDriver() -> CachePersistDriver {
    // snippet.show
    let manager = MiniCacheManager(
        name: "Server",
        directory: URL(fileURLWithPath: "/var/lib/shop"),
        durability: .crashSafe
    )
    let driver = CachePersistDriver(
        cache: manager.cache(
            cacheName: "sessions",
            cacheVersion: .custom("1"),
            maxAge: .days(30)
        )
    )
    // snippet.hide
    return driver
}

func serve(
    _ items: ArchiveStore<Item>,
    _ factory: ArchivesFactory,
    _ manager: MiniCacheManager
) async throws {
    let router = Router()
    let events = EventRoute(items: items, streams: OpenStreams())
    // snippet.show
    router.get("events") { request, _ in events.response(to: request) }
    router.get("health") { _, _ in
        // Reads and writes the file. An error is the answer 500.
        let health = try await items.perform { try $0.factory.check() }
        return health.isHealthy
            ? HTTPResponse.Status.ok : .serviceUnavailable
    }
    // snippet.hide
    let application = Application(router: router)
    let logger = Logger()
    // snippet.show
    let files = FilesService(factory: factory, manager: manager)
    var configuration = ServiceGroupConfiguration(
        services: [files, application],
        gracefulShutdownSignals: [.sigterm, .sigint],
        logger: logger
    )
    // A client that does not read keeps its stream open for as long.
    configuration.maximumGracefulShutdownDuration = .seconds(5)
    try await ServiceGroup(configuration: configuration).run()
    // snippet.hide
}

struct Item: ArchiveCodable, IndexedArchivable {
    static var archiveIndexes: [ArchiveIndex<Item>] { [.index(\.changed)] }

    var primaryKey: String { id }
    var id: String
    var text: String
    var changed: Date
}

// What requests and configurations may say: no adapter ends the process, and what has expired or
// cannot be a key is not found.

let manager = MiniCacheManager.inMemory()
let driver = CachePersistDriver(
    cache: manager.cache(cacheName: "sessions", cacheVersion: .custom("1"), maxAge: .days(30))
)
let pages = PageCache(
    cache: manager.cache(cacheName: "pages", cacheVersion: .custom("1"), maxAge: .days(1))
)
let times: [Duration?] = [
    nil, .zero, .seconds(-1), .seconds(Int64.min), .nanoseconds(-1), .seconds(60),
    .seconds(Int64.max),
]
let keys = ["", "\0", "..", "a/b", "\u{1F600}", String(repeating: "k", count: 70_000)]
var wrong: [String] = []
for (number, key) in keys.enumerated() {
    for (time, expires) in times.enumerated() {
        let isValid = key.utf8.count < 65_536 && (expires ?? .seconds(60)) > .zero
        do {
            try await driver.remove(key: key)
            try await driver.create(key: key, value: time, expires: expires)
            let created = try await driver.get(key: key, as: Int.self)
            try await driver.set(key: key, value: -time, expires: expires)
            let set = try await driver.get(key: key, as: Int.self)
            try await pages.set(key, to: time, expiresIn: expires)
            let page = try await pages.get(key, as: Int.self)
            try await pages.set(key, to: Int?.none, expiresIn: expires)
            // A value of another type is an error that the framework knows.
            do { _ = try await driver.get(key: key, as: String.self) } catch PersistError
                .invalidConversion
            {}
            let expected = isValid ? (time, -time, time) : (nil, nil, nil)
            if (created, set, page) != expected { wrong.append("key \(number), time \(time)") }
        } catch let error as MiniCacheError {
            if error.code != .keyTooLong || key.utf8.count < 65_536 {
                wrong.append("key \(number), time \(time): \(error.code)")
            }
        }
    }
}
print(
    wrong.isEmpty
        ? "\(keys.count * times.count) requests, none ended the process" : "wrong: \(wrong)"
)

// As Hummingbird 2 and swift-service-lifecycle 2 declare them, as far as the guide uses them.

protocol Service: Sendable {
    func run() async throws
}

protocol PersistDriver: Sendable {
    func create<Object: Codable & Sendable>(
        key: String,
        value: Object,
        expires: Duration?
    ) async throws
    func set<Object: Codable & Sendable>(
        key: String,
        value: Object,
        expires: Duration?
    ) async throws
    func get<Object: Codable & Sendable>(key: String, as type: Object.Type) async throws -> Object?
    func remove(key: String) async throws
}

enum PersistError: Error {
    case duplicate, invalidConversion
}

nonisolated protocol ResponseBodyWriter {
    mutating func write(_ buffer: ByteBuffer) async throws
    consuming func finish(_ trailingHeaders: [String: String]?) async throws
}

struct ByteBuffer: Sendable {
    init(string: String) {}
    mutating func writeBytes(_ bytes: some Sequence<UInt8>) {}
    mutating func writeString(_ string: String) {}
}

struct ResponseBody: Sendable {
    init(_ write: @Sendable @escaping (inout any ResponseBodyWriter) async throws -> Void) {}
}

struct RequestBody: Sendable {
    func consumeWithCancellationOnInboundClose<Value: Sendable>(
        _ operation: (RequestBody) async throws -> Value
    ) async throws -> Value {
        try await operation(self)
    }
}

struct Request: Sendable {
    var body: RequestBody
}

protocol ResponseGenerator {}

enum HTTPResponse {
    enum Status: ResponseGenerator { case ok, serviceUnavailable }
}

struct Response: ResponseGenerator {
    enum Header { case contentType }

    init(status: HTTPResponse.Status, headers: [Header: String], body: ResponseBody) {}
}

struct Context {}

struct Router: Sendable {
    func get(
        _ path: String,
        use handler: @Sendable @escaping (Request, Context) async throws -> some ResponseGenerator
    ) {}
}

struct Application: Service {
    let router: Router

    func run() async throws {}
}

struct Logger: Sendable {}

enum UnixSignal: Sendable {
    case sigterm, sigint
}

struct ServiceGroupConfiguration: Sendable {
    let services: [any Service]
    let gracefulShutdownSignals: [UnixSignal]
    let logger: Logger
    var maximumGracefulShutdownDuration: Duration?
}

struct ServiceGroup: Sendable {
    let configuration: ServiceGroupConfiguration

    func run() async throws {}
}

extension AsyncSequence where Self: Sendable, Element: Sendable {
    nonisolated func cancelOnGracefulShutdown() -> Self { self }
}

nonisolated func gracefulShutdown() async throws {}

final class OpenStreams: Sendable {
    func begin() {}
    func end() {}
}
