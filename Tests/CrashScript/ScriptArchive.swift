package import VellumCore
internal import VellumEngine

/// An archive of the script, by its guarantee.
package enum ScriptArchive: String, CaseIterable, Sendable {
    /// Survives a killed process.
    case safe
    /// Survives power loss.
    case power
    /// May lose its last writes.
    case relaxed
    /// Has a low limit.
    case tight
    /// Its entries expire.
    case fleeting
    /// Large objects.
    case bulky
    /// A cache, which is opened with one version and with another.
    case cache

    package var durability: Durability {
        switch self {
        case .power: .powerSafe
        case .relaxed: .relaxed
        default: .crashSafe
        }
    }

    /// Whether each item is recorded in a group.
    package var hasGroups: Bool { self == .cache || self == .bulky }

    /// The limit of the cache.
    package static let cacheLimit = 4000
    /// The default limit of the tight archive.
    package static let tightLimit = 6000
}
