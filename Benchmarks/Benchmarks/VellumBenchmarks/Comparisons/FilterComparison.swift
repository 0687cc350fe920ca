import Benchmark
import Dispatch
import Foundation
import Samples
import Vellum

/// A condition on a property without an index: both sides decode every object.
enum FilterComparison {
    static func make(_ scale: Scale) -> Comparison {
        Comparison(
            work: .unindexed,
            subject: Resident.title,
            scale: scale,
            sides: [("Vellum", nil), ("all rows by hand", 1.2), ("Vellum, stream", nil)],
            rounds: 20,
            seconds: 60
        ) { workspace in
            let folder = try StoreFixture<Resident>(workspace: workspace, count: scale.rawValue)
                .folder(.vellum)
            let factory = ArchivesFactory(directory: folder)
            let store = try factory.store(
                for: Resident.self,
                memoryLimit: 1.megaByte,
                diskLimit: .everything
            )
            let all = try QueryByHand<Resident>(
                folder.appendingPathComponent("Archives.sqlite").path,
                "SELECT bytes FROM entries"
            )
            // Every hundredth.
            let part = "77@"
            let found = scale.rawValue / 100
            func check(_ count: Int) {
                precondition(count == found, "\(count) objects instead of \(found)")
            }
            return Course(
                turns: [
                    Turn {
                        check(try store.fetch(where: #Predicate { $0.email.contains(part) }).count)
                    },
                    Turn {
                        check(try all.values { _ in }.filter { $0.email.contains(part) }.count)
                    },
                    Turn {
                        let count = try waiting {
                            var count = 0
                            for try await _ in store.stream(
                                where: #Predicate { $0.email.contains(part) }
                            ) { count += 1 }
                            return count
                        }
                        check(count)
                    },
                ],
                end: factory.close
            )
        }
    }

    /// Runs asynchronous work, and waits for it.
    private static func waiting(_ body: @escaping @Sendable () async throws -> Int) throws -> Int {
        final class Promise: Sendable {
            let result = LockedBox<Result<Int, any Error>>(.success(0))
        }
        let promise = Promise()
        let done = DispatchSemaphore(value: 0)
        Task.detached {
            let result: Result<Int, any Error>
            do { result = .success(try await body()) } catch { result = .failure(error) }
            promise.result.withLock { $0 = result }
            done.signal()
        }
        done.wait()
        return try promise.result.withLock { $0 }.get()
    }
}
