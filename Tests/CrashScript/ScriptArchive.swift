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
    /// A version of a cache and its replacement, which share a limit.
    case versionOne, versionTwo

    package var durability: Durability {
        switch self {
        case .power: .powerSafe
        case .relaxed: .relaxed
        default: .crashSafe
        }
    }

    package var isVersion: Bool { self == .versionOne || self == .versionTwo }

    package var otherVersion: ScriptArchive { self == .versionOne ? .versionTwo : .versionOne }

    /// The common limit of a version and its replacement.
    package static let versionLimit = 4000
    /// The default limit of the tight archive.
    package static let tightLimit = 6000
}
