internal import VellumCore
internal import VellumEngine

/// Waits until what runs in the background has nothing left to do.
enum Settling {
    /// How long to wait for the body of a loop; ten times as long for a loader. So many pauses, a
    /// second in all, which take longer where the machine is busy.
    @TaskLocal static var patience = 1000

    /// Waits until the loads have ended that no gate holds, and then for the observers.
    static func settle(loadsIn files: [DatabaseFile], _ observers: [ChangeObserver]) async {
        let loads = Set(files.flatMap(\.runningLoads))
        await wait(10 * patience) {
            loads.isDisjoint(
                with: files.flatMap(\.runningLoads).filter { !GatedLoads.contains($0) }
            )
        }
        await settle(observers)
    }

    /// Makes the observers ask, and waits until each waits for the next change. Those that do not
    /// ask for an answer are waited for as long as ``patience`` says, unless their last answer is
    /// older than three times that: three seconds.
    static func settle(_ observers: [ChangeObserver]) async {
        for observer in observers {
            await wait(patience) {
                let age = observer.lastAnswer?.duration(to: .now)
                let recent = age.map { $0 < .milliseconds(3 * patience) }
                return recent != true || observer.isPrompt || observer.isAsking
            }
        }
        let observers = observers.filter { $0.isPrompt || $0.isAsking }
        for observer in observers { observer.signal() }
        for observer in observers {
            // A question takes as long as it takes.
            while !observer.isSettled, observer.isPrompt || observer.isAsking { await pause() }
            await wait(patience) { observer.isSettled }
        }
    }

    /// Waits until something is true, for so many pauses.
    private static func wait(_ pauses: Int, until isTrue: () -> Bool) async {
        var pausesLeft = pauses
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
