package import Foundation

/// A call of the system on a file or folder that failed: which step, where, why, and what to do about it.
///
/// ```swift
/// "A file could not be created: No space left on device (28), at /var/cache/app. Free some space, then try again."
/// ```
package struct FileError: Error {
    package let step: Step
    /// The system's reason: an `errno`.
    package let code: Int32
    /// The file or folder.
    package let path: String
    /// The path as ``description`` shows it. A file that is named for a key is shown as its folder.
    package let shownPath: String

    /// - Parameters:
    ///   - code: An `errno`; negative numbers are taken as negated ones, as ``FileSystem`` returns them.
    ///   - shownPath: What `description` shows in place of `path`, where `path` is made of a user's key.
    package init(_ step: Step, _ code: Int32, _ path: String, shownAs shownPath: String? = nil) {
        self.step = step
        self.code = abs(code)
        self.path = path
        self.shownPath = shownPath ?? path
    }

    /// Whether the error concerns one file or folder and says nothing about others: it may not be read, or is damaged.
    package var concernsOneFile: Bool { [EACCES, EPERM, EIO].contains(code) }

    /// Whether there is no space left for what was to be written.
    package var isDiskFull: Bool { code == ENOSPC || code == EDQUOT }

    /// The same error as Foundation has it.
    package var underlying: POSIXError { POSIXError(POSIXErrorCode(rawValue: code) ?? .EIO) }
}

extension FileError {
    /// What was being done.
    package struct Step: Hashable, Sendable {
        /// What went wrong: a sentence without its end.
        package let message: String
        /// Whether the step changes what is on the disk.
        package let isWriting: Bool

        package init(_ message: String, isWriting: Bool) {
            self.message = message
            self.isWriting = isWriting
        }

        package static let makingFolder = Step("A folder could not be made", isWriting: true)
        package static let opening = Step("A file could not be opened", isWriting: false)
        package static let reading = Step("A file could not be read", isWriting: false)
        package static let listing = Step("A folder could not be listed", isWriting: false)
        package static let locking = Step("A file could not be locked", isWriting: false)
        package static let mapping = Step("A file could not be mapped into memory", isWriting: false)
        package static let creating = Step("A file could not be created", isWriting: true)
        package static let writing = Step("A file could not be written", isWriting: true)
        package static let syncing = Step("A file was written, but may not survive power loss", isWriting: true)
        package static let renaming = Step("A file could not be renamed", isWriting: true)
        package static let removing = Step("A file could not be removed", isWriting: true)
    }
}

extension FileError: CustomStringConvertible, CustomDebugStringConvertible {
    package var description: String {
        let location = shownPath.isEmpty ? "" : ", at \(shownPath)"
        return "\(step.message): \(String(cString: strerror(code))) (\(code))\(location).\(advice.map { " " + $0 } ?? "")"
    }

    package var debugDescription: String { "FileError(\(description) \(path))" }

    /// The next step, where the reason tells one.
    private var advice: String? {
        switch code {
        case ENOSPC, EDQUOT: "Free some space, then try again."
        case EACCES, EPERM: step.isWriting ? "Check that this program may write there." : "Check that this program may read it."
        case EROFS: "The volume is read-only: choose another one."
        case ENOENT: "Create the folder, or correct the path."
        case ENOTDIR: "A file is in the place of a folder: remove it, or correct the path."
        case EISDIR: "A folder is in the place of the file: remove it, or correct the path."
        case ENAMETOOLONG, ELOOP: "Choose a shorter path."
        case EMFILE, ENFILE: "Close some of the files that are open, or raise the limit for them."
        case EINVAL: "Check that the path is that of a file on this machine."
        case EIO: "Check the disk."
        default: nil
        }
    }
}
