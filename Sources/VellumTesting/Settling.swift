internal import VellumCore
internal import VellumEngine

/// Waits until what runs in the background has nothing left to do.
enum Settling {
    /// How long to wait for code of the test itself: a loader, or the body of a loop.
    private static let patience = Duration.seconds(1)

    /// Waits until the loads have ended that no gate holds, and then for the observers.
    static func settle(loadsIn files: [DatabaseFile], _ observers: [ChangeObserver]) async {
        let loads = Set(files.flatMap(\.runningLoads))
        await wait { loads.isDisjoint(with: files.flatMap(\.runningLoads).filter { !GatedLoads.contains($0) }) }
        await settle(observers)
    }

    /// Makes the observers ask, and waits until each waits for the next change. Those that do not ask for an answer are waited for as long as
    /// ``patience`` says, from their last answer on.
    static func settle(_ observers: [ChangeObserver]) async {
        for observer in observers {
            while !observer.isPrompt, !observer.isAsking, let last = observer.lastAnswer, last.duration(to: .now) < patience {
                await pause()
            }
        }
        let observers = observers.filter { $0.isPrompt || $0.isAsking }
        for observer in observers { observer.signal() }
        for observer in observers {
            // A question takes as long as it takes.
            while !observer.isSettled, observer.isPrompt || observer.isAsking { await pause() }
            await wait { observer.isSettled }
        }
    }

    /// Waits until something is true, for as long as ``patience`` says.
    private static func wait(_ isTrue: () -> Bool) async {
        let end = ContinuousClock.now + patience
        while !isTrue(), ContinuousClock.now < end { await pause() }
    }

    /// Lets other tasks go on, also those of a lower priority, for which `Task.yield()` would not wait.
    static func pause() async {
        await withCheckedContinuation { continuation in Lane.visits.start { continuation.resume() } }
    }
}
