import VellumCore
import VellumEngine

/// The result of opening a damaged store, reading it, writing to it, and reopening it.
struct Findings: Sendable {
    /// Values whose bytes were never recorded under their keys, and other defects.
    var wrong: [String] = []
    /// Values that were overwritten or removed later.
    var outdated: [SampleStore.Place] = []
    /// Values that cannot be found any more at the end.
    var lost: Set<SampleStore.Place> = []
    /// Whether an error, an event or a report indicated the damage.
    var isReported = false
    /// The reason for which the file was left unchanged.
    var refusal: VellumError.Code?
    /// How often the file was set aside.
    var setAside = 0
    var salvaged = 0
    /// Whether more than single entries is damaged after the last opening.
    var isBroken = false
    /// The damage after the last opening.
    var remains: [String] = []
}
