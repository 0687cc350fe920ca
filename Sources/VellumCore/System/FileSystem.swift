/// The system calls on files that this package makes, each replaceable, so that tests can make them
/// fail (decision 40).
///
/// ```swift
/// let full = FileSystem { $0.write = { _, _, _ in Int(-ENOSPC) } }
/// ```
package final class FileSystem: Sendable {
    /// The file system of the machine.
    package static let system = FileSystem()

    package let call: Calls

    /// - Parameter replacing: Replaces calls of the system.
    package init(replacing: (inout Calls) -> Void = { _ in }) {
        var calls = Calls()
        replacing(&calls)
        call = calls
    }
}

extension FileSystem {
    /// The calls. Each returns the system's result, or the negated `errno`, so that code in between
    /// cannot change it. Calls that a signal interrupted are repeated. Paths are NUL-terminated.
    package struct Calls: Sendable {
        package var open: @Sendable (Path, Purpose) -> Int32 = SystemCalls.open
        package var read: @Sendable (Int32, UnsafeMutableRawPointer, _ count: Int) -> Int =
            SystemCalls.read
        package var readAt:
            @Sendable (Int32, UnsafeMutableRawPointer, _ count: Int, _ offset: Int) -> Int =
                SystemCalls.readAt
        package var write: @Sendable (Int32, UnsafeRawPointer, _ count: Int) -> Int = SystemCalls
            .write
        /// Writes the bytes of a file, or the names in a folder, to the disk.
        package var sync: @Sendable (Int32, Purpose) -> Int32 = SystemCalls.sync
        package var close: @Sendable (Int32) -> Int32 = SystemCalls.close
        package var rename: @Sendable (Path, _ target: Path) -> Int32 = SystemCalls.rename
        /// Removes a file. Returns `-EISDIR` for a folder.
        package var unlink: @Sendable (Path) -> Int32 = SystemCalls.unlink
        package var makeFolder: @Sendable (Path) -> Int32 = SystemCalls.makeFolder
        package var removeFolder: @Sendable (Path) -> Int32 = SystemCalls.removeFolder
        /// The status of an open file.
        package var status: @Sendable (Int32) -> Answer<Status> = SystemCalls.status
        /// The status of the file at a path; a symbolic link is not followed.
        package var statusAt: @Sendable (Path) -> Answer<Status> = SystemCalls.statusAt
        /// The entries of a folder, without `.` and `..`.
        package var list: @Sendable (Path) -> Answer<[Entry]> = SystemCalls.list
        /// The path of a file with the spelling that its folders store; at least of its last
        /// components.
        package var spelling: @Sendable (Path) -> Answer<[UInt8]> = SystemCalls.spelling
    }

    package typealias Path = UnsafePointer<CChar>

    /// The purpose for which a file is opened.
    package enum Purpose: Sendable {
        /// Reading, without waiting for the other end of a pipe.
        case reading
        /// Writing a new file, accessible only by its owner.
        case creating
        /// Syncing a folder.
        case syncingFolder
    }

    package enum Kind: Sendable {
        case file, folder, other
    }

    package struct Status: Sendable {
        package var kind: Kind
        package var size: Int
        /// When the contents last changed.
        package var modified: WallInstant
    }

    /// An entry of a folder.
    package struct Entry: Sendable {
        /// The name as the folder stores it: usually UTF-8.
        package var name: [UInt8]
        package var kind: Kind
    }

    package enum Answer<Value: Sendable>: Sendable {
        case value(Value)
        /// The negated `errno`.
        case failure(Int32)
    }
}
