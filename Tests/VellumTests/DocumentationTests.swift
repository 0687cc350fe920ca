import Foundation
import TestThreads
import Testing

/// The documentation agrees with the code.
@Suite(.ownThreads)
struct DocumentationTests {
    private let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    private func text(_ name: String) throws -> String {
        try String(contentsOf: root.appendingPathComponent(name), encoding: .utf8)
    }

    /// Each example in the README is the visible part of a snippet, which is compiled.
    @Test(arguments: [
        "FirstLook", "GettingStarted", "Queries", "Updating", "Caching", "ThreeLayers",
    ])
    func theExamplesOfTheReadmeAreCompiled(_ name: String) throws {
        let snippet = try text("Tests/Clients/Snippets/\(name).swift").split(
            separator: "\n",
            omittingEmptySubsequences: false
        ).dropFirst(2)
        let shown = snippet.prefix { !$0.hasPrefix("// snippet.hide") }.joined(separator: "\n")
        let example = shown.replacing(
            /import Foundation\nimport (Vellum|MiniCache|Shallows)\n/,
            with: ""
        )
        #expect(
            try text("README.md").contains(example.trimmingCharacters(in: .whitespacesAndNewlines))
        )
    }

    /// Each example in an article is part of one or several snippets.
    @Test(arguments: ["Shallows", "ThreeLayers", "YourOwnStorage", "ComingFromShallows"])
    func theExamplesOfTheArticlesAreCompiled(_ name: String) throws {
        let article = try text("Sources/Shallows/Documentation.docc/\(name).md")
        let snippets = try [
            "Storages", "ThreeLayers", "ThreeLayersGuide", "YourOwnStorage", "ComingFromShallows",
        ]
        .map { try text("Tests/Clients/Snippets/\($0).swift").withoutIndentation }
        let examples = article.split(separator: "```swift\n").dropFirst().map {
            $0.prefix(upTo: $0.range(of: "```")!.lowerBound)
        }
        #expect(!examples.isEmpty)
        for part in examples.flatMap({ $0.split(separator: "\n\n") }) {
            let part = String(part).withoutIndentation
            #expect(snippets.contains { $0.contains(part) }, "\(part)")
        }
    }

    /// Each example of a guide is part of its snippet; those of a beginner's two programs are in
    /// two.
    @Test(arguments: [
        "Vellum/Updating", "Vellum/Observing", "MiniCache/InAServer", "MiniCache/Loading",
        "Vellum/ComingFromVellum",
        "Vellum/ComingFromUserDefaults",
        "Vellum/ComingFromGRDB",
        "MiniCache/ComingFromMiniCache",
        "MiniCache/ComingFromNSCache", "MiniCache/ComingFromCache",
        "MiniCache/ComingFromImageCaches",
        "Guides/GettingStarted", "Guides/ChoosingLimits", "Guides/Durability", "Guides/Expiration",
        "Guides/QueryingAndIndexes",
        "Guides/SharingAFile", "Guides/Concurrency", "Guides/ErrorsAndDamage", "Guides/BackingUp",
        "Guides/TestingAndPreviews",
        "Guides/Performance", "Guides/WhenNotToUseIt", "Guides/InASwiftUIApp",
    ])
    func theExamplesOfTheGuidesAreCompiled(_ name: String) throws {
        let parts = name.split(separator: "/")
        let catalog =
            parts[0] == "Guides"
            ? "Documentation/Guides.docc" : "Sources/\(parts[0])/Documentation.docc"
        let article = try text("\(catalog)/\(parts[1]).md")
        let names = name == "Guides/GettingStarted" ? ["FirstApp", "FirstServer"] : ["\(parts[1])"]
        // Its examples are tests, which are run.
        let paths =
            name == "Guides/TestingAndPreviews"
            ? ["VellumTestingTests/GuideTests"] : names.map { "Clients/Snippets/\($0)" }
        let snippets = try paths.map { try text("Tests/\($0).swift").withoutIndentation }
        let examples = article.split(separator: "```swift\n").dropFirst().map {
            $0.prefix(upTo: $0.range(of: "```")!.lowerBound)
        }
        #expect(!examples.isEmpty)
        for part in examples.flatMap({ $0.split(separator: "\n\n") })
        where !part.hasPrefix("// Package.swift") {
            let part = String(part).withoutIndentation
            #expect(snippets.contains { $0.contains(part) }, "\(part)")
        }
    }

    /// What the guide to servers shows of a stream and of the end is in the example, which
    /// `make server` runs.
    @Test func theServerOfTheGuideIsTheExample() throws {
        let article = try text("Sources/MiniCache/Documentation.docc/InAServer.md")
        let folders = ["Sources/Server", "Tests/ServerTests"].map {
            root.appendingPathComponent("Examples/Server/\($0)")
        }
        let files = try folders.flatMap {
            try FileManager.default.contentsOfDirectory(at: $0, includingPropertiesForKeys: nil)
        }
        let example = try files.map {
            try String(contentsOf: $0, encoding: .utf8).withoutIndentation
        }
        let chapters = article.split(separator: "\n## ").filter {
            ["A stream that ends with the server", "Shutdown", "Health check", "Hummingbird"]
                .contains($0.prefix { $0 != "\n" })
        }
        #expect(chapters.count == 4)
        for chapter in chapters {
            let blocks = chapter.split(separator: "```swift\n").dropFirst().map {
                $0.prefix(upTo: $0.range(of: "```")!.lowerBound)
            }
            #expect(!blocks.isEmpty)
            // The example has another folder, and no sessions.
            for block in blocks where !block.hasPrefix("let manager") {
                #expect(
                    example.contains { $0.contains(String(block).withoutIndentation) },
                    "\(block)"
                )
            }
        }
    }

    /// Each example of the guide is part of a test, which is compiled in every mode of a client.
    @Test func theExamplesOfTheGuideToChangesAreTested() throws {
        let article = try text("Sources/Vellum/Documentation.docc/ChangingAModel.md")
        let tested = try text("Tests/ParityTests/Swift6/ChangingAModelTests.swift")
            .withoutIndentation
        let examples = article.split(separator: "```swift\n").dropFirst().map {
            $0.prefix(upTo: $0.range(of: "```")!.lowerBound)
        }
        #expect(examples.count == 8)
        for example in examples {
            #expect(tested.contains(String(example).withoutIndentation), "\(example)")
        }
    }

    /// The tests that `Reliability.md` names for the guarantees exist.
    @Test func everyTestOfAGuaranteeExists() throws {
        let document = try text("Documentation/Reliability.md")
        let table = try #require(document.split(separator: "## The tests of each clause").last)
        let tests = root.appendingPathComponent("Tests")
        let files = try #require(
            FileManager.default.enumerator(at: tests, includingPropertiesForKeys: nil)
        )
        var code = ""
        for case let file as URL in files where file.pathExtension == "swift" {
            code += try String(contentsOf: file, encoding: .utf8)
        }
        // The regular expressions of Foundation, which are as fast in a debug build.
        let declaration = try NSRegularExpression(pattern: #"(?:struct|class|func) +(\w+)"#)
        let whole = NSRange(location: 0, length: code.utf16.count)
        let units = NSString(string: code)
        let declared = Set(
            declaration.matches(in: code, range: whole).map {
                units.substring(with: $0.range(at: 1))
            }
        )
        let named = table.matches(of: /`(\w+Tests)(?:\.(\w+))?`/)
        #expect(named.count > 50)
        for name in named {
            #expect(declared.contains(String(name.1)), "\(name.1)")
            if let test = name.2 { #expect(declared.contains(String(test)), "\(name.0)") }
        }
    }

    @Test func theReadmeIsShort() throws {
        #expect(
            try text("README.md").split(separator: "\n", omittingEmptySubsequences: false).count
                <= 200
        )
    }

    /// The names of the decision records, without the index.
    private func decisions() throws -> [String] {
        try FileManager.default.contentsOfDirectory(
            atPath: root.appendingPathComponent("Documentation/Decisions").path
        )
        .filter { $0 != "README.md" }.sorted()
    }

    /// The number of a removed decision is not used again.
    @Test func everyDecisionIsNumberedAndTitledAndHasAStatus() throws {
        let names = try decisions()
        let index = try text("Documentation/Decisions/README.md")
        #expect(names.count >= 10)
        #expect(Set(names.map { $0.prefix(4) }).count == names.count)
        for name in names {
            let number = try #require(Int(name.prefix(4)))
            let lines = try text("Documentation/Decisions/\(name)").split(separator: "\n")
            #expect(name.dropFirst(4).hasPrefix("-"))
            #expect(lines[0].hasPrefix("# \(number). "))
            #expect(lines[1].hasPrefix("Status: "), "\(name)")
            #expect(index.contains("(\(name))"), "\(name)")
        }
    }

    @Test func everyDecisionThatIsNamedExists() throws {
        let numbers = Set(try decisions().compactMap { Int($0.prefix(4)) })
        let documents = try [
            "README.md", "CONTRIBUTING.md", "CHANGELOG.md", "Documentation/Reliability.md",
            "Documentation/SharedCaches.md",
        ]
        .map { (path: $0, content: try text($0)) }
        let records = try decisions().map {
            (path: $0, content: try text("Documentation/Decisions/\($0)"))
        }
        for (path, content) in try documents + records + sources() {
            for match in content.matches(of: #/decisions? (\d+)/#) {
                #expect(numbers.contains(Int(match.1) ?? 0), "\(path): decision \(match.1)")
            }
        }
    }

    /// The files that hold SQL, each beside the structs that read its rows.
    private static let filesWithSQL: Set = [
        "VellumEngine/SQLite/SQL.swift", "VellumEngine/Tables/ArchiveTotals.swift",
        "VellumEngine/Tables/EntryTable.swift", "VellumEngine/Tables/Features.swift",
        "VellumEngine/Tables/MemberTable.swift", "VellumEngine/Tables/RemovedTable.swift",
        "VellumEngine/Tables/RecencyTables.swift",
        "VellumEngine/Tables/IndexTables.swift", "VellumEngine/Tables/IndexState.swift",
        "VellumEngine/Tables/RetentionTable.swift", "VellumEngine/Tables/SizingTable.swift",
        "VellumEngine/Query/QueryPrinter.swift",
        "Originals/OriginalCaches.swift", "RawDatabase/RawDatabase.swift",
        "VellumFiles/RawRows.swift",
    ]

    /// The Swift files under `Sources/`, by their paths from there.
    private func sources() throws -> [(path: String, content: String)] {
        let sources = root.appendingPathComponent("Sources")
        let files = try #require(
            FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil)
        )
        return try files.compactMap { $0 as? URL }.filter { $0.pathExtension == "swift" }.map {
            file in
            (
                String(file.path.dropFirst(sources.path.count + 1)),
                try String(contentsOf: file, encoding: .utf8)
            )
        }
    }

    /// As fast in a debug build.
    private static func contains(_ pattern: NSRegularExpression, _ text: String) -> Bool {
        let whole = NSRange(location: 0, length: text.utf16.count)
        return pattern.firstMatch(in: text, range: whole) != nil
    }

    @Test func sqlStandsBesideTheStructsThatReadIt() throws {
        let words =
            "SELECT|INSERT|UPDATE|DELETE|PRAGMA|CREATE|DROP|ALTER|ATTACH|DETACH|ANALYZE|REINDEX|"
            + "VACUUM|EXPLAIN|REPLACE|WITH"
        // At the beginning of a string, or of a line of a string of several lines; and the words in
        // the middle of a statement.
        let sql = try NSRegularExpression(
            pattern: "\"(?:\(words)) |\n *(?:\(words)) |\"(?:BEGIN|COMMIT|ROLLBACK)[ \"]|"
                + "\" (?:FROM|WHERE|JOIN|ORDER BY|LIMIT) "
        )
        let found = try sources().filter { Self.contains(sql, $0.content) }.map(\.path)
        #expect(Set(found) == Self.filesWithSQL)
    }

    @Test func columnsAreReadByNumberOnlyBesideTheirStatements() throws {
        let number = try NSRegularExpression(
            pattern: #"\.(?:int|optionalInt|double|text|bytes|data|isNull|indexValue)\([0-9]+\)|"#
                + #"isText\([^()]*, at: [0-9]+\)"#
        )
        let misplaced = try sources().filter { path, content in
            path.hasPrefix("VellumEngine/") && !path.hasPrefix("VellumEngine/SQLite/")
                && !Self.filesWithSQL.contains(path)
                && Self.contains(number, content)
        }
        #expect(misplaced.map(\.path) == [])
    }
}

extension String {
    /// The lines without leading and trailing whitespace.
    fileprivate var withoutIndentation: String {
        split(separator: "\n", omittingEmptySubsequences: false).map {
            $0.trimmingCharacters(in: .whitespaces)
        }.joined(separator: "\n")
            .trimmingCharacters(in: .whitespacesAndNewlines)
    }
}
