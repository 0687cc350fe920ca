import Foundation
import TestThreads
import Testing
import VellumCore
import VellumTestSupport

@testable import VellumEngine

@Suite(.ownThreads)
struct WaitingWritersTests {
    @Test func theThreadsThatWaitForTheWriterAreCounted() throws {
        let folder = try TemporaryDirectory()
        let file = try DatabaseFile.open(at: folder.file("Archives.sqlite"))
        let ended = DispatchGroup()
        file.withWriter { _ in
            #expect(file.waitingWriters == 0)
            for _ in 0..<2 {
                ended.enter()
                Lane().start {
                    file.withWriter { _ in true }
                    ended.leave()
                }
            }
            blockUntil("two threads wait for the writer") { file.waitingWriters == 2 }
            return true
        }
        ended.wait()
        #expect(file.waitingWriters == 0)
        try file.close()
    }
}
