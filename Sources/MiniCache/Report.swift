internal import Logging

/// What goes to the log because no caller can be told: no key, no value and no name of a cache.
enum Report {
    private static let logger = Logger(label: "vellum.minicache")

    static func failure(_ error: MiniCacheError, verb: StaticString, _ type: Any.Type) {
        logger.error("\(error)", metadata: ["verb": "\(verb)", "type": "\(type)"])
    }

    static func failure(_ error: MiniCacheError, verb: StaticString) {
        logger.error("\(error)", metadata: ["verb": "\(verb)"])
    }
}
