internal import Foundation

/// Listing folders.
extension SystemCalls {
    @Sendable
    package static func list(_ path: Path) -> Answer<[FileSystem.Entry]> {
        StandardStreams.hold()
        guard let folder = opendir(path) else { return .failure(-errno) }
        defer { closedir(folder) }
        var entries: [FileSystem.Entry] = []
        guard let offset = MemoryLayout<dirent>.offset(of: \dirent.d_name) else {
            return .failure(-EINVAL)
        }
        while true {
            errno = 0
            guard let entry = readdir(folder) else {
                let code = errno
                return code == 0 ? .value(entries) : .failure(-code)
            }
            // The name may be longer than the imported field.
            let start = UnsafeRawPointer(entry) + offset
            let name = [UInt8](
                UnsafeRawBufferPointer(
                    start: start,
                    count: strlen(start.assumingMemoryBound(to: CChar.self))
                )
            )
            guard name != [dot], name != [dot, dot] else { continue }
            entries.append(
                FileSystem.Entry(
                    name: name,
                    kind: kind(of: entry.pointee.d_type, name, in: path)
                )
            )
        }
    }

    private static let dot = UInt8(ascii: ".")

    /// Some file systems do not store the kind of an entry in its folder.
    private static func kind(
        of type: UInt8,
        _ name: [UInt8],
        in folder: Path
    ) -> FileSystem.Kind {
        switch Int32(type) {
        case Int32(DT_REG): return .file
        case Int32(DT_DIR): return .folder
        case Int32(DT_UNKNOWN):
            let separator = [CChar(bitPattern: UInt8(ascii: "/"))]
            let path =
                String(cString: folder).utf8CString.dropLast() + separator
                + name.map(CChar.init(bitPattern:)) + [0]
            guard case .value(let status) = statusAt(Array(path)) else { return .other }
            return status.kind
        default: return .other
        }
    }

    #if canImport(Darwin)
        @Sendable
        package static func spelling(_ path: Path) -> Answer<[UInt8]> {
            let file = StandardStreams.avoiding { Foundation.open(path, O_EVTONLY | O_CLOEXEC) }
            guard file >= 0 else { return .failure(file) }
            defer { _ = close(file) }
            var spelled = [CChar](repeating: 0, count: Int(MAXPATHLEN))
            guard fcntl(file, F_GETPATH, &spelled) != -1 else { return .failure(-errno) }
            return .value(spelled.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)))
        }
    #else
        /// File names are case-sensitive here, so the stored spelling is that of the path.
        @Sendable
        package static func spelling(_ path: Path) -> Answer<[UInt8]> {
            if case .failure(let code) = statusAt(path) { return .failure(code) }
            return .value([UInt8](UnsafeRawBufferPointer(start: path, count: strlen(path))))
        }
    #endif
}
