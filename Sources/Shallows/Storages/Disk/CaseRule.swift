internal import Foundation

/// Whether a folder tells names apart that differ by case alone.
enum CaseRule: Sendable, CaseIterable {
    /// `"a"` and `"A"` are two files.
    case sensitive
    /// `"a"` and `"A"` are one file.
    case insensitive

    /// The rule of the volume that the folder is on, or will be on. Blocks for a call of the system.
    ///
    /// Where a volume does not say, it is taken for one that does not tell them apart, since nothing is lost by that. On Linux volumes
    /// do.
    static func ofVolume(at path: String) -> CaseRule {
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
