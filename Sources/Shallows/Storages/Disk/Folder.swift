internal import Foundation
internal import VellumCore

/// A folder, and the calls of the system on what lies in it, by name.
///
/// A name is a path inside the folder, without NUL; the empty name is the folder itself. Calls
/// return zero or the negated `errno`, and throw only if the folder's path is invalid.
struct Folder: Sendable {
    let fileSystem: FileSystem
    /// The path, ending in `/`. Empty if it is invalid: relative, or with a NUL, after which the
    /// system would not read on.
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
    var path: String {
        String(
            decoding: bytes.count > 1 ? bytes.dropLast() : bytes[...],
            as: UTF8.self
        )
    }

    /// The folder that this one lies in.
    var parent: Folder { Folder(FileSystem.folder(of: path), on: fileSystem) }

    /// A folder inside this one.
    func folder(_ name: String) -> Folder { Folder(path + "/" + name, on: fileSystem) }

    /// The path of `name`, ending in NUL.
    func path(of name: some Collection<UInt8>) throws(FileError) -> [CChar] {
        guard !bytes.isEmpty else { throw FileError(.opening, EINVAL, "") }
        return [CChar](unsafeUninitializedCapacity: bytes.count + name.count + 1) { path, count in
            path.withMemoryRebound(to: UInt8.self) { path in
                let end = path.initialize(fromContentsOf: bytes)
                let rest = UnsafeMutableBufferPointer(rebasing: path[end...])
                count = end + rest.initialize(fromContentsOf: name) + 1
                path[count - 1] = 0
            }
        }
    }

    /// The error of a step on a file. Names are made of users' keys, so its description shows the
    /// folder alone.
    func error(_ step: FileError.Step, _ code: Int32, _ name: String = "") -> FileError {
        FileError(step, code, name.isEmpty ? path : path + "/" + name, shownAs: path)
    }
}

extension Folder {
    private var call: FileSystem.Calls { fileSystem.call }

    /// Opens a file. Returns its descriptor, or the negated `errno`.
    func open(_ name: String, for purpose: FileSystem.Purpose) throws(FileError) -> Int32 {
        call.open(try path(of: name.utf8), purpose)
    }

    func unlink(_ name: [UInt8]) throws(FileError) -> Int32 {
        call.unlink(try path(of: name))
    }

    func unlink(_ name: String) throws(FileError) -> Int32 {
        call.unlink(try path(of: name.utf8))
    }

    func removeFolder(_ name: [UInt8] = []) throws(FileError) -> Int32 {
        call.removeFolder(try path(of: name))
    }

    func rename(_ name: String, to target: String) throws(FileError) -> Int32 {
        call.rename(try path(of: name.utf8), try path(of: target.utf8))
    }

    func status(of name: String) throws(FileError) -> FileSystem.Answer<FileSystem.Status> {
        call.statusAt(try path(of: name.utf8))
    }

    func spelling(of name: String) throws(FileError) -> FileSystem.Answer<[UInt8]> {
        call.spelling(try path(of: name.utf8))
    }

    /// What lies under a name; `nil` if there is nothing.
    func kind(of name: String) throws(FileError) -> FileSystem.Kind? {
        switch try status(of: name) {
        case .value(let status): return status.kind
        case .failure(-ENOENT), .failure(-ENOTDIR), .failure(-ENAMETOOLONG): return nil
        case .failure(let code): throw error(.opening, code, name)
        }
    }

    /// What the folder holds, or one inside it; nothing if it does not exist.
    func entries(of name: [UInt8] = []) throws(FileError) -> [FileSystem.Entry] {
        switch call.list(try path(of: name)) {
        case .value(let entries): return entries
        case .failure(-ENOENT): return []
        case .failure(let code):
            throw error(.listing, code, String(decoding: name, as: UTF8.self))
        }
    }
}
