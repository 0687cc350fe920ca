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

        /// How many microseconds of two seconds.
        var threshold: Int { self == .fullStall ? 100_000 : 150_000 }

        /// How many microseconds tasks have waited, in the text of `memory.pressure`.
        fileprivate func total(in text: String) -> Int? {
            let line = text.split(separator: "\n").first {
                $0.hasPrefix(self == .fullStall ? "full " : "some ")
            }
            return line?.split(separator: " ").first { $0.hasPrefix("total=") }.flatMap {
                Int($0.dropFirst(6))
            }
        }
    }

    enum Limit: String, Sendable { case high, max }

    private var events = Events()
    private var stalls: [Signal: Int] = [:]
    private var lastWarning: Int64?

    /// How long at least is between two warnings, in milliseconds: memory may fill again meanwhile.
    private static let pause: Int64 = 10_000

    /// Notes what files say before anything was signalled.
    mutating func begin(_ texts: [(Signal, String)]) {
        for (signal, text) in texts { _ = isNew(signal, text) }
        events =
            texts.first {
                $0.0 == .events
            }.map { Events($0.1) } ?? Events()
    }

    /// - Parameters:
    ///   - signals: What the kernel notified of, with the text of the file.
    ///   - now: In milliseconds.
    ///   - anonymousShare: Returns the part of a limit that cannot be taken back from files, from 0
    ///     to 1; `nil` without a limit.
    mutating func pressure(
        _ signals: [(Signal, String)],
        at now: Int64,
        anonymousShare: (Limit) -> Double?
    ) -> MemoryPressure? {
        var pressure: MemoryPressure?
        for (signal, text) in signals {
            let level =
                signal == .events
                ? level(Events(text), anonymousShare) : isNew(signal, text) ? signal.pressure : nil
            pressure = [pressure, level].compactMap(\.self).max()
        }
        guard pressure == .warning else { return pressure }
        if let lastWarning, now - lastWarning < Self.pause { return nil }
        lastWarning = now
        return pressure
    }

    private mutating func level(
        _ new: Events,
        _ anonymousShare: (Limit) -> Double?
    ) -> MemoryPressure? {
        defer { events = new }
        // A group that reads files is always at its limits. Only what is not of files tells that it
        // is short of memory.
        func isShort(_ limit: Limit) -> Bool { anonymousShare(limit).map { $0 >= 0.75 } ?? false }
        if new.oom > events.oom
            || new.max > events.max
                && isShort(.max)
        {
            return .critical
        }
        return new.high > events.high && isShort(.high) ? .warning : nil
    }

    /// Whether tasks have waited for as long as the threshold says, since the last signal that was.
    /// The first one that the kernel sends counts what tasks have waited since it was started.
    private mutating func isNew(_ signal: Signal, _ text: String) -> Bool {
        guard let total = signal.total(in: text) else { return false }
        guard let known = stalls[signal] else {
            stalls[signal] = total
            return false
        }
        guard total - known >= signal.threshold else { return false }
        stalls[signal] = total
        return true
    }
}

extension PressureRule.Signal {
    fileprivate var pressure: MemoryPressure { self == .fullStall ? .critical : .warning }
}
