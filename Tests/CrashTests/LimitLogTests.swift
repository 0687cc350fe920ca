import Foundation
import TestThreads
import Testing
import VellumTestSupport

/// C2: the system log reports a change of a limit that people must know of, once.
@Suite(.ownThreads)
struct LimitLogTests {
    private let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    private func lines(
        _ limit: String,
        _ first: Int,
        _ count: Int
    ) throws -> (count: String?, logged: [String]) {
        let child = try Spawned(
            ["limit", folder.url.path, limit, "\(first)", "\(count)"],
            logs: true
        )
        let (end, lines) = child.end()
        #expect(end == .exited(0))
        return (lines.first { $0.hasPrefix("count ") }, lines.filter { $0.contains("vellum.") })
    }

    @Test func theFirstEvictionUnderTheDefaultSizeIsLoggedOnce() throws {
        let (_, logged) = try lines("-", 0, 2000)
        #expect(logged.count == 1)
        for part in [
            "warning", "crash item", "50 kB", "the default", "trySetMaxDiskSize", ".unlimited",
        ] {
            #expect(logged.first?.contains(part) == true, "\(part)")
        }
    }

    @Test func evictionsUnderAGivenSizeAreNotLogged() throws {
        #expect(try lines("20000", 0, 2000).logged == [])
        #expect(try lines("-", 2000, 200).logged == [])
    }

    @Test func aSmallerSizeIsLoggedOnceWithBothSizes() throws {
        let (full, logged) = try lines("10000000", 0, 1000)
        #expect(full == "count 1000" && logged == [])
        #expect(try lines("-", 0, 0).count == "count 1000")
        let (_, smaller) = try lines("20480", 0, 0)
        #expect(smaller.count == 1)
        for part in ["crash item", "from 9.5 MB to 20 kB", "were removed"] {
            #expect(smaller.first?.contains(part) == true, "\(part)")
        }
        #expect(try lines("20480", 0, 0).logged == [])
    }

    @Test func aFileThatIsNotADatabaseIsRefusedAndLeftAsItIs() throws {
        let letter = Data(String(repeating: "This is a letter.\n", count: 1000).utf8)
        try letter.write(to: folder.file("Archives.sqlite"))
        let child = try Spawned(["limit", folder.url.path, "-", "0", "1"], logs: true)
        let (end, lines) = child.end()
        #expect(end == .exited(1))
        #expect(lines.contains { $0.contains("notADatabase") })
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == [
                "Archives.sqlite"
            ]
        )
        #expect(try Data(contentsOf: folder.file("Archives.sqlite")) == letter)
    }
}
