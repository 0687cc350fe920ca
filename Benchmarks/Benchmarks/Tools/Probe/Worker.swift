import Dispatch
import Samples
import Synchronization

/// A thread that repeats an operation and measures each one.
final class Worker: Sendable {
    private let isOver = Atomic(false)
    private let done = DispatchSemaphore(value: 0)
    private let samples = Mutex<[Double]>([])

    /// Starts immediately. An error of `body` ends the program, because the measurement is void
    /// then.
    init(_ body: @escaping @Sendable (_ number: Int) throws -> Void) {
        DispatchQueue(label: "vellum.benchmarks.worker").async { [self] in
            var taken: [Double] = []
            while !isOver.load(ordering: .acquiring) {
                let start = DispatchTime.now().uptimeNanoseconds
                do {
                    try body(taken.count)
                } catch {
                    fatalError("\(error)")
                }
                taken.append(Double(DispatchTime.now().uptimeNanoseconds - start))
            }
            let all = taken
            samples.withLock { $0 = all }
            done.signal()
        }
    }

    /// Ends the thread and returns the times.
    func stop() -> Distribution { Distribution(stopInOrder()) }

    /// Ends the thread and returns the times in the order of the operations, in nanoseconds.
    func stopInOrder() -> [Double] {
        isOver.store(true, ordering: .releasing)
        done.wait()
        return samples.withLock { $0 }
    }
}
