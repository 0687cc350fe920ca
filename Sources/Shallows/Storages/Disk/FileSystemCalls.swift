/// The calls by which files are read and written. ``system`` is the only place of this folder that calls the C library.
///
/// Each gives what the call gave, or the number of its error negated, so that nothing that runs in between can change `errno`.
/// Calls that a signal interrupted are made again. Paths end in NUL.
final class FileSystemCalls: Sendable {
    typealias Path = UnsafePointer<CChar>

    enum Purpose: Sendable {
        /// To read what is there, without waiting for the other end of a pipe.
        case reading
        /// To write a file that must not be there yet, for its owner alone.
        case creating
        /// To bring a folder to the disk.
        case syncingFolder
    }

    enum Kind: Sendable {
        case file, folder, other
    }

    struct Status: Sendable {
        var kind: Kind
        var size: Int
        /// Seconds since 1970.
        var modified: Int
    }

    struct Entry: Sendable {
        /// The name, as UTF-8 or whatever the folder holds.
        var name: [UInt8]
        var kind: Kind
    }

    enum Answer<Value: Sendable>: Sendable {
        case value(Value)
        /// The number of the error, negated.
        case failure(Int32)
    }

    let open: @Sendable (Path, Purpose) -> Int32
    let read: @Sendable (Int32, UnsafeMutableRawPointer, Int) -> Int
    /// The same from a place in the file.
    let readAt: @Sendable (Int32, UnsafeMutableRawPointer, Int, Int) -> Int
    let write: @Sendable (Int32, UnsafeRawPointer, Int) -> Int
    /// Brings a file, or the names in a folder, to the disk.
    let sync: @Sendable (Int32, Purpose) -> Int32
    let close: @Sendable (Int32) -> Int32
    let rename: @Sendable (Path, Path) -> Int32
    /// Removes a file. Of a folder it says `EISDIR`.
    let unlink: @Sendable (Path) -> Int32
    let makeFolder: @Sendable (Path) -> Int32
    let removeFolder: @Sendable (Path) -> Int32
    /// Of an open file.
    let status: @Sendable (Int32) -> Answer<Status>
    /// Of what is at a path; of a link itself.
    let statusAt: @Sendable (Path) -> Answer<Status>
    /// What a folder holds, without `.` and `..`.
    let list: @Sendable (Path) -> Answer<[Entry]>
    /// What is at a path, as the folders on the way to it spell it; at least the last parts of it.
    let spelling: @Sendable (Path) -> Answer<[UInt8]>

    /// Those of the C library, but for what is given.
    init(
        open: @escaping @Sendable (Path, Purpose) -> Int32 = SystemCalls.open,
        read: @escaping @Sendable (Int32, UnsafeMutableRawPointer, Int) -> Int = SystemCalls.read,
        readAt: @escaping @Sendable (Int32, UnsafeMutableRawPointer, Int, Int) -> Int = SystemCalls.readAt,
        write: @escaping @Sendable (Int32, UnsafeRawPointer, Int) -> Int = SystemCalls.write,
        sync: @escaping @Sendable (Int32, Purpose) -> Int32 = SystemCalls.sync,
        close: @escaping @Sendable (Int32) -> Int32 = SystemCalls.close,
        rename: @escaping @Sendable (Path, Path) -> Int32 = SystemCalls.rename,
        unlink: @escaping @Sendable (Path) -> Int32 = SystemCalls.unlink,
        makeFolder: @escaping @Sendable (Path) -> Int32 = SystemCalls.makeFolder,
        removeFolder: @escaping @Sendable (Path) -> Int32 = SystemCalls.removeFolder,
        status: @escaping @Sendable (Int32) -> Answer<Status> = SystemCalls.status,
        statusAt: @escaping @Sendable (Path) -> Answer<Status> = SystemCalls.statusAt,
        list: @escaping @Sendable (Path) -> Answer<[Entry]> = SystemCalls.list,
        spelling: @escaping @Sendable (Path) -> Answer<[UInt8]> = SystemCalls.spelling
    ) {
        self.open = open
        self.read = read
        self.readAt = readAt
        self.write = write
        self.sync = sync
        self.close = close
        self.rename = rename
        self.unlink = unlink
        self.makeFolder = makeFolder
        self.removeFolder = removeFolder
        self.status = status
        self.statusAt = statusAt
        self.list = list
        self.spelling = spelling
    }

    static let system = FileSystemCalls()
}
