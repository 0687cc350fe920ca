import TestThreads
import Testing

@testable import VellumCore

@Suite(.ownThreads)
struct FailureRunsTests {
    typealias Ended = FailureRuns.Ended

    @Test func aFileThatCannotBeUsedIsLoggedOnceForEachState() {
        var runs = FailureRuns()
        for _ in 0..<2 {
            let logged = (0..<1000).compactMap { _ in runs.add(.cannotOpen) }
            let ended = [runs.end(by: .opening), runs.end(by: .opening)]

            #expect(logged == [1])
            #expect(ended == [[Ended(code: .cannotOpen, count: 1000, success: .opening)], []])
        }
    }

    @Test func anotherCodeIsAnotherState() {
        var runs = FailureRuns()
        let logged = [VellumError.Code.cannotOpen, .busy, .cannotOpen].map { runs.add($0) }
        let ended = runs.end(by: .writing)

        #expect(logged == [1, 1, nil])
        #expect(
            ended == [
                Ended(code: .busy, count: 1, success: .writing),
                Ended(code: .cannotOpen, count: 2, success: .writing),
            ]
        )
    }

    @Test(arguments: [VellumError.Code.diskFull, .readOnly])
    func openingAFileDoesNotShowThatItCanBeWritten(_ code: VellumError.Code) {
        var runs = FailureRuns()
        let first = runs.add(code)
        let opened = runs.end(by: .opening)
        let second = runs.add(code)
        let written = runs.end(by: .writing)

        #expect((first, second) == (1, nil))
        #expect(opened == [])
        #expect(written == [Ended(code: code, count: 2, success: .writing)])
    }

    @Test func failuresOfEntriesAreLoggedAtPowersOfTenAndDoNotEnd() {
        var runs = FailureRuns()
        let logged = (0..<2000).compactMap { _ in runs.add(.tooLarge) }
        let ended = runs.end(by: .writing)

        #expect(logged == [1, 10, 100, 1000])
        #expect(ended == [])
    }

    @Test func onlyFailuresOfFilesAwaitASuccess() {
        var runs = FailureRuns()
        _ = runs.add(.notEncodable)
        #expect(!runs.hasFailuresOfFile)
        _ = runs.add(.diskFull)
        #expect(runs.hasFailuresOfFile)
        _ = runs.end(by: .writing)
        #expect(!runs.hasFailuresOfFile)
    }

    @Test func theLinesSayWhatHappenedAndHowOften() {
        let error = VellumError(.tooLarge, "An object is too large.")
        #expect(error.line(count: 1) == "tooLarge: An object is too large.")
        #expect(error.line(count: 100) == "tooLarge: An object is too large. (the 100th time)")
        #expect(
            Ended(code: .cannotOpen, count: 998, success: .opening).notice.message
                == """
                The file could be opened again; 998 calls failed meanwhile with the code cannotOpen.
                """
        )
        #expect(
            Ended(code: .diskFull, count: 1, success: .writing).notice.message
                == """
                The file could be written again; 1 call failed meanwhile with the code diskFull.
                """
        )
    }
}
