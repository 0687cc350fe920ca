internal import Logging

/// Messages to the log, without keys and values.
enum Report {
    private static let logger = Logger(label: "vellum.shallows")

    static func filesRemain(_ count: Int) {
        logger.warning(
            "Files of a folder could not be imported and remain in the folder. The result of the import lists them.",
            metadata: ["count": "\(count)"])
    }
}
