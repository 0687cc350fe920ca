internal import Foundation

/// Whether the names in a folder are case-sensitive.
enum CaseSensitivity: Sendable, CaseIterable {
    /// `"a"` and `"A"` are two files.
    case sensitive
    /// `"a"` and `"A"` are one file.
    case insensitive

    /// The case sensitivity of the volume that the folder is on, or will be on. Calls the system.
    ///
    /// A volume that does not tell is treated as insensitive, which is safe on both kinds. On Linux volumes are sensitive.
    static func ofVolume(at path: String) -> CaseSensitivity {
        #if canImport(Darwin)
            var folder = URL(fileURLWithPath: path)
            while true {
                switch pathconf(folder.path, _PC_CASE_SENSITIVE) {
                case 1: return .sensitive
                case -1 where errno == ENOENT && folder.path != "/": folder.deleteLastPathComponent()
                default: return .insensitive
                }
            }
        #else
            return .sensitive
        #endif
    }
}
