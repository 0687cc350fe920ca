public import Foundation

/// What happened to the files of a folder, as far as it matters to what a disk holds after power loss.
///
/// Files are numbered as they are made: a name may come to stand for another file.
public enum DiskOperation: Sendable {
    /// A file was made, or seen for the first time, with these bytes in it.
    case create(file: Int, name: String, contents: Data)
    case write(file: Int, offset: Int, bytes: Data)
    case truncate(file: Int, size: Int)
    /// Everything done to the file before survives from now on.
    case sync(file: Int)
    /// Names made and taken away before survive from now on.
    case syncFolder
    case delete(name: String)
    /// A note of whoever watches.
    case mark(Int)
}
