internal import Foundation
internal import Tiers

/// A folder, and the calls of the system on what lies in it, by name.
///
/// A name is a path inside the folder, without NUL; the empty name is the folder itself. Calls return zero or the negated `errno`, and
/// throw only if the folder's path is invalid.
struct Folder: Sendable {
    let fileSystem: FileSystem
    /// The path, ending in `/`. Empty if it is invalid: relative, or with a NUL, after which the system would not read on.
    private let bytes: [UInt8]

    init(_ path: String, on fileSystem: FileSystem = .system) {
        self.fileSystem = fileSystem
        var bytes = Array(path.utf8)
        if bytes.first != UInt8(ascii: "/") || bytes.contains(0) {
            bytes = []
        } else if bytes.last != UInt8(ascii: "/") {
            bytes.append(UInt8(ascii: "/"))
        }
        self.bytes = bytes
    }

    /// The folder of a file URL. Every call fails on a folder of any other URL.
    init(_ url: URL, on fileSystem: FileSystem = .system) {
        self.init(url.isFileURL ? url.path : "", on: fileSystem)
    }

    /// The path without its last `/`.
    var path: String { String(decoding: bytes.count > 1 ? bytes.dropLast() : bytes[...], as: UTF8.self) }

    /// The folder that this one lies in.
    var parent: Folder { Folder(FileSystem.folder(of: path), on: fileSystem) }

    /// A folder inside this one.
    func folder(_ name: String) -> Folder { Folder(path + "/" + name, on: fileSystem) }

    /// Calls `body` with the path of `name`, ending in NUL.
    @inline(__always)
    func withPath<Result>(
        of name: some Collection<UInt8>, _ body: (FileSystem.Path) throws(FileError) -> Result
    ) throws(FileError) -> Result {
        guard !bytes.isEmpty else { throw FileError(.opening, EINVAL, "") }
        let count = bytes.count + name.count + 1
        return try withUnsafeTemporaryAllocation(of: UInt8.self, capacity: count) { (path) throws(FileError) -> Result in
            _ = path.initialize(fromContentsOf: bytes)
            _ = UnsafeMutableBufferPointer(rebasing: path[bytes.count...]).initialize(from: name)
            path[count - 1] = 0
            return try path.withMemoryRebound(to: CChar.self) { (path) throws(FileError) -> Result in
                guard let start = path.baseAddress else { throw FileError(.opening, EINVAL, "") }
                return try body(start)
            }
        }
    }

    /// The error of a step on a file. Names are made of users' keys, so its description shows the folder alone.
    func error(_ step: FileError.Step, _ code: Int32, _ name: some Collection<UInt8> = EmptyCollection()) -> FileError {
        FileError(step, code, name.isEmpty ? path : path + "/" + String(decoding: name, as: UTF8.self), shownAs: path)
    }
}

extension Folder {
    /// Opens a file. Returns its descriptor, or the negated `errno`.
    func open(_ name: String, for purpose: FileSystem.Purpose) throws(FileError) -> Int32 {
        try withPath(of: name.utf8) { (path) throws(FileError) in fileSystem.call.open(path, purpose) }
    }

    func unlink(_ name: some Collection<UInt8>) throws(FileError) -> Int32 {
        try withPath(of: name) { (path) throws(FileError) in fileSystem.call.unlink(path) }
    }

    func removeFolder(_ name: some Collection<UInt8> = EmptyCollection()) throws(FileError) -> Int32 {
        try withPath(of: name) { (path) throws(FileError) in fileSystem.call.removeFolder(path) }
    }

    func rename(_ name: String, to target: String) throws(FileError) -> Int32 {
        try withPath(of: name.utf8) { (path) throws(FileError) in
            try withPath(of: target.utf8) { (target) throws(FileError) in fileSystem.call.rename(path, target) }
        }
    }

    func status(of name: String) throws(FileError) -> FileSystem.Answer<FileSystem.Status> {
        try withPath(of: name.utf8) { (path) throws(FileError) in fileSystem.call.statusAt(path) }
    }

    /// What lies under a name; `nil` if there is nothing.
    func kind(of name: String) throws(FileError) -> FileSystem.Kind? {
        switch try status(of: name) {
        case .value(let status): return status.kind
        case .failure(-ENOENT): return nil
        case .failure(let code): throw error(.opening, code, name.utf8)
        }
    }

    /// What the folder holds, or one inside it; nothing if it does not exist.
    func entries(of name: some Collection<UInt8> = EmptyCollection()) throws(FileError) -> [FileSystem.Entry] {
        switch try withPath(of: name, { (path) throws(FileError) in fileSystem.call.list(path) }) {
        case .value(let entries): return entries
        case .failure(-ENOENT): return []
        case .failure(let code): throw error(.listing, code, name)
        }
    }
}
