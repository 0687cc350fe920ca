import CrashScript
import VellumCore
import VellumEngine

/// The states that the file may hold after a process was killed. Each comprises all archives.
struct Expectation {
    /// From the oldest to the newest.
    private(set) var states: [Model]
    /// The operation in progress when the process was killed.
    private(set) var underWay: Step?
    /// The newest state that was acknowledged.
    private(set) var acknowledged: Model
    /// The current time in every state.
    private(set) var now: Int64
    private var bytesAtRisk: [Int] = [0]

    init(_ journal: JournalEntries) {
        states = [journal.start]
        acknowledged = journal.start
        now = journal.start.now
        for (number, instant, operation, isDone) in journal.operations {
            var model = acknowledged
            model.operations = number
            model.now = instant
            guard isDone else {
                underWay = operation
                model.apply(operation)
                states.append(model)
                now = max(now, model.now)
                break
            }
            let isDurable = operation.isDurable(after: acknowledged, at: instant)
            model.apply(operation)
            acknowledged = model
            now = model.now
            if isDurable { (states, bytesAtRisk) = ([], []) }
            states.append(model)
            bytesAtRisk.append(operation.bytes)
            // Relaxed durability may lose at most 256 writes, or one megabyte.
            while states.count > 257 || bytesAtRisk.dropFirst().reduce(0, +) > 1 << 20 {
                states.removeFirst()
                bytesAtRisk.removeFirst()
            }
        }
    }

    /// The newest state that equals the contents found, if any.
    func state(of found: [ScriptArchive: [String: Int]]) -> Model? {
        if let state = states.last(where: { $0.contents(at: now) == found }) { return state }
        guard let underWay, let archive = acknowledged.shelfThatShrinks(during: underWay) else {
            return nil
        }
        // The operation was partly carried out.
        var partial = acknowledged
        partial.operations += 1
        partial.now = now
        let removed =
            acknowledged.visible(on: archive, at: now).count - (found[archive]?.count ?? 0)
        partial.apply(underWay, removingAtMost: max(0, removed))
        guard partial.contents(at: now) == found else { return nil }
        // The old limit applies until the change is complete.
        partial.tightLimit = acknowledged.tightLimit
        return partial
    }
}

extension Model {
    /// The contents that a reader finds, by archive.
    func contents(at now: Int64) -> [ScriptArchive: [String: Int]] {
        var contents: [ScriptArchive: [String: Int]] = [:]
        for archive in ScriptArchive.allCases {
            let visible = visible(on: archive, at: now)
            if !visible.isEmpty { contents[archive] = visible }
        }
        return contents
    }
}

extension Step {
    /// Whether every earlier operation survives a killed process once this one is complete.
    func isDurable(after model: Model, at instant: Int64) -> Bool {
        switch self {
        // Without an item there is no transaction.
        case .move(let from, let to, let key):
            model.visible(on: from, at: instant)[key] != nil && to.durability > .relaxed
        case .update(let archive, _): archive.durability > .relaxed
        case .write(let changes): changes.contains { $0.archive.durability > .relaxed }
        case .flush, .reopen, .index, .replace, .starved: true
        default: false
        }
    }

    var bytes: Int {
        if case .update = self { return 400 }
        guard case .write(let changes) = self else { return 0 }
        return changes.reduce(0) { sum, change in
            if case .put(let filling, _) = change.kind { sum + filling } else { sum }
        }
    }
}
