/// How short of memory the system, or the container of the process, is.
///
/// Archives, caches, `LRUStorage` and the memory of shared caches give memory back by themselves
/// (decision 85). Objects on disk stay there.
///
/// | | ``warning`` | ``critical`` |
/// | --- | --- | --- |
/// | an archive, a cache, `SQLiteStorage` | keeps half | keeps nothing that the disk has |
/// | `LRUStorage`, a shared cache | keeps half | keeps an eighth |
///
/// Objects of an archive that are only in memory, such as one that is larger than the disk limit,
/// stay. Limits do not change: memory fills again when objects are used.
///
/// The signals are those of the system on Apple platforms
/// (`DispatchSource.makeMemoryPressureSource`); on Linux `memory.events` of the control group
/// (version 2) and the stalls that the kernel measures (PSI, `memory.pressure`), of the group or
/// else of the machine. Where neither can be read, nothing happens. There, one thread waits for
/// them, from the time that the first of these opens.
///
/// Sources: "Control Group v2" and "PSI" in the documentation of the Linux kernel.
public enum MemoryPressure: Int, Hashable, Comparable, Sendable, CaseIterable {
    /// Memory is short: half of what is kept for speed should go.
    case warning
    /// The process may be killed, or waits for memory most of the time.
    case critical

    /// Whether one is less serious than the other.
    public static func < (one: MemoryPressure, other: MemoryPressure) -> Bool {
        one.rawValue < other.rawValue
    }

    /// Whether memory is given back when the system asks for it. By default `true`. Applies to the
    /// whole process.
    public static var isFollowed: Bool {
        get { MemoryHolders.shared.follows }
        set { MemoryHolders.shared.follows = newValue }
    }

    /// Gives memory back now, also where ``isFollowed`` is `false`: for a program with another
    /// signal, such as `UIApplication.didReceiveMemoryWarningNotification`.
    ///
    /// Runs on the caller's thread, and releases the objects there. Does not block for the disk.
    /// With glibc, the allocator then returns unused memory to the system (`malloc_trim`), which
    /// may take a tenth of a second for hundreds of megabytes.
    ///
    /// - Complexity: O(objects in memory).
    public static func announce(_ pressure: MemoryPressure) {
        MemoryHolders.shared.release(under: pressure)
    }
}

extension MemoryPressure {
    /// The part that stays of values that are only in memory.
    package var keptFraction: Double { self == .critical ? 0.125 : 0.5 }
}

/// What keeps in memory what it need not have.
package protocol MemoryHolder: AnyObject, Sendable {
    /// Called on any thread, without a lock.
    func release(under pressure: MemoryPressure)
}

/// Everything in this process that keeps something in memory for speed.
package final class MemoryHolders: Sendable {
    private struct State {
        var holders: [WeakHolder] = []
        /// How many there may be before those that are gone are removed.
        var most = 64
        var follows = true
        var isStarted = false

        mutating func mayStart() -> Bool {
            guard follows, !isStarted else { return false }
            isStarted = true
            return true
        }
    }

    // A class, because the compiler of Swift 6.3 misreads an optional struct with a weak reference.
    private final class WeakHolder {
        weak var holder: (any MemoryHolder)?

        init(_ holder: any MemoryHolder) { self.holder = holder }
    }

    package static let shared = MemoryHolders { PressureSource.start($0) }

    private let state = Locked(State())
    private let start: @Sendable (MemoryHolders) -> Void

    /// - Parameter start: Begins to wait for the signals of the system.
    package init(start: @escaping @Sendable (MemoryHolders) -> Void) { self.start = start }

    package func insert(_ holder: any MemoryHolder) {
        // What the weak references had: the last reference to one is released outside the lock.
        var found: [any MemoryHolder] = []
        defer { withExtendedLifetime(found) {} }
        let isFirst = state.withLock { state in
            if state.holders.count >= state.most {
                state.holders.removeAll { known in
                    guard let holder = known.holder else { return true }
                    found.append(holder)
                    return false
                }
                state.most = 2 * state.holders.count + 64
            }
            state.holders.append(WeakHolder(holder))
            return state.mayStart()
        }
        if isFirst { start(self) }
    }

    var follows: Bool {
        get { state.withLock { $0.follows } }
        set {
            let isFirst = state.withLock { state in
                state.follows = newValue
                return !state.holders.isEmpty && state.mayStart()
            }
            if isFirst { start(self) }
        }
    }

    /// How many are known, with some that are gone.
    var count: Int { state.withLock { $0.holders.count } }

    /// The system is short of memory.
    func systemDidAnnounce(_ pressure: MemoryPressure) {
        if follows { release(under: pressure) }
    }

    package func release(under pressure: MemoryPressure) {
        // Released outside the lock: the last reference to one may be among them.
        let holders = state.withLock { state in state.holders.compactMap(\.holder) }
        for holder in holders { holder.release(under: pressure) }
        Self.giveBackUnused()
    }
}
