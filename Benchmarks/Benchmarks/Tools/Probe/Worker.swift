import Dispatch
import Samples
import Synchronization

/// A thread that does one thing over and over, and how long it took each time.
final class Worker: Sendable {
    private let isOver = Atomic(false)
    private let done = DispatchSemaphore(value: 0)
    private let samples = Mutex<[Double]>([])

    /// Begins at once. What `body` throws ends the program: a measurement with failures says nothing.
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

    /// Ends the thread and tells what it took.
    func stop() -> Distribution {
        isOver.store(true, ordering: .releasing)
        done.wait()
        return Distribution(samples.withLock { $0 })
    }
}
