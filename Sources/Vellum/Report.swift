internal import Logging

/// What goes to the log because no caller can be told.
enum Report {
    private static let logger = Logger(label: "vellum.archives")

    static func failure(_ error: VellumError, verb: StaticString, _ type: Any.Type) {
        logger.error("\(error)", metadata: ["verb": "\(verb)", "type": "\(type)"])
    }

    static func unopened(_ error: any Error, _ type: Any.Type) {
        let reason = (error as? VellumError)?.description ?? "\(Swift.type(of: error))"
        logger.error("An archive could not be opened. \(reason)", metadata: ["type": "\(type)"])
    }
}
