import Foundation
import Testing
import Vellum
import VellumTestSupport

/// What the calls of one thing do in each of its states: a part of `Documentation/States.md`.
struct StateTable {
    let title: String
    let states: [String]
    private(set) var rows: [(call: String, outcomes: [String])] = []

    init(_ title: String, states: [String]) {
        self.title = title
        self.states = states
    }

    mutating func add(_ call: String, _ outcomes: [String]) { rows.append((call, outcomes)) }

    /// The table as the document has it.
    var text: String {
        let head = "| call | \(states.joined(separator: " | ")) |"
        let line = "| --- |" + String(repeating: " --- |", count: states.count)
        let body = rows.map { "| `\($0.call)` | \($0.outcomes.joined(separator: " | ")) |" }
        return (["## \(title)", "", head, line] + body).joined(separator: "\n")
    }

    /// Compares the table with the document, of which it is a part.
    func check() throws {
        let document = try String(contentsOf: Self.file, encoding: .utf8)
        var parts = document.components(separatedBy: "\n\n## ")
        let place = try #require(
            parts.dropFirst().firstIndex { $0.split(separator: "\n").first == title[...] }
        )
        if ProcessInfo.processInfo.environment["VELLUM_UPDATE"] != nil {
            parts[place] = String(text.dropFirst(3))
            let new = parts.joined(separator: "\n\n## ").trimmingCharacters(in: .newlines)
            try Data((new + "\n").utf8).write(to: Self.file)
            return
        }
        let documented = parts[place].trimmingCharacters(in: .newlines).split(separator: "\n")
        let found = text.dropFirst(3).split(separator: "\n")
        #expect(documented.count == found.count)
        for (line, expected) in zip(found, documented) { #expect(line == expected) }
    }

    private static var file: URL {
        URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent()
            .appendingPathComponent("../../Documentation/States.md")
            .standardizedFileURL
    }

    /// What a call returns, in a word, or the code of its error.
    static func outcome(
        _ call: () async throws -> Any
    ) async -> String {
        do {
            let value = try await call()
            return value is Void ? "done" : "\(value)"
        } catch let error as VellumError {
            return "`\(error.code)`"
        } catch {
            return "`\(type(of: error))`"
        }
    }
}
