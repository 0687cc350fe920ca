import Foundation
import TestThreads
import Testing
import VellumTestSupport

/// A process that announces that memory is short returns it to the system.
@Suite(.ownThreads)
struct PressureProcessTests {
    @Test func memoryIsReturnedToTheSystem() throws {
        let folder = try TemporaryDirectory()
        // The pressure of the machine that runs the test is not that of the test.
        let child = try Spawned(
            ["pressure", folder.url.path, "20"], environment: ["VELLUM_PRESSURE": "announced"])
        func held() throws -> (entries: Int, kilobytes: Int) {
            let words = try #require(child.ask("held")).split(separator: " ").compactMap { Int($0) }
            return (words[0], words[1])
        }
        let before = try held()
        #expect(before.entries == 20_000)
        #expect(child.send("warning"))
        let less = try held()
        #expect(9900...10_000 ~= less.entries)
        #expect(child.send("critical"))
        let least = try held()
        #expect(least.entries == 0)
        #if canImport(Glibc)
            // Twenty megabytes were in memory, in small pieces.
            #expect(before.kilobytes - least.kilobytes > 12_000, "\(before) \(less) \(least)")
        #endif
        _ = child.kill()
    }
}
