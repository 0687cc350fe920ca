internal import Logging

/// Logs failures that no caller receives, without keys, values or names of caches.
enum Report {
    private static let logger = Logger(label: "vellum.minicache")

    static func failure(_ error: MiniCacheError, verb: StaticString, _ type: Any.Type) {
        logger.error("\(error)", metadata: ["verb": "\(verb)", "type": "\(type)"])
    }

    static func failure(_ error: MiniCacheError, verb: StaticString) {
        logger.error("\(error)", metadata: ["verb": "\(verb)"])
    }
}
