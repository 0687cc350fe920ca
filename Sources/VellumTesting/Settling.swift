internal import VellumCore
internal import VellumEngine

/// Waits until what runs in the background has nothing left to do.
enum Settling {
    /// How long to wait for code of the test itself: a loader, or the body of a loop. A second, and so
    /// many turns of others, which take longer where the machine is busy.
    private struct Patience {
        private static let turns = 5000

        let begin: ContinuousClock.Instant
        var turns = 0

        mutating func isOver() -> Bool {
            turns += 1
            return turns > Self.turns && begin.duration(to: .now) > .seconds(1)
        }
    }

    /// Waits until the loads have ended that no gate holds, and then for the observers.
    static func settle(loadsIn files: [DatabaseFile], _ observers: [ChangeObserver]) async {
        let loads = Set(files.flatMap(\.runningLoads))
        await wait { loads.isDisjoint(with: files.flatMap(\.runningLoads).filter { !GatedLoads.contains($0) }) }
        await settle(observers)
    }

    /// Makes the observers ask, and waits until each waits for the next change. Those that do not ask for an answer are waited for as long as
    /// ``Patience`` says, from their last answer on.
    static func settle(_ observers: [ChangeObserver]) async {
        for observer in observers {
            guard let last = observer.lastAnswer else { continue }
            var patience = Patience(begin: last)
            while !observer.isPrompt, !observer.isAsking, !patience.isOver() { await pause() }
        }
        let observers = observers.filter { $0.isPrompt || $0.isAsking }
        for observer in observers { observer.signal() }
        for observer in observers {
            // A question takes as long as it takes.
            while !observer.isSettled, observer.isPrompt || observer.isAsking { await pause() }
            await wait { observer.isSettled }
        }
    }

    /// Waits until something is true, for as long as ``Patience`` says.
    private static func wait(_ isTrue: () -> Bool) async {
        var patience = Patience(begin: .now)
        while !isTrue(), !patience.isOver() { await pause() }
    }

    /// Lets other tasks go on, also those of a lower priority, for which `Task.yield()` would not wait.
    static func pause() async {
        await withCheckedContinuation { continuation in Lane.visits.start { continuation.resume() } }
    }
}
