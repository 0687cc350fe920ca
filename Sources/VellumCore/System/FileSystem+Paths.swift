package import Foundation

extension FileSystem {
    /// Makes a folder and its missing parents, accessible only by their owner.
    ///
    /// - Parameter didMake: Called with the path of each folder that was made, the outermost first,
    ///   to sync its parent.
    package func makeFolders(
        _ path: String,
        didMake: (String) throws(FileError) -> Void
    ) throws(FileError) {
        var answer = path.withCString { call.makeFolder($0) }
        let above = Self.folder(of: path)
        if answer == -ENOENT, above != path {
            try makeFolders(above, didMake: didMake)
            answer = path.withCString { call.makeFolder($0) }
        }
        // If a file is at the path, opening another file inside it fails.
        guard answer == 0 || answer == -EEXIST else { throw FileError(.makingFolder, answer, path) }
        if answer == 0 { try didMake(path) }
    }

    /// Syncs the folder that contains a file, if the file system supports it.
    package func syncNames(beside path: String) throws(FileError) {
        let folder = Self.folder(of: path)
        let file = folder.withCString { call.open($0, .syncingFolder) }
        guard file >= 0 else { throw FileError(.opening, file, folder) }
        let answer = call.sync(file, .syncingFolder)
        _ = call.close(file)
        guard answer == 0 else { throw FileError(.syncing, answer, folder) }
    }

    /// The user's caches folder.
    package static var cachesFolder: URL {
        userFolder(.cachesDirectory, .userDomainMask) ?? FileManager.default.temporaryDirectory
    }

    /// One of the user's folders; `nil` if the system has no such folder.
    package static func userFolder(
        _ directory: FileManager.SearchPathDirectory,
        _ domainMask: FileManager.SearchPathDomainMask
    ) -> URL? {
        let folder = FileManager.default.urls(for: directory, in: domainMask).first
        // Without `HOME`, Foundation puts `.cache` and `.local` into `/home`, also those of a user
        // whose home is elsewhere.
        let common = "/home/."
        guard let folder, getenv("HOME").map({ $0.pointee == 0 }) ?? true,
            folder.path.hasPrefix(common)
        else { return folder }
        return URL(
            fileURLWithPath: NSHomeDirectory() + "/." + folder.path.dropFirst(common.count),
            isDirectory: true
        )
    }

    /// Returns the path of the folder that contains a file or folder.
    package static func folder(of path: String) -> String {
        let parts = path.utf8.dropLast(
            path.utf8.last == UInt8(ascii: "/") ? 1 : 0
        )
        guard let slash = parts.lastIndex(of: UInt8(ascii: "/")) else { return path }
        return slash == parts.startIndex ? "/" : String(Substring(parts[..<slash]))
    }
}

// Direct calls, for code whose failures are injected elsewhere: those of SQLite are injected in its
// virtual file system.

extension FileSystem {
    /// Creates an empty file that only its owner may read, unless it exists. Returns whether it was
    /// created.
    ///
    /// An existing file is never opened: closing it would drop the locks that this process has on
    /// it (sqlite.org/howtocorrupt.html, 2.2).
    package static func createIfMissing(_ path: String) throws(FileError) -> Bool {
        let file = path.withCString { SystemCalls.open($0, .creating) }
        if file == -EEXIST { return false }
        guard file >= 0 else { throw FileError(.creating, file, path) }
        _ = SystemCalls.close(file)
        return true
    }

    /// Returns the path without symbolic links, `.` and `..`.
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
        let answer = path.withCString { path in
            target.withCString { SystemCalls.rename(path, $0) }
        }
        guard answer == 0 || answer == -ENOENT else { throw FileError(.renaming, answer, path) }
        return answer == 0
    }

    /// Removes a file, if there is one.
    package static func remove(_ path: String) throws(FileError) {
        let answer = path.withCString { SystemCalls.unlink($0) }
        guard answer == 0 || answer == -ENOENT else { throw FileError(.removing, answer, path) }
    }

    /// Makes a folder and its missing parents, accessible only by their owner, and syncs the name
    /// of each.
    ///
    /// - Parameter sync: Syncs the folder that contains a file.
    package static func makeFolder(
        _ path: String,
        sync: (String) throws(FileError) -> Void = { path throws(FileError) in
            try syncFolder(of: path)
        }
    ) throws(FileError) {
        try system.makeFolders(path, didMake: sync)
    }

    /// Syncs the folder that contains a file, if the file system supports it.
    package static func syncFolder(of path: String) throws(FileError) {
        try system.syncNames(beside: path)
    }

    /// Writes a short text to a file.
    package static func write(_ text: String, to path: String) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    }

    /// Returns the first 8192 bytes of a text file; empty if it cannot be read.
    package static func text(_ path: String) -> String {
        guard let file = FileHandle(forReadingAtPath: path) else { return "" }
        return String(decoding: file.readData(ofLength: 8192), as: UTF8.self)
    }

    /// Returns the error of the last system call.
    package static func lastError(_ step: FileError.Step, _ path: String) -> FileError {
        FileError(step, errno, path)
    }

    /// Copies a file that others may change meanwhile, for this user alone. `FileManager` copies
    /// one that gets shorter without an end (Linux, Swift 6.3).
    package static func copy(_ path: String, to copy: String) throws {
        let source = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
        defer { source.closeFile() }
        let descriptor = open(copy, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw lastError(.opening, copy) }
        let target = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        while let portion = try source.read(upToCount: 1 << 20), !portion.isEmpty {
            try target.write(contentsOf: portion)
        }
    }
}
