internal import Foundation

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

extension FileSystem {
    /// Makes a folder for its owner alone, and those above it, where they are missing.
    ///
    /// - Parameter didMake: Called with the path of each folder that was made, the outermost first: to sync the folder above it.
    package func makeFolders(_ path: String, didMake: (String) throws(FileError) -> Void) throws(FileError) {
        var answer = path.withCString { call.makeFolder($0) }
        let above = Self.folder(of: path)
        if answer == -ENOENT, above != path {
            try makeFolders(above, didMake: didMake)
            answer = path.withCString { call.makeFolder($0) }
        }
        // If there is a file at the path, opening another file in it fails.
        guard answer == 0 || answer == -EEXIST else { throw FileError(.makingFolder, answer, path) }
        if answer == 0 { try didMake(path) }
    }

    /// The path of the folder that a file or folder lies in.
    package static func folder(of path: String) -> String {
        let parts = path.utf8.dropLast(path.utf8.last == UInt8(ascii: "/") ? 1 : 0)
        guard let slash = parts.lastIndex(of: UInt8(ascii: "/")) else { return path }
        return slash == parts.startIndex ? "/" : String(Substring(parts[..<slash]))
    }
}

// The file system of the machine, for code whose failures are injected elsewhere: SQLite's are, in its virtual file system.

extension FileSystem {
    /// Makes an empty file that only its owner may read, unless there is one. Returns whether it did.
    ///
    /// A file that exists is never opened: closing it would drop the locks that this process has on it
    /// (sqlite.org/howtocorrupt.html, 2.2).
    package static func createIfMissing(_ path: String) throws(FileError) -> Bool {
        let file = path.withCString { SystemCalls.open($0, .creating) }
        if file == -EEXIST { return false }
        guard file >= 0 else { throw FileError(.creating, file, path) }
        _ = SystemCalls.close(file)
        return true
    }

    /// The path without symbolic links, `.` and `..`.
    package static func resolved(_ path: String) throws(FileError) -> String {
        guard let pointer = realpath(path, nil) else { throw lastError(.opening, path) }
        defer { free(pointer) }
        return String(cString: pointer)
    }

    package static func move(_ path: String, to target: String) throws(FileError) {
        guard try moveIfPresent(path, to: target) else { throw FileError(.renaming, ENOENT, path) }
    }

    /// Renames a file. Returns `false` if it does not exist.
    package static func moveIfPresent(_ path: String, to target: String) throws(FileError) -> Bool {
        let answer = path.withCString { path in target.withCString { SystemCalls.rename(path, $0) } }
        guard answer == 0 || answer == -ENOENT else { throw FileError(.renaming, answer, path) }
        return answer == 0
    }

    /// Removes a file, if there is one.
    package static func remove(_ path: String) throws(FileError) {
        let answer = path.withCString { SystemCalls.unlink($0) }
        guard answer == 0 || answer == -ENOENT else { throw FileError(.removing, answer, path) }
    }

    /// Makes a folder for its owner alone, with every folder above it that is missing, and syncs the name of each.
    ///
    /// - Parameter sync: Syncs the folder that a file lies in.
    package static func makeFolder(
        _ path: String, sync: (String) throws(FileError) -> Void = { (path) throws(FileError) in try syncFolder(of: path) }
    ) throws(FileError) {
        try system.makeFolders(path, didMake: sync)
    }

    /// Syncs the folder that a file lies in, where the file system can.
    package static func syncFolder(of path: String) throws(FileError) {
        let folder = folder(of: path)
        let file = folder.withCString { SystemCalls.open($0, .syncingFolder) }
        guard file >= 0 else { throw FileError(.opening, file, folder) }
        let answer = SystemCalls.sync(file, .syncingFolder)
        _ = SystemCalls.close(file)
        guard answer == 0 else { throw FileError(.syncing, answer, folder) }
    }

    /// Writes a short text to a file.
    package static func write(_ text: String, to path: String) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    }

    /// The beginning of a short text file; empty if it cannot be read.
    package static func text(_ path: String) -> String {
        guard let file = FileHandle(forReadingAtPath: path) else { return "" }
        return String(decoding: file.readData(ofLength: 8192), as: UTF8.self)
    }

    /// The error of the call that has just failed.
    package static func lastError(_ step: FileError.Step, _ path: String) -> FileError { FileError(step, errno, path) }
}
