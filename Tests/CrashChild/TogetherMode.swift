import Dispatch
import Vellum

/// Records in many tasks, whose writes share commits.
enum TogetherMode {
    static let tasks = 32

    static func run(_ store: ArchiveStore<Item>, _ prefix: String, _ count: Int) {
        let end = DispatchSemaphore(value: 0)
        for task in 0..<tasks {
            Task {
                do {
                    for number in 0..<count {
                        try await store.async.record(.expected("\(prefix)\(task)-\(number)"))
                        say("\(task)-\(number)")
                    }
                } catch {
                    say("\(error)")
                }
                end.signal()
            }
        }
        for _ in 0..<tasks { end.wait() }
    }
}
