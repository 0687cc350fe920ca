import Foundation
import TestThreads
import Testing
import Vellum

/// Errors say what to do, and contain no keys and values in their descriptions. (C11)
@Suite(.ownThreads)
struct VellumErrorTests {
    struct Diary: ArchiveCodable {
        var primaryKey: String { "my secret key" }
        var text = "my secret text"
        var mood: Double?

        func archive() throws -> Data {
            guard mood == nil else { throw Refusal(words: "\(primaryKey): \(text)") }
            return Data(#"{"text": ["\#(text)"]}"#.utf8)
        }
    }

    let temporary = TemporaryArchives()

    private func errors() throws -> [VellumError] {
        let diaries = try temporary.factory.store(for: Diary.self, memoryLimit: 100, diskLimit: 100)
        try diaries.record(Diary())
        diaries.trimMemory(to: .zero)
        let attempts: [() throws -> Void] = [
            { try diaries.record(Diary(mood: 1)) },
            { _ = try diaries.access(archiveWithKey: "my secret key") },
            { try diaries.record(Diary(text: String(repeating: "my secret text", count: 20))) },
            { try temporary.factory.transaction { try $0.record(Diary(mood: 1), in: diaries) } },
        ]
        return try attempts.map { attempt in
            try #require(#expect(throws: VellumError.self) { try attempt() })
        }
    }

    @Test func descriptionsOfErrorsContainNoKeysAndNoValues() throws {
        let errors = try errors()

        #expect(errors.map(\.code) == [.notEncodable, .notDecodable, .tooLarge, .notEncodable])
        for error in errors {
            for text in [
                "\(error)", String(describing: error), error.message, error.description,
                error.localizedDescription,
            ] {
                #expect(!text.contains("secret"))
            }
        }
    }

    @Test func everyErrorHasACodeAMessageAndALocation() throws {
        for error in try errors() {
            #expect(error.description.hasPrefix("\(error.code): \(error.message) (archive "))
            #expect(error.description.contains("Archives.sqlite"))
            #expect(error.message.hasSuffix("."))
        }
    }

    /// People read it: the code is in the description only.
    @Test func theLocalizedDescriptionBeginsWithWhatHappened() throws {
        for error in try errors() {
            #expect(error.localizedDescription.hasPrefix(error.message))
            #expect(error.description == "\(error.code): \(error.localizedDescription)")
        }
    }

    @Test func theDebugDescriptionContainsTheCause() throws {
        let error = try errors()[0]

        #expect(error.cause is Refusal)
        #expect(String(reflecting: error).contains("my secret text"))
    }

    @Test func codesAreCompared() {
        #expect(VellumError.Code.tooLarge == VellumError.Code.tooLarge)
        #expect(VellumError.Code.tooLarge != .closed)
        #expect(Set([VellumError.Code.tooLarge, .tooLarge, .unnamedArchive]).count == 2)
        #expect("\(VellumError.Code.unnamedArchive)" == "unnamedArchive")
    }
}
