internal import VellumCore
internal import VellumEngine

/// Waits until what runs in the background has nothing left to do.
enum Settling {
    /// How long to wait for code of the test itself: a loader, or the body of a loop. So many pauses,
    /// a second in all, which take longer where the machine is busy.
    @TaskLocal static var patience = 1000

    /// Waits until the loads have ended that no gate holds, and then for the observers.
    static func settle(loadsIn files: [DatabaseFile], _ observers: [ChangeObserver]) async {
        let loads = Set(files.flatMap(\.runningLoads))
        await wait { loads.isDisjoint(with: files.flatMap(\.runningLoads).filter { !GatedLoads.contains($0) }) }
        await settle(observers)
    }

    /// Makes the observers ask, and waits until each waits for the next change. Those that do not ask for an answer are waited for as long as
    /// ``patience`` says, unless their last answer is older than three seconds.
    static func settle(_ observers: [ChangeObserver]) async {
        for observer in observers {
            await wait {
                let recent = observer.lastAnswer.map { $0.duration(to: .now) < .seconds(3) }
                return recent != true || observer.isPrompt || observer.isAsking
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
        var pausesLeft = patience
        while pausesLeft > 0, !isTrue() {
            pausesLeft -= 1
            await pause()
        }
    }

    /// Lets others go on for a millisecond, or for a turn if the task is cancelled.
    static func pause() async {
        do { try await Task.sleep(for: .milliseconds(1)) } catch {
            await withCheckedContinuation { turn in Lane.visits.start { turn.resume() } }
        }
    }
}
