import Foundation
import Synchronization
import Testing

@testable import VellumToolKit

/// A console that keeps what was written.
final class TestConsole: Sendable {
    private struct Written {
        var output: [UInt8] = []
        var error = ""
    }

    private let written = Mutex(Written())

    var output: String { String(decoding: written.withLock { $0.output }, as: UTF8.self) }
    var error: String { written.withLock { $0.error } }

    func console(
        _ change: (inout Console.Surroundings) -> Void = { _ in },
        answer: String? = nil
    ) -> Console {
        var surroundings = Console.Surroundings(
            home: "/home/ann",
            zone: TimeZone(secondsFromGMT: 0) ?? .current
        )
        change(&surroundings)
        return Console(
            surroundings: surroundings,
            write: { bytes in self.written.withLock { $0.output += bytes } },
            writeError: { text in self.written.withLock { $0.error += text } },
            readAnswer: { answer }
        )
    }
}

@Suite(.timeLimit(.minutes(10)))
struct TableTests {
    let table = Table(
        [.text("name", minimum: 6), .number("entries"), .fixed("date")],
        rows: [["Airport", "28,298", "2026-03-01"], ["日本\u{1B}[2J", "7", "2026-03-02"]]
    )

    @Test func columnsAreAligned() {
        #expect(
            table.lines(width: 80) == [
                "name           entries  date",
                "Airport         28,298  2026-03-01",
                "日本\\u{1B}[2J        7  2026-03-02",
            ]
        )
    }

    @Test func cellsAreShortenedWhereThereIsNoRoom() {
        let lines = table.lines(width: 27)
        #expect(lines.allSatisfy { DisplayWidth.of($0) <= 27 })
        #expect(lines[1] == "Air…rt   28,298  2026-03-01")
    }

    @Test func aNarrowTerminalGetsBlocks() {
        let lines = table.lines(width: 22)
        #expect(lines.allSatisfy { DisplayWidth.of($0) <= 22 })
        #expect(
            Array(lines.prefix(3)) == ["Airport", "  entries  28,298", "  date     2026-03-01"]
        )
    }

    @Test func programsGetTabsAndWholeCells() {
        let long = String(repeating: "x", count: 500)
        #expect(
            Table([.text("a"), .text("b")], rows: [[long, "\t"]]).lines(width: nil) == [
                "\(long)\t\\u{9}"
            ]
        )
    }

    @Test func titlesAreSafeToo() {
        let table = Table([.text("key"), .text("\u{1B}[2J")], rows: [["a", "b"]])
        #expect(table.lines(width: 80)[0] == "key  \\u{1B}[2J")
        #expect(
            table.lines(width: 12) == ["a", "  \\u{1B}…J  b"]
                || table.lines(width: 12).allSatisfy { !$0.contains("\u{1B}") }
        )
    }

    @Test(arguments: 1...100)
    func noLineIsWiderThanTheTerminal(_ width: Int) {
        #expect(table.lines(width: width).allSatisfy { DisplayWidth.of($0) <= width })
    }
}

@Suite(.timeLimit(.minutes(10)))
struct ConsoleTests {
    @Test func coloursAreForTerminals() {
        let test = TestConsole()
        #expect(test.console().styled("a", .bold) == "a")
        #expect(test.console { $0.usesColor = true }.styled("a", .bold) == "\u{1B}[1ma\u{1B}[0m")
    }

    @Test func jsonIsPrettyOnATerminalOnly() throws {
        let (pipe, terminal) = (TestConsole(), TestConsole())
        let json: JSON = ["b": .integer(1), "a": [.text("x"), .null], "c": [:]]
        try pipe.console().print(json)
        try terminal.console { $0.isOutputTerminal = true }.print(json)
        #expect(pipe.output == "{\"b\":1,\"a\":[\"x\",null],\"c\":{}}\n")
        #expect(
            terminal.output
                == "{\n  \"b\": 1,\n  \"a\": [\n    \"x\",\n    null\n  ],\n  \"c\": {}\n}\n"
        )
    }

    @Test(arguments: [("y", true), ("YES ", true), ("n", false), ("", false), ("yup", false)])
    func onlyYesIsYes(_ answer: String, _ isYes: Bool) {
        let test = TestConsole()
        let console = test.console(
            {
                $0.isInputTerminal = true
                $0.isErrorTerminal = true
            },
            answer: answer
        )
        var isDone = true
        do { try console.confirm("Delete?", isAnswered: false) } catch { isDone = false }
        #expect(isDone == isYes)
        #expect(test.error == "Delete? [y/N] ")
    }

    @Test func withoutATerminalNobodyIsAsked() throws {
        let test = TestConsole()
        try test.console().confirm("Delete?", isAnswered: true)
        let failure = #expect(throws: Failure.self) {
            try test.console().confirm("Delete?", isAnswered: false)
        }
        #expect(failure?.status == .usage)
        #expect(test.error.isEmpty)
    }

    @Test(arguments: [
        ("/home/ann/x", "~/x"), ("/home/ann", "~"), ("/home/anna/x", "/home/anna/x"), ("/x", "/x"),
        ("/home/ann/\u{1B}", "~/\\u{1B}"),
    ])
    func theHomeFolderIsATilde(_ path: String, _ shown: String) {
        #expect(Paths.shown(path, home: "/home/ann") == shown)
    }
}

