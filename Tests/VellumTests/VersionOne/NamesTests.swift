import Foundation
import TestThreads
import Testing

/// The table of the originals' names is true: each name that is still there is used in the test
/// that the table names.
@Suite(.ownThreads)
struct NamesTests {
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../../ParityTests").standardizedFileURL

    private struct Row {
        var name: String
        var state: String
        var place: String
    }

    private func rows() throws -> [Row] {
        try String(contentsOf: Self.folder.appendingPathComponent("Names.md"), encoding: .utf8)
            .split(separator: "\n")
            .filter { $0.hasPrefix("| `") }
            .map { line in
                let columns = line.split(separator: "|").map {
                    $0.trimmingCharacters(in: .whitespaces)
                }
                return Row(
                    name: columns[0],
                    state: columns[1],
                    place: columns[2...].joined(separator: "|")
                )
            }
    }

    /// The name without its labels, and without the type that it belongs to if that is not written
    /// before it.
    private func identifier(_ name: String) -> String {
        let quoted = name.split(separator: "`")[0]
        let withoutLabels = quoted.split(separator: "(")[0]
        return String(withoutLabels == "subscript" ? "[" : withoutLabels)
    }

    private func text(ofTest name: String) throws -> String {
        for mode in ["Swift6", "Swift5"] {
            let file = Self.folder.appendingPathComponent("\(mode)/\(name).swift")
            if FileManager.default.fileExists(atPath: file.path) {
                return try String(contentsOf: file, encoding: .utf8)
            }
        }
        throw CocoaError(.fileNoSuchFile, userInfo: [NSFilePathErrorKey: name])
    }

    @Test func everyNameIsUsedInItsTest() throws {
        let rows = try rows()
        #expect(rows.count > 200)
        for row in rows where !row.state.hasPrefix("gone") {
            #expect(row.state.hasPrefix("as it was") || row.state == "deprecated", "\(row.name)")
            let name = identifier(row.name)
            // As a word of its own.
            let text = try text(ofTest: row.place)
            let uses = text.ranges(of: name).contains { range in
                let (before, after) = (
                    text[..<range.lowerBound].last, text[range.upperBound...].first
                )
                return name == "["
                    || ![before, after].contains {
                        $0.map { $0.isLetter || $0.isNumber || $0 == "_" } ?? false
                    }
            }
            #expect(uses, "\(row.place) does not use \(name).")
        }
    }

    @Test func whatIsGoneHasSomethingInItsPlace() throws {
        let gone = try rows().filter { $0.state.hasPrefix("gone") }
        #expect(gone.count == 7)
        #expect(gone.allSatisfy { $0.place.count > 20 })
    }
}
