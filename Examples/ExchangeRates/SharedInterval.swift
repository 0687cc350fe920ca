import Synchronization

/// A number of seconds that any thread may read and change.
final class SharedInterval: Sendable {
    private let value = Mutex(0.0)

    var seconds: Double {
        get { value.withLock { $0 } }
        set { value.withLock { $0 = newValue } }
    }
}
