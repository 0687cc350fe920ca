internal import Foundation

/// The path of a folder, kept as the bytes that calls of the system begin with.
struct FolderPath: Sendable {
    /// Ends in `/`. Empty if the path cannot be one: there is none, or it holds a NUL, after which the system would not read on.
    private let bytes: [UInt8]

    /// - Parameter path: Every call fails on a path that is empty or holds a NUL.
    init(_ path: String) {
        var bytes = Array(path.utf8)
        if bytes.contains(0) { bytes = [] } else if let last = bytes.last, last != UInt8(ascii: "/") { bytes.append(UInt8(ascii: "/")) }
        self.bytes = bytes
    }

    /// The path of a folder on this machine; one on which every call fails, if the URL is that of anything else.
    init(_ url: URL) {
        let path = url.isFileURL ? url.path : ""
        self.init(path.utf8.first == UInt8(ascii: "/") ? path : "")
    }

    /// The path without its last `/`.
    var text: String { String(decoding: bytes.count > 1 ? bytes.dropLast() : bytes[...], as: UTF8.self) }

    /// Calls `body` with the path of what the folder has under `name`, ending in NUL.
    ///
    /// - Parameter name: Without NUL. Empty for the folder itself.
    @inline(__always)
    func withPath<Result>(
        of name: some Collection<UInt8>, _ body: (UnsafePointer<CChar>) throws(FileFailure) -> Result
    ) throws(FileFailure) -> Result {
        guard !bytes.isEmpty else { throw FileFailure(step: .opening, code: EINVAL, path: "") }
        let count = bytes.count + name.count + 1
        return try withUnsafeTemporaryAllocation(of: UInt8.self, capacity: count) { (path) throws(FileFailure) -> Result in
            _ = path.initialize(fromContentsOf: bytes)
            _ = UnsafeMutableBufferPointer(rebasing: path[bytes.count...]).initialize(from: name)
            path[count - 1] = 0
            return try body(UnsafeRawPointer(path.baseAddress!).assumingMemoryBound(to: CChar.self))
        }
    }
}
