import Foundation
import Vellum

/// A job of a queue that two processes share.
struct Job: ArchiveCodable, IndexedArchivable, Equatable, Sendable {
    static var archiveIndexes: [ArchiveIndex<Job>] { [.index(\.isDone, \.number)] }

    var primaryKey: String { "\(number)" }
    var number: Int
    var title: String
    var isDone = false
}

/// When the queue was changed last, written in the same transaction.
struct LastChange: ArchiveCodable, Sendable {
    var primaryKey = "last"
    var what: String
    /// Seconds of the clock that all processes of a machine share.
    var moment = LastChange.now()

    static func now() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
