internal import Logging

/// What goes to the log: no key, no value and no path.
enum Report {
    private static let logger = Logger(label: "vellum.shallows")

    static func filesLeft(_ count: Int) {
        logger.warning(
            "Files of a folder could not be moved into a storage, and were left where they are.", metadata: ["count": "\(count)"])
    }
}
