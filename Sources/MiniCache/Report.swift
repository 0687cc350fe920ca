internal import Logging

/// Logs failures that no caller receives, without keys, values or names of caches.
enum Report {
    private static let logger = Logger(label: "vellum.minicache")

    static func failure(_ error: MiniCacheError, operation: StaticString, _ type: Any.Type) {
        logger.error("\(error)", metadata: ["operation": "\(operation)", "type": "\(type)"])
    }

    static func failure(_ error: MiniCacheError, operation: StaticString) {
        logger.error("\(error)", metadata: ["operation": "\(operation)"])
    }
}
