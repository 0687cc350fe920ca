internal import Foundation
internal import VellumCore

/// Reads whole files of a folder.
struct FileReader: Sendable {
    enum Contents: Sendable {
        case value(Data)
        case missing
        /// There is a folder under the name.
        case folder
    }

    let folder: Folder

    private var call: FileSystem.Calls { folder.fileSystem.call }

    /// What the first call asks for. Files that are smaller need no call but opening, reading and
    /// closing.
    private static let first = 68 * 1024
    /// Up to this size copying costs less than a buffer that was made for more.
    private static let small = 4096

    /// The contents of a file. Blocks while it is read.
    ///
    /// - Complexity: O(size), with one allocation of it.
    func contents(of name: String) throws(FileError) -> Contents {
        let file = try folder.open(name, for: .reading)
        guard file >= 0 else {
            if file == -ENOENT { return .missing }
            throw folder.error(.opening, file, name)
        }
        let answer = read(file)
        _ = call.close(file)  // Closing loses nothing of a file that was only read.
        switch answer {
        case .value(let data): return .value(data)
        case .failure(-EISDIR): return .folder
        case .failure(let code): throw folder.error(.reading, code, name)
        }
    }

    private func read(_ file: Int32) -> FileSystem.Answer<Data> {
        guard let buffer = malloc(Self.first) else { return .failure(-ENOMEM) }
        let count = call.read(file, buffer, Self.first)
        // Fewer bytes than asked for are the end of a file (POSIX, `read`); none at all may be a
        // pipe or a device.
        if count > 0, count < Self.first { return .value(Self.data(buffer, count)) }
        guard count >= 0 else {
            free(buffer)
            return .failure(Int32(count))
        }
        return rest(of: file, buffer, count)
    }

    /// Reads to the end, into a buffer that is one byte larger than the file, so that the end
    /// shows.
    private func rest(
        of file: Int32,
        _ beginning: UnsafeMutableRawPointer,
        _ begun: Int
    ) -> FileSystem.Answer<Data> {
        var buffer = beginning
        var count = begun
        func failure(_ code: Int32) -> FileSystem.Answer<Data> {
            free(buffer)
            return .failure(code)
        }
        let status: FileSystem.Status
        switch call.status(file) {
        case .value(let value): status = value
        case .failure(let code): return failure(code)
        }
        guard status.kind == .file else {
            return failure(status.kind == .folder ? -EISDIR : -EINVAL)
        }
        var capacity = max(status.size, count) + 1
        while true {
            guard let larger = realloc(buffer, capacity) else { return failure(-ENOMEM) }
            buffer = larger
            while count < capacity {
                let more = call.read(file, buffer + count, capacity - count)
                guard more >= 0 else { return failure(Int32(more)) }
                count += more
                if more == 0 || count == status.size { return .value(Self.data(buffer, count)) }
            }
            // The file grew after its size was read.
            capacity *= 2
        }
    }

    /// Takes ownership of the buffer.
    private static func data(_ buffer: UnsafeMutableRawPointer, _ count: Int) -> Data {
        guard count > small else {
            defer { free(buffer) }
            return Data(bytes: buffer, count: count)
        }
        return Data(bytesNoCopy: realloc(buffer, count) ?? buffer, count: count, deallocator: .free)
    }
}
