/// Decides from the signals of Linux how short of memory the process is. A pure value.
struct PressureRule: Sendable {
    /// What a control group has counted: `memory.events`.
    struct Events: Hashable, Sendable {
        /// How often the group was throttled because it was above `memory.high`.
        var high = 0
        /// How often it was about to be larger than `memory.max`.
        var max = 0
        /// How often no memory could be found.
        var oom = 0

        init() {}

        init(_ text: String) {
            for line in text.split(separator: "\n") {
                let words = line.split(separator: " ")
                guard words.count == 2, let count = Int(words[1]) else { continue }
                switch words[0] {
                case "high": high = count
                case "max": max = count
                case "oom": oom = count
                default: break
                }
            }
        }
    }

    /// What the kernel notifies of.
    enum Signal: Hashable, Sendable {
        case events
        /// Some task, or every task that could run, waited for memory for a part of two seconds.
        case someStall, fullStall
    }

    private var known: Events?

    init(_ events: Events?) { known = events }

    /// - Parameters:
    ///   - events: What the group has counted now; `nil` if there is no group.
    ///   - fired: What the kernel notified of.
    ///   - anonymousShare: The part of the group's limit that cannot be taken back from files, from 0 to 1; `nil` without a limit.
    mutating func pressure(_ events: Events?, _ fired: [Signal], anonymousShare: @autoclosure () -> Double?) -> MemoryPressure? {
        let old = known ?? Events()
        let new = events ?? old
        known = new
        if new.oom > old.oom || fired.contains(.fullStall) { return .critical }
        // A group that reads files is always at its limit. Only what is no file tells that it is short of memory.
        if new.max > old.max, let share = anonymousShare(), share >= 0.75 { return .critical }
        return new.high > old.high || fired.contains(.someStall) ? .warning : nil
    }
}
