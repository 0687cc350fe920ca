// Two processes share a file: one changes a queue, the other prints each new answer of a query,
// with the delay of the change.
//
//     make demo-observe

import Foundation
import Vellum

let arguments = CommandLine.arguments
if arguments.count == 4, arguments[1] == "writer", let end = Double(arguments[3]) {
    try Writer(folder: URL(fileURLWithPath: arguments[2])).run(until: end)
    exit(0)
}

let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
    "Observe-\(UUID().uuidString)"
)
let factory = ArchivesFactory(directory: folder)
let (jobs, changes): (ArchiveStore<Job>, ArchiveStore<LastChange>) = (
    try factory.store(), try factory.store()
)
let end = LastChange.now() + 15
let writer = Process()
writer.executableURL = URL(fileURLWithPath: arguments[0])
writer.arguments = ["writer", folder.path, "\(end)"]
try writer.run()
print(
    """
    Another process changes a queue. This one observes the first five open jobs; it asks nothing \
    while nothing changes.\n
    """
)

let observing = Task {
    var seen: Double?
    for try await open in jobs.observe(
        where: #Predicate { !$0.isDone },
        sortedBy: [SortDescriptor(\.number)],
        limit: 5
    ) {
        let (now, last) = (LastChange.now(), try changes.access(archiveWithKey: "last"))
        let cause = last.flatMap {
            $0.moment > seen ?? 0
                ? """
                \($0.what), \
                \(((now - $0.moment) * 1000).formatted(.number.precision(.fractionLength(1)))) ms \
                ago
                """
                : nil
        }
        seen = last?.moment ?? 0
        let time = (now - end + 15).formatted(.number.precision(.fractionLength(1)))
        print(
            """
            \(time) s  open: \(open.map { "\($0.number)" }.joined(separator: ", ")) \
            (\(cause ?? (seen == nil ? "at first" : "an age has begun or ended")))
            """
        )
        fflush(nil)
    }
}
try await Task.sleep(for: .seconds(max(0, end - LastChange.now())))
observing.cancel()
try await observing.value
writer.waitUntilExit()
try factory.close()
try FileManager.default.removeItem(at: folder)
