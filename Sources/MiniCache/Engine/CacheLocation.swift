internal import Foundation

/// Which cache of a file a handle is for: its name and its version.
@usableFromInline
struct CacheLocation: Hashable, Sendable {
    let name: String
    let version: String

    /// The name of the archive. Each version has an archive of its own, so that versions never mix.
    ///
    /// The name, U+0000 and the version, where U+0000 and U+0001 in the name are escaped as U+0001 `0` and U+0001 `1`.
    var archiveName: String {
        let name = name.unicodeScalars.reduce(into: "") { name, scalar in
            switch scalar.value {
            case 0: name += "\u{1}0"
            case 1: name += "\u{1}1"
            default: name.unicodeScalars.append(scalar)
            }
        }
        return name + "\u{0}" + version
    }

    /// Returns the location that an archive has.
    init(ofArchive archiveName: String) {
        name = Self.name(ofArchive: archiveName)
        version = String(String.UnicodeScalarView(archiveName.unicodeScalars.drop { $0 != "\u{0}" }.dropFirst()))
    }

    init(name: String, version: String) {
        self.name = name
        self.version = version
    }

    /// Returns the name of the cache that an archive belongs to.
    static func name(ofArchive archiveName: String) -> String {
        let name = String(String.UnicodeScalarView(archiveName.unicodeScalars.prefix { $0 != "\u{0}" }))
        return name.replacingOccurrences(of: "\u{1}0", with: "\u{0}").replacingOccurrences(of: "\u{1}1", with: "\u{1}")
    }
}
