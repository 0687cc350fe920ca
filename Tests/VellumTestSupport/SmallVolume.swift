package import Foundation

/// A file system of a few megabytes, if creating one is permitted.
package final class SmallVolume: Sendable {
    package let url: URL
    private let folder: TemporaryDirectory

    /// - Returns: `nil` if no volume may be mounted.
    package init?(megabytes: Int) throws {
        folder = try TemporaryDirectory()
        url = folder.file("volume")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        #if os(Linux)
            guard mount("none", url.path, "tmpfs", 0, "size=\(megabytes)m") == 0 else {
                print("Skipped: no volume may be mounted here.")
                return nil
            }
        #else
            return nil
        #endif
    }

    deinit {
        #if os(Linux)
            // A file that is still open is released later; the volume is unmounted then.
            if umount2(url.path, Int32(MNT_DETACH)) != 0 {
                print("A volume could not be unmounted.")
            }
        #endif
    }

    package func file(_ name: String) -> URL { url.appendingPathComponent(name) }

    /// Makes it read-only, or writable again.
    package func allowWriting(_ isAllowed: Bool, megabytes: Int) -> Bool {
        #if os(Linux)
            mount(
                "none",
                url.path,
                "tmpfs",
                UInt(MS_REMOUNT | (isAllowed ? 0 : MS_RDONLY)),
                "size=\(megabytes)m"
            ) == 0
        #else
            false
        #endif
    }

    /// Uses up every block that is left.
    package func fill() throws {
        let path = file("filler").path
        guard FileManager.default.createFile(atPath: path, contents: nil) else {
            throw CocoaError(.fileWriteUnknown)
        }
        let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
        defer { handle.closeFile() }
        let block = [UInt8](repeating: 7, count: 4096)
        while write(handle.fileDescriptor, block, block.count) == block.count {}
    }

    package func free() throws { try FileManager.default.removeItem(at: file("filler")) }
}
