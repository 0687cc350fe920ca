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
        let megabytes = LongRun.number(20, usually: 10)
        let child = try Spawned(
            ["pressure", folder.url.path, "\(megabytes)"],
            environment: ["VELLUM_PRESSURE": "announced"]
        )
        func held() throws -> (entries: Int, kilobytes: Int) {
            let words = try #require(child.ask("held")).split(separator: " ").compactMap { Int($0) }
            return (words[0], words[1])
        }
        let before = try held()
        #expect(before.entries == megabytes * 1000)
        #expect(child.send("warning"))
        let less = try held()
        #expect(megabytes * 495...megabytes * 500 ~= less.entries)
        #expect(child.send("critical"))
        let least = try held()
        #expect(least.entries == 0)
        #if canImport(Glibc)
            // So many megabytes were in memory, in small pieces.
            let returned = before.kilobytes - least.kilobytes
            #expect(returned > megabytes * 600, "\(before) \(less) \(least)")
        #endif
        _ = child.kill()
    }
}
