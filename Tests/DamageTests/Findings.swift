import VellumCore
import VellumEngine

/// What came of opening a damaged store, reading it, writing to it, and opening it again.
struct Findings: Sendable {
    /// Values whose bytes were never recorded under their keys, and whatever else must not be.
    var wrong: [String] = []
    /// Values that were overwritten or removed later.
    var outdated: [SampleStore.Place] = []
    /// What is not found any more, after all is done.
    var lost: Set<SampleStore.Place> = []
    /// Whether an error, an event or a report told of the damage.
    var isTold = false
    /// Why the file was left as it is.
    var refusal: VellumError.Code?
    /// How often the file was set aside.
    var setAside = 0
    var salvaged = 0
    /// Whether more than single entries is wrong after the last opening.
    var isBroken = false
    /// What is wrong after the last opening.
    var remains: [String] = []
    var seconds = 0.0
}
