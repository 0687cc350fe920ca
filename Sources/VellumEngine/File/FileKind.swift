internal import VellumCore

/// What a file holds. Stored in the file's header, so that archives, caches and storages never share a file by mistake.
package enum FileKind: Int32, Sendable, CaseIterable {
    /// Archives of Vellum: "VELM".
    case archives = 0x5645_4C4D
    /// Caches of MiniCache: "VELC".
    case caches = 0x5645_4C43
    /// A storage of ShallowsSQLite: "VELS".
    case storage = 0x5645_4C53

    /// SQLite's application ID, which marks the program that owns a file (sqlite.org/fileformat2.html, 1.3).
    var applicationID: Int32 { rawValue }

    var name: String {
        switch self {
        case .archives: "archives of Vellum"
        case .caches: "caches of MiniCache"
        case .storage: "a storage of ShallowsSQLite"
        }
    }
}
