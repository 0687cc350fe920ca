internal import Logging

/// Logs failures of methods that do not throw.
enum Report {
    private static let logger = Logger(label: "vellum.archives")

    static func failure(_ error: VellumError, operation: StaticString, _ type: Any.Type) {
        logger.error("\(error)", metadata: ["operation": "\(operation)", "type": "\(type)"])
    }

    static func tookOver(_ takeOver: TakeOver, _ folder: String) {
        logger.notice(
            "Objects of version 1 were taken over: \(takeOver).", metadata: ["archive": "\(takeOver.archive)", "folder": "\(folder)"])
    }

    static func unopened(_ error: any Error, _ type: Any.Type) {
        let reason = (error as? VellumError)?.description ?? "\(Swift.type(of: error))"
        logger.error("An archive cannot be opened. \(reason)", metadata: ["type": "\(type)"])
    }
}
