internal import Foundation
internal import VellumCore

/// The version of a cache. A cache holds values of one version.
///
/// Opening a cache with another version than its file has removes all its values. Versions have no
/// order: a downgrade also starts empty. Two programs that share a file and differ in version
/// remove each other's values whenever one opens the cache: give both the same ``custom(_:)``, or
/// each a cache name of its own.
public enum CacheVersion: Hashable, Sendable {
    /// The version and build number in the `Info.plist` of the program.
    ///
    /// A program without an `Info.plist`, as on Linux, is identified by its executable: size,
    /// modification date and the first 8 KB, read once per process. Builds that agree in these have
    /// the same version, and replacing a library does not change the version: use ``custom(_:)`` if
    /// values depend on a library.
    case appVersion
    /// A text that you change when types in the cache change so that old values cannot be decoded.
    case custom(String)

    package var text: String {
        switch self {
        case .appVersion: ProgramVersion.current
        case .custom(let text): text
        }
    }
}

/// Identifies the build of the running program.
enum ProgramVersion {
    static let current = text(bundle: .main, executable: executable)

    static func text(bundle: Bundle, executable: String?) -> String {
        let numbers = ["CFBundleShortVersionString", "CFBundleVersion"].compactMap {
            bundle.object(forInfoDictionaryKey: $0) as? String
        }
        if !numbers.isEmpty { return numbers.joined(separator: "-") }
        return executable.flatMap(fingerprint) ?? ""
    }

    /// The path of the running program: on Linux of its own file, even if another one has its name
    /// by now.
    private static var executable: String? {
        #if os(Linux)
            "/proc/self/exe"
        #else
            Bundle.main.executablePath ?? CommandLine.arguments.first
        #endif
    }

    /// Returns the size, the date and a hash (FNV-1a) of the first 8 KB of a file, or `nil` if it
    /// cannot be read.
    static func fingerprint(ofFile path: String) -> String? {
        guard let file = FileHandle(forReadingAtPath: path) else { return nil }
        do {
            let head = try file.read(upToCount: 8192) ?? Data()
            // Of the open file, not of another one with its name.
            var status = stat()
            guard fstat(file.fileDescriptor, &status) == 0 else { return nil }
            #if canImport(Darwin)
                let date = status.st_mtimespec
            #else
                let date = status.st_mtim
            #endif
            try file.close()
            var fnv = FNV1a()
            head.withUnsafeBytes { fnv.combine($0) }
            let moment = "\(date.tv_sec).\(date.tv_nsec)"
            return "program-\(status.st_size)-\(moment)-\(String(fnv.hash, radix: 16))"
        } catch {
            return nil
        }
    }
}
