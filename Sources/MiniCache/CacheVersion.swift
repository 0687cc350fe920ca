internal import Foundation

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// What a cache's values were written by: a cache finds only values of its own version.
///
/// Values of another version are never returned, from the moment a cache is asked for with a new one, and are not removed at
/// once either: an app and its extension, or a short downgrade, do not wipe each other's values.
public enum CacheVersion: Hashable, Sendable {
    /// Changes with the program: version and build number of its `Info.plist`.
    ///
    /// A program without an `Info.plist`, as on Linux, goes by its executable instead: size, modification date and the first 8 KB.
    /// Looked at once in a process. Builds that are made alike to the second have one version, and a library that is replaced by
    /// itself changes none: give a ``custom(_:)`` version where values depend on one.
    case appVersion
    /// A text to change by hand when the types in the cache change in a way that old values do not fit.
    case custom(String)

    var text: String {
        switch self {
        case .appVersion: ProgramVersion.current
        case .custom(let text): text
        }
    }
}

/// What tells one build of the running program from another.
enum ProgramVersion {
    static let current = text(bundle: .main, executable: executable)

    static func text(bundle: Bundle, executable: String?) -> String {
        let numbers = ["CFBundleShortVersionString", "CFBundleVersion"].compactMap { bundle.object(forInfoDictionaryKey: $0) as? String }
        if !numbers.isEmpty { return numbers.joined(separator: "-") }
        return executable.flatMap(mark) ?? ""
    }

    /// Where the running program can be opened: its own file, even if another lies under its name by now.
    private static var executable: String? {
        #if os(Linux)
            "/proc/self/exe"
        #else
            Bundle.main.executablePath ?? CommandLine.arguments.first
        #endif
    }

    /// Size, date and a hash (FNV-1a) of the first 8 KB of a file.
    static func mark(ofFile path: String) -> String? {
        guard let file = FileHandle(forReadingAtPath: path) else { return nil }
        do {
            let head = try file.read(upToCount: 8192) ?? Data()
            // Of the file that is open, not of what lies under its name by now.
            var status = stat()
            guard fstat(file.fileDescriptor, &status) == 0 else { return nil }
            #if canImport(Darwin)
                let date = status.st_mtimespec
            #else
                let date = status.st_mtim
            #endif
            try file.close()
            let hash = head.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01B3 }
            return "program-\(status.st_size)-\(date.tv_sec).\(date.tv_nsec)-\(String(hash, radix: 16))"
        } catch {
            return nil
        }
    }
}
