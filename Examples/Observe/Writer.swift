import Foundation
import Vellum

/// The process that changes the queue.
struct Writer {
    let factory: ArchivesFactory
    let jobs: ArchiveStore<Job>
    let changes: ArchiveStore<LastChange>

    init(folder: URL) throws {
        factory = ArchivesFactory(directory: folder)
        (jobs, changes) = (try factory.store(), try factory.store())
    }

    func run(until end: Double) throws {
        var number = 0
        while LastChange.now() < end - 1.5 {
            number += 1
            switch number % 6 {
            case 0:
                try change("job \(number - 5) is deleted") {
                    $0.delete(archiveWithKey: "\(number - 5)", in: jobs)
                }
            case 3:
                var job = Job(number: number - 1, title: "write the letter")
                job.isDone = true
                try change("job \(number - 1) is done") { try $0.record(job, in: jobs) }
            case 4:
                // No process tells the other of the end of an age.
                try jobs.record(
                    Job(number: number, title: "call back within a second"),
                    expiration: .after(.seconds(1))
                )
            default:
                try change("job \(number) is new") {
                    try $0.record(Job(number: number, title: "write the letter"), in: jobs)
                }
            }
            usleep(700_000)
        }
        try factory.close()
    }

    private func change(_ what: String, _ body: (inout ArchiveTransaction) throws -> Void) throws {
        try factory.transaction { transaction in
            try body(&transaction)
            try transaction.record(LastChange(what: what), in: changes)
        }
    }
}
