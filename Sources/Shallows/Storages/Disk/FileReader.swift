internal import Foundation

/// Reads whole files.
struct FileReader: Sendable {
    enum Contents: Sendable {
        case value(Data)
        /// There is nothing at the path.
        case missing
        /// There is a folder at the path.
        case folder
    }

    let calls: FileSystemCalls

    /// What is asked for before the size is known. Most files are smaller, and need no call more than opening, reading and closing.
    private static let first = 68 * 1024
    /// Up to here copying costs less than keeping a buffer that was made for more.
    private static let small = 4096

    /// What is at the path. Blocks while the file is read.
    ///
    /// - Complexity: O(size), with one allocation of it.
    func contents(at path: UnsafePointer<CChar>) throws(FileFailure) -> Contents {
        let file = calls.open(path, .reading)
        guard file >= 0 else {
            if file == -ENOENT { return .missing }
            throw FileFailure(step: .opening, code: -file, path: String(cString: path))
        }
        let answer = read(file)
        _ = calls.close(file)  // Nothing was written that it could fail to keep.
        switch answer {
        case .value(let data): return .value(data)
        case .failure(-EISDIR): return .folder
        case .failure(let code): throw FileFailure(step: .reading, code: -code, path: String(cString: path))
        }
    }

    private func read(_ file: Int32) -> FileSystemCalls.Answer<Data> {
        guard let buffer = malloc(Self.first) else { return .failure(-ENOMEM) }
        let count = calls.read(file, buffer, Self.first)
        // Fewer bytes than asked for are the end of a file (POSIX, `read`); but none at all may be a pipe or a device.
        if count > 0, count < Self.first { return .value(Self.data(buffer, count)) }
        guard count >= 0 else {
            free(buffer)
            return .failure(Int32(count))
        }
        return rest(of: file, buffer, count)
    }

    /// Reads on until the end, into a buffer of the size that the file has and one byte more, by which its end shows.
    private func rest(of file: Int32, _ beginning: UnsafeMutableRawPointer, _ begun: Int) -> FileSystemCalls.Answer<Data> {
        var buffer = beginning
        var count = begun
        func failure(_ code: Int32) -> FileSystemCalls.Answer<Data> {
            free(buffer)
            return .failure(code)
        }
        let status: FileSystemCalls.Status
        switch calls.status(file) {
        case .value(let value): status = value
        case .failure(let code): return failure(code)
        }
        guard status.kind == .file else { return failure(status.kind == .folder ? -EISDIR : -EINVAL) }
        var capacity = max(status.size, count) + 1
        while true {
            guard let larger = realloc(buffer, capacity) else { return failure(-ENOMEM) }
            buffer = larger
            while count < capacity {
                let more = calls.read(file, buffer + count, capacity - count)
                guard more >= 0 else { return failure(Int32(more)) }
                count += more
                if more == 0 || count == status.size { return .value(Self.data(buffer, count)) }
            }
            // The file grew after its size was asked.
            capacity *= 2
        }
    }

    /// Takes the buffer over.
    private static func data(_ buffer: UnsafeMutableRawPointer, _ count: Int) -> Data {
        guard count > small else {
            defer { free(buffer) }
            return Data(bytes: buffer, count: count)
        }
        return Data(bytesNoCopy: realloc(buffer, count) ?? buffer, count: count, deallocator: .free)
    }
}
