package import Foundation

/// A failed system call on a file or folder: the step, the path, the system's reason, and advice.
///
/// ```swift
/// "A file could not be created: No space left on device (28), at
/// /var/cache/app. Free some space, then try again."
/// ```
///
/// A class, because it travels through every call that may fail, also where none does.
package final class FileError: Error {
    package let step: Step
    /// The system's reason: an `errno`.
    package let code: Int32
    /// The file or folder concerned.
    package let path: String
    /// The path as ``description`` shows it. For a file named after a key, that is its folder.
    let shownPath: String

    /// - Parameters:
    ///   - code: An `errno`, or a negated one as ``FileSystem`` returns it.
    ///   - shownPath: The path to show in `description`, if `path` is derived from a user's key.
    package init(
        _ step: Step,
        _ code: Int32,
        _ path: String,
        shownAs shownPath: String? = nil
    ) {
        self.step = step
        self.code = abs(code)
        self.shownPath = shownPath ?? path
        self.path = path
    }

    /// Whether the error concerns only this file or folder: it may not be read, or is damaged.
    package var concernsOneFile: Bool { [EACCES, EPERM, EIO].contains(code) }

    /// Whether no space is left for the write.
    package var isDiskFull: Bool { code == ENOSPC || code == EDQUOT }

    /// The same error as Foundation's type.
    package var underlying: POSIXError { POSIXError(POSIXErrorCode(rawValue: code) ?? .EIO) }
}

extension FileError {
    /// The operation that failed.
    package struct Step: Hashable, Sendable {
        /// The failure, as a sentence without a full stop.
        package let message: String
        /// Whether the operation writes to the disk.
        package let isWriting: Bool

        package init(_ message: String, isWriting: Bool) {
            self.message = message
            self.isWriting = isWriting
        }

        package static let makingFolder = Step("A folder could not be made", isWriting: true)
        static let protecting = Step(
            "The protection of a file could not be set",
            isWriting: true
        )
        package static let opening = Step("A file could not be opened", isWriting: false)
        package static let reading = Step("A file could not be read", isWriting: false)
        package static let listing = Step("A folder could not be listed", isWriting: false)
        package static let locking = Step("A file could not be locked", isWriting: false)
        package static let mapping = Step(
            "A file could not be mapped into memory",
            isWriting: false
        )
        package static let creating = Step("A file could not be created", isWriting: true)
        package static let writing = Step("A file could not be written", isWriting: true)
        package static let syncing = Step(
            "A file was written, but may not survive power loss",
            isWriting: true
        )
        package static let renaming = Step("A file could not be renamed", isWriting: true)
        package static let removing = Step("A file could not be removed", isWriting: true)
    }
}

extension FileError: CustomStringConvertible, CustomDebugStringConvertible {
    package var description: String {
        let location = shownPath.isEmpty ? "" : ", at \(shownPath)"
        return
            """
            \(step.message): \(String(cString: strerror(code))) \
            (\(code))\(location).\(advice.map { " " + $0 } ?? "")
            """
    }

    package var debugDescription: String { "FileError(\(description) \(path))" }

    /// The recommended action, if the reason suggests one.
    private var advice: String? {
        switch code {
        case ENOSPC, EDQUOT: "Free some space, then try again."
        case EACCES, EPERM:
            step.isWriting
                ? "Check that this program may write there."
                : "Check that this program may read it."
        case EROFS: "The volume is read-only: choose another one."
        case ENOENT: "Create the folder, or correct the path."
        case ENOTDIR:
            "A folder is needed there, and it or a folder above it is a file. Choose another path."
        case EISDIR: "A folder is in the place of the file: remove it, or correct the path."
        case ENAMETOOLONG, ELOOP: "Choose a shorter path."
        case EMFILE, ENFILE: "Close some of the files that are open, or raise the limit for them."
        case EINVAL: "Check that the path is that of a file on this machine."
        case EIO: "Check the disk."
        default: nil
        }
    }
}
