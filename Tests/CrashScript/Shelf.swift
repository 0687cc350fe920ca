package import VellumCore
internal import VellumEngine

/// An archive of the script, by what it promises.
package enum State: String, CaseIterable, Sendable {
    /// Survives a killed process.
    case safe
    /// Survives power loss.
    case power
    /// May lose its last writes.
    case relaxed
    /// Holds little.
    case tight
    /// What lies in it expires.
    case fleeting
    /// Large objects.
    case bulky
    /// A version of a cache and the one that replaces it, which share a limit.
    case versionOne, versionTwo

    package var durability: Durability {
        switch self {
        case .power: .powerSafe
        case .relaxed: .relaxed
        default: .crashSafe
        }
    }

    package var isVersion: Bool { self == .versionOne || self == .versionTwo }

    package var otherVersion: State { self == .versionOne ? .versionTwo : .versionOne }

    /// What a version and the one that it replaces may hold together.
    package static let versionLimit = 4000
    /// What the tight shelf may hold if nothing else was said.
    package static let tightLimit = 6000
}
