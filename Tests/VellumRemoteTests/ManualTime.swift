import VellumCore
import VellumRemote

/// A steady clock that a test sets, in milliseconds.
final class ManualTime: Sendable {
    private let value = Locked<Int64>(0)

    var clock: CoarseClock { CoarseClock { [self] in value.withLock { $0 } } }

    func set(_ milliseconds: Int64) { value.withLock { $0 = milliseconds } }

    /// The same, unless it is later already.
    func reach(_ milliseconds: Int64) { value.withLock { $0 = max($0, milliseconds) } }
}
