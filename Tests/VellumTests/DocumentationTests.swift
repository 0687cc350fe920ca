import Foundation
import Testing

/// Documents say what the code says.
@Suite(.timeLimit(.minutes(1)))
struct DocumentationTests {
    private let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    private func text(_ name: String) throws -> String {
        try String(contentsOf: root.appendingPathComponent(name), encoding: .utf8)
    }

    /// Each example of the README is a snippet, which every build compiles.
    @Test(arguments: ["GettingStarted", "Queries", "Caching"])
    func theExamplesOfTheReadmeAreCompiled(_ name: String) throws {
        let snippet = try text("Snippets/\(name).swift").split(separator: "\n", omittingEmptySubsequences: false).dropFirst(2)
        let example = snippet.joined(separator: "\n").replacing(/import Foundation\nimport (Vellum|MiniCache)\n/, with: "")
        #expect(try text("README.md").contains(example.trimmingCharacters(in: .whitespacesAndNewlines)))
    }

    @Test func theReadmeIsShort() throws {
        #expect(try text("README.md").split(separator: "\n", omittingEmptySubsequences: false).count <= 170)
    }

    @Test func everyDecisionIsNumberedAndTitled() throws {
        let folder = root.appendingPathComponent("Documentation/Decisions")
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        #expect(names.count >= 10)
        for (index, name) in names.enumerated() {
            let number = index + 1
            #expect(name.hasPrefix(String(repeating: "0", count: 4 - "\(number)".count) + "\(number)-"))
            #expect(try text("Documentation/Decisions/\(name)").hasPrefix("# \(number). "))
        }
    }

    /// SQL stands in the files of statements.
    @Test func everyStatementStandsInItsFile() throws {
        let sources = root.appendingPathComponent("Sources")
        let files = try #require(FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil))
        var strays: [String] = []
        for case let file as URL in files where file.pathExtension == "swift" && !file.lastPathComponent.hasPrefix("Statements") {
            let content = try String(contentsOf: file, encoding: .utf8)
            if ["\"SELECT ", "\"INSERT ", "\"UPDATE ", "\"DELETE ", "\"PRAGMA ", "\"CREATE "].contains(where: content.contains) {
                strays.append(file.lastPathComponent)
            }
        }
        #expect(strays == [])
    }
}
