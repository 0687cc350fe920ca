import CrashScript
import Foundation
import TestThreads
import Testing
import Vellum

/// A program of a later version: it keeps words of its own in `-changes`, in the places that this
/// version leaves to it and behind the changes.
///
///     CrashChild later FOLDER COUNT
enum LaterMode {
    static func run(_ arguments: [String]) throws {
        guard arguments.count == 4, let count = Int(arguments[3]) else { exit(2) }
        let folder = URL(fileURLWithPath: arguments[2])
        let store: ArchiveStore<Twin> = try whileBusy {
            try ArchivesFactory(directory: folder).store(diskLimit: .unlimited)
        }
        let words = try LaterWords(folder.appendingPathComponent("Archives.sqlite-changes").path)
        say("begins")
        var last = 0
        for number in 1...count {
            words.write(UInt64(number))
            try whileBusy { try store.record(Twin("later", number)) }
            guard words.areAll(UInt64(number)) else {
                fail("The words were changed by another program.")
            }
            let other = try store.access(archiveWithKey: "other")?.number ?? 0
            guard other >= last else { fail("\(other) came after \(last).") }
            last = other
        }
        say("done")
        // The other program may record for longer: its last number must be seen, too.
        func hasLast() throws -> Bool { try store.access(archiveWithKey: "other")?.number == count }
        try blockUntil("the other program has recorded its last number", hasLast)
        guard try hasLast() else { fail("The last number of the other program was not seen.") }
        guard words.areAll(UInt64(count)) else {
            fail("The words were changed by another program.")
        }
    }

    private static func fail(_ reason: String) -> Never {
        say("wrong: \(reason)")
        exit(1)
    }
}

/// Words in the file `-changes` that this version does not know.
private struct LaterWords {
    private let start: UnsafeMutablePointer<UInt64>
    private static let changes = 4096 + 4096 * 32
    private static let more = 8192
    private static let places = [10, 100, 127, changes / 8, (changes + more) / 8 - 1]

    init(_ path: String) throws {
        let file = open(path, O_RDWR)
        guard file >= 0, ftruncate(file, off_t(Self.changes + Self.more)) == 0 else {
            throw CocoaError(.fileWriteUnknown)
        }
        let mapped = mmap(
            nil,
            Self.changes + Self.more,
            PROT_READ | PROT_WRITE,
            MAP_SHARED,
            file,
            0
        )
        guard let mapped, mapped != MAP_FAILED else { throw CocoaError(.fileReadUnknown) }
        close(file)
        start = mapped.assumingMemoryBound(to: UInt64.self)
    }

    func write(_ value: UInt64) { for place in Self.places { start[place] = value } }
    func areAll(_ value: UInt64) -> Bool { Self.places.allSatisfy { start[$0] == value } }
}