@Suite(.timeLimit(.minutes(10)))
struct ProgressBarTests {
    @Test func fitsTheTerminal() {
        for width in 0...120 {
            #expect(
                DisplayWidth.of(ProgressBar.text("backup", 50, of: 100, width: width) { "\($0) B" })
                    <= max(width, 0)
            )
        }
        #expect(
            ProgressBar.text("backup", 50, of: 100, width: 60) { "\($0)" } == "backup "
                + String(repeating: "█", count: 15)
                + String(repeating: "░", count: 15) + "  50 %  50 of 100"
        )
    }

    @Test func isOnATerminalOnly() throws {
        let (pipe, terminal) = (TestConsole(), TestConsole())
        try ProgressBar("x", console: pipe.console()).update(completed: 1, of: 2)
        let bar = ProgressBar("x", console: terminal.console { $0.isErrorTerminal = true })
        try bar.update(completed: 1, of: 2)
        bar.end()
        #expect(pipe.error.isEmpty)
        #expect(terminal.error.hasPrefix("\rx "))
        #expect(terminal.error.hasSuffix("\r\u{1B}[K"))
    }
}

@Suite(.timeLimit(.minutes(10)))
struct OutputFileTests {
    let folder: URL

    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent(
            "vellum-tool-\(UUID().uuidString)"
        )
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    private func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    }

    @Test func onlyTheUserMayRead() throws {
        let path = folder.appendingPathComponent("a").path
        try OutputFile.write(Array("x".utf8), to: path, replaces: false)
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        #expect(try names() == ["a"])
        try FileManager.default.removeItem(at: folder)
    }

    @Test func nothingIsReplacedWithoutForce() throws {
        let path = folder.appendingPathComponent("a").path
        try OutputFile.write(Array("x".utf8), to: path, replaces: false)
        let failure = #expect(throws: Failure.self) {
            try OutputFile.write(Array("y".utf8), to: path, replaces: false)
        }
        #expect(failure?.status == .failed)
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "x")
        try OutputFile.write(Array("y".utf8), to: path, replaces: true)
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "y")
        try FileManager.default.removeItem(at: folder)
    }

    @Test func aFileThatAppearsMeanwhileStays() throws {
        let path = folder.appendingPathComponent("a").path
        let file = try OutputFile(path, replaces: false)
        #expect(throws: Failure.self) {
            try file.finishing {
                try Data("mine".utf8).write(to: URL(fileURLWithPath: file.temporary))
                try Data("theirs".utf8).write(to: URL(fileURLWithPath: path))
            }
        }
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "theirs")
        #expect(try names() == ["a"])
        try FileManager.default.removeItem(at: folder)
    }

    /// The log of a database beside another file would be taken for that of the file.
    @Test(arguments: ["-wal", "-journal"], [false, true])
    func aDatabaseInUseIsNotReplaced(_ suffix: String, _ isOpenedMeanwhile: Bool) throws {
        let path = folder.appendingPathComponent("a").path
        func open() throws {
            for name in ["", suffix] {
                try Data("theirs".utf8).write(to: URL(fileURLWithPath: path + name))
            }
        }
        if !isOpenedMeanwhile { try open() }
        let failure = #expect(throws: Failure.self) {
            let file = try OutputFile(path, replaces: true)
            try file.finishing {
                try Data("mine".utf8).write(to: URL(fileURLWithPath: file.temporary))
                try open()
            }
        }
        #expect(failure?.status == .failed)
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "theirs")
        #expect(try names() == ["a", "a\(suffix)"])
        try FileManager.default.removeItem(at: folder)
    }

    @Test func aFailureLeavesNothing() throws {
        let file = try OutputFile(folder.appendingPathComponent("a").path, replaces: false)
        #expect(throws: CancellationError.self) {
            try file.finishing {
                try Data("x".utf8).write(to: URL(fileURLWithPath: file.temporary))
                throw CancellationError()
            }
        }
        #expect(try names().isEmpty)
        try FileManager.default.removeItem(at: folder)
    }
}
