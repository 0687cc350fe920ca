internal import Foundation

/// A step on a file or folder that the system refused: which step, and the number of its error.
///
/// Its `description` holds no path; `String(reflecting:)` adds it. A file that is not there is no failure but a value.
struct FileFailure: Error {
    enum Step: String, Sendable {
        case makingFolder = "A folder could not be made"
        case opening = "A file could not be opened"
        case reading = "A file could not be read"
        case creating = "A file could not be created"
        case writing = "A file could not be written"
        case syncing = "A file was written, but could not be brought safely to the disk"
        case replacing = "A file could not be put in its place"
        case removing = "A file could not be removed"
        case removingOld = "The value was written, but the file that an earlier version wrote for its key could not be removed"
        case listing = "A folder could not be listed"
        case decodingNames = "The keys cannot be listed, because the encoder of names has no way back. Give it one: `custom(_:decode:)`"

        /// Whether the step changes what is on the disk.
        var isWriting: Bool {
            switch self {
            case .makingFolder, .creating, .writing, .syncing, .replacing, .removing, .removingOld: true
            case .opening, .reading, .listing, .decodingNames: false
            }
        }
    }

    let step: Step
    /// What the system said: an `errno`.
    let code: Int32
    /// Where. Made from a user's key, so never in a `description`.
    let path: String

    /// Whether it says something about one file or folder, and nothing about others: this one may not be read, or is damaged.
    var isOfOneFile: Bool { [EACCES, EPERM, EIO].contains(code) }

    /// The same as an error of the system.
    var underlying: POSIXError { POSIXError(POSIXErrorCode(rawValue: code) ?? .EIO) }
}

extension FileFailure: CustomStringConvertible, CustomDebugStringConvertible {
    var description: String { "\(step.rawValue) (\(String(cString: strerror(code))))." }

    var debugDescription: String { "FileFailure(\(description) \(path))" }
}
