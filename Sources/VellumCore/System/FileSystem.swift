/// The file system as this package calls it: one call at a time, each replaceable, so that tests can make it fail.
///
/// ```swift
/// let full = FileSystem { $0.write = { _, _, _ in Int(-ENOSPC) } }
/// ```
package final class FileSystem: Sendable {
    /// The file system of the machine.
    package static let system = FileSystem()

    package let call: Calls

    /// - Parameter replacing: Changes the calls that are not to be the system's own.
    package init(replacing: (inout Calls) -> Void = { _ in }) {
        var calls = Calls()
        replacing(&calls)
        call = calls
    }
}

extension FileSystem {
    /// The calls. Each returns what the system returned, or the negated `errno`, so that nothing that runs in between can change that.
    /// Calls that a signal interrupted are repeated. Paths end in NUL.
    package struct Calls: Sendable {
        package var open: @Sendable (Path, Purpose) -> Int32 = SystemCalls.open
        package var read: @Sendable (Int32, UnsafeMutableRawPointer, _ count: Int) -> Int = SystemCalls.read
        package var readAt: @Sendable (Int32, UnsafeMutableRawPointer, _ count: Int, _ offset: Int) -> Int = SystemCalls.readAt
        package var write: @Sendable (Int32, UnsafeRawPointer, _ count: Int) -> Int = SystemCalls.write
        /// Brings the bytes of a file, or the names in a folder, to the disk.
        package var sync: @Sendable (Int32, Purpose) -> Int32 = SystemCalls.sync
        package var close: @Sendable (Int32) -> Int32 = SystemCalls.close
        package var rename: @Sendable (Path, _ target: Path) -> Int32 = SystemCalls.rename
        /// Removes a file. For a folder the answer is `-EISDIR`.
        package var unlink: @Sendable (Path) -> Int32 = SystemCalls.unlink
        package var makeFolder: @Sendable (Path) -> Int32 = SystemCalls.makeFolder
        package var removeFolder: @Sendable (Path) -> Int32 = SystemCalls.removeFolder
        /// The status of an open file.
        package var status: @Sendable (Int32) -> Answer<Status> = SystemCalls.status
        /// The status of what is at a path; of a link, that of the link.
        package var statusAt: @Sendable (Path) -> Answer<Status> = SystemCalls.statusAt
        /// The entries of a folder, without `.` and `..`.
        package var list: @Sendable (Path) -> Answer<[Entry]> = SystemCalls.list
        /// The path of a file as the folders on the way spell it; at least its last components.
        package var spelling: @Sendable (Path) -> Answer<[UInt8]> = SystemCalls.spelling
    }

    package typealias Path = UnsafePointer<CChar>

    /// What a file is opened for.
    package enum Purpose: Sendable {
        /// Reading, without waiting for the other end of a pipe.
        case reading
        /// Writing a file that must not exist yet, for its owner alone.
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
        /// When the contents changed, in seconds since 1970.
        package var modified: Int
    }

    /// What a folder has under one name.
    package struct Entry: Sendable {
        /// The name as the folder has it: usually UTF-8.
        package var name: [UInt8]
        package var kind: Kind
    }

    package enum Answer<Value: Sendable>: Sendable {
        case value(Value)
        /// The negated `errno`.
        case failure(Int32)
    }
}
