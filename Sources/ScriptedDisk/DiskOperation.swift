package import Foundation

/// An operation on the files of a folder that affects what a disk holds after power loss.
///
/// Files are numbered in the order of their creation, because a name may refer to different files
/// over time.
package enum DiskOperation: Sendable {
    /// A file was created, or seen for the first time, with these bytes.
    case create(file: Int, name: String, contents: Data)
    case write(file: Int, offset: Int, bytes: Data)
    case truncate(file: Int, size: Int)
    /// Every earlier change of the file survives power loss from now on.
    case sync(file: Int)
    /// Names created and removed earlier in the folder of this name survive power loss from now on.
    case syncFolder(of: String)
    case delete(name: String)
    /// A mark set by the observer.
    case mark(Int)
}
