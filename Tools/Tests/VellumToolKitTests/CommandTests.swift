import ArgumentParser
import Foundation
import Testing
@testable import VellumFiles

@testable import VellumToolKit

@Suite(.timeLimit(.minutes(10)))
struct CommandTests {
    private func parse<Command: ParsableCommand>(
        _ words: [String],
        as type: Command.Type
    ) throws -> Command {
        try #require(try VellumCommand.parseAsRoot(words) as? Command)
    }

    @Test func withoutACommandFilesAreListed() throws {
        _ = try parse([], as: FilesCommand.self)
        #expect(try parse(["--json"], as: FilesCommand.self).output.json)
    }

    @Test func readsEveryCommand() throws {
        #expect(try parse(["ls", "f"], as: LsCommand.self).file.file == "f")
        let keys = try parse(
            ["keys", "f", "a", "--prefix", "p", "--limit", "3", "--by", "size", "-l"],
            as: KeysCommand.self
        )
        #expect(
            keys.archive.path == "f" && keys.archive.archive == "a" && keys.prefix == "p"
                && keys.limit == 3 && keys.order == .size
                && keys.long
        )
        #expect(
            try parse(["get", "f", "a", "k", "--raw", "-o", "out"], as: GetCommand.self).target
                == "out"
        )
        #expect(
            try parse(["find", "f", "a", "x == 1", "--fields", "a,b"], as: FindCommand.self).query
                == "x == 1"
        )
        #expect(
            try parse(["delete", "f", "a", "k1", "k2", "-y"], as: DeleteCommand.self).keys == [
                "k1", "k2",
            ]
        )
        #expect(
            try parse(["delete", "f", "a", "--where", "x == 1"], as: DeleteCommand.self).query
                == "x == 1"
        )
        #expect(
            try parse(
                ["export", "f", "--archive", "a", "--archive", "b", "-o", "x"],
                as: ExportCommand.self
            ).archive == ["a", "b"]
        )
        #expect(try parse(["import", "f", "x"], as: ImportCommand.self).input == "x")
        #expect(try parse(["backup", "f", "x", "--force"], as: BackupCommand.self).force.force)
        #expect(try parse(["report", "f", "--redact"], as: ReportCommand.self).redact)
        #expect(try parse(["restore", "b", "f", "-y"], as: RestoreCommand.self).file == "f")
        _ = try parse(["verify", "f"], as: VerifyCommand.self)
        _ = try parse(["salvage", "f"], as: SalvageCommand.self)
        _ = try parse(["compact", "f"], as: CompactCommand.self)
        _ = try parse(["drop", "f", "a"], as: DropCommand.self)
        _ = try parse(["watch", "f"], as: WatchCommand.self)
    }

    @Test(arguments: [
        ["ls"], ["keys", "f", "a", "--limit", "-1"], ["keys", "f", "a", "--by", "colour"],
        ["get", "f", "a"],
        ["get", "f", "a", "k", "--raw", "--json"],
        ["get", "f", "a", "k", "-o", "x"], ["delete", "f", "a"],
        ["delete", "f", "a", "k", "--where", "x == 1"],
        ["export", "f", "--resume"],
        ["export", "f", "--json"], ["lss", "f"],
        ["--nonsense"], ["\u{1B}[2J"],
    ])
    func aWrongCommandLineIsOneLineAndStatusTwo(_ words: [String]) async {
        let test = TestConsole()
        #expect(await Tool.run(words, console: test.console()) == 2)
        #expect(test.error.hasPrefix("vellum: "))
        #expect(test.error.filter(\.isNewline).count == 1)
        #expect(!test.error.contains("\u{1B}"))
        #expect(test.output.isEmpty)
    }

    @Test(arguments: [
        ["--help"], ["ls", "--help"], ["help", "find"], ["--version"],
        ["--generate-completion-script", "bash"],
    ])
    func helpIsAResult(_ words: [String]) async {
        let test = TestConsole()
        #expect(await Tool.run(words, console: test.console()) == 0)
        #expect(!test.output.isEmpty && test.error.isEmpty)
    }

    @Test func everyHelpHasAnExample() {
        for command in VellumCommand.configuration.subcommands {
            let discussion = command.configuration.discussion
            #expect(discussion.contains("EXAMPLES\n  vellum"), "\(command)")
            // None is broken in a terminal of 80 columns.
            for line in discussion.split(separator: "\n") where line.hasPrefix("  ") {
                #expect(line.count < 80, "\(line)")
            }
        }
    }

    @Test func everyStatusIsInTheHelp() {
        for status in (0...7).compactMap(Status.init) {
            #expect(VellumCommand.helpMessage().contains("\n  \(status.rawValue)  "))
        }
    }

    @Test(arguments: ["ls", "verify", "compact", "salvage"])
    func aFileThatIsNotThereIsStatusThree(_ name: String) async {
        let test = TestConsole()
        #expect(
            await Tool.run(
                [name, "/nowhere/\u{1B}x"] + (name == "salvage" ? ["--yes"] : []),
                console: test.console()
            ) == 3
        )
        #expect(test.error == "vellum: there is no file /nowhere/\\u{1B}x\n")
    }

    @Test(arguments: [
        (VellumError.Code.notADatabase, Status.unusable), (.foreignFile, .unusable),
        (.newerFormat, .unusable), (.cannotOpen, .unusable),
        (.readOnly, .unusable), (.damagedFile, .damaged), (.damagedEntry, .damaged), (.busy, .busy),
        (.cancelled, .cancelled),
        (.invalidQuery, .usage), (.diskFull, .failed), (.inputOutput, .failed),
    ])
    func everyCodeHasAStatus(_ code: VellumError.Code, _ status: Status) {
        #expect(Status(code) == status)
    }

    @Test func rawBytesDoNotReachATerminal() async {
        let test = TestConsole()
        let console = test.console { $0.isOutputTerminal = true }
        #expect(await Tool.run(["get", "f", "a", "k", "--raw"], console: console) == 2)
        #expect(await Tool.run(["report", "f"], console: console) == 2)
        #expect(await Tool.run(["export", "f"], console: console) == 2)
        #expect(test.output.isEmpty)
    }

    /// Output is written down at the end of a command, or in the middle of it.
    @Test(arguments: [false, true])
    func anOutputThatCannotBeWrittenIsSaid(_ isAtEnd: Bool) async {
        let test = TestConsole()
        var console = test.console()
        let fail: @Sendable () throws -> Void = {
            throw SystemFailure("write the output", code: ENOSPC)
        }
        if isAtEnd { console.flush = fail } else { console.write = { _ in try fail() } }
        #expect(await Tool.run(["--help"], console: console) == 7)
        #expect(test.error == "vellum: cannot write the output: No space left on device\n")
    }

    @Test func aReaderThatGoesAwayIsNoFailure() async {
        let test = TestConsole()
        var console = test.console()
        console.write = { _ in throw ClosedOutput() }
        #expect(await Tool.run(["--help"], console: console) == 0)
        #expect(test.error.isEmpty)
    }
}

@Suite(.timeLimit(.minutes(10)))
struct ViewTests {
    private let utc = TimeZone(secondsFromGMT: 0) ?? .current

    @Test func fieldsArePaths() {
        let value: CBORValue = ["name": "x", "at": ["city": "y", "l": [1, 2]], "a.b": 7, 5: 8]
        #expect(Fields.value(at: "name", of: value) == "x")
        #expect(Fields.value(at: "at.city", of: value) == "y")
        #expect(Fields.value(at: "a.b", of: value) == 7)
        #expect(Fields.value(at: "at.", of: value) == nil)
        #expect(Fields.value(at: "name.x", of: value) == nil)
        #expect(Fields.value(at: "at.l.1", of: value) == 2)
        #expect(Fields.value(at: "at.l.2", of: value) == nil)
        #expect(Fields.value(at: "5", of: value) == 8)
        #expect(Fields.names(of: [value]) == ["5", "a.b", "name", "at"])
        #expect(Fields.list("a, b,,\u{301}c") == ["a", "b", "\u{301}c"])
    }

    @Test func objectsAreATableOfTheirFields() {
        let objects = [
            ObjectView(
                key: "LSZH",
                value: ["name": "Zürich", "elevation": 432, "opened": .tagged(1, 0)]
            ),
            ObjectView(key: "LSGG", value: ["name": "Genève\u{1B}", "elevation": 430]),
        ]
        #expect(
            ObjectTable(width: 80, zone: utc).table(objects).lines(width: 80) == [
                "key   elevation  name          opened",
                "LSZH        432  Zürich        1970-01-01 00:00",
                "LSGG        430  Genève\\u{1B}",
            ]
        )
    }

    @Test func numbersThatAreDatesAreShownAsDates() {
        let object = ObjectView(
            key: "a",
            value: ["made": .float(0), "at": ["opened": 86_400], "size": 7]
        )
        let dates: Set = ["made", "at.opened", "size.x"]
        #expect(
            object.json(fields: ["made", "at", "size"], dates: dates).line
                == #"{"key":"a","value":{"made":"2001-01-01T00:00:00.000Z","#
                + #""at":{"opened":"2001-01-02T00:00:00Z"},"size":7}}"#
        )
        let table = ObjectTable(fields: ["made", "at.opened"], dates: dates, width: 80, zone: utc)
            .table([object])
        #expect(table.rows == [["a", "2001-01-01 00:00", "2001-01-02 00:00"]])
    }

    @Test func aChangeIsALine() {
        var change = ChangeView(
            time: Date(timeIntervalSince1970: 51_909),
            archive: "Airport",
            count: 3,
            present: ["LSZH", "\u{1B}"],
            removed: 1
        )
        #expect(
            change.line(zone: utc, width: nil)
                == "14:25:09  Airport              3  LSZH, \\u{1B}, (removed)"
        )
        change.count = nil
        #expect(change.line(zone: utc, width: nil).hasSuffix("  (many)"))
    }

    @Test func agesAndSizesAreGrouped() {
        #expect(
            Buckets.ages([-3: 1, 0: 2, 1: 3, 8: 4, .max: 5]).map(\.value) == [
                3, 3, 0, 4, 0, 0, 0, 5,
            ]
        )
        #expect(Buckets.sizes([4: 1, 8: 2, -1: 0]).map(\.value) == [1, 0, 0, 0, 2])
        #expect(Buckets.sizes([7: 1]).map(\.label) == ["32 B", "64 B", "128 B", "256 B", "512 B"])
        #expect(Buckets.sizes([62: 1]).count == 5 && Buckets.sizes([-1: 1]).count == 5)
        #expect(Buckets.sizes([.max: 1, .min: 1]).count == 64)
        #expect(Buckets.sizes([:]).isEmpty && Buckets.ages([:]).isEmpty)
    }

    @Test func theLimitIsJudgedByTheOldestUse() {
        let now = Date(timeIntervalSince1970: 1_000_000_000)
        var archive = RawArchive.Summary(
            size: 50,
            limit: 100,
            oldest: now.addingTimeInterval(-3 * 86_400)
        )
        #expect(
            LimitAdvice(archive, now: now)?.sentence
                == "Nothing is evicted: the archive is below its limit."
        )
        archive.size = 96
        let advice = LimitAdvice(archive, now: now)
        #expect(advice?.needed == 1000)
        #expect(
            advice?.sentence.contains(
                "not used for 3 days is evicted. To keep it for 30 days, about 1000 bytes"
            ) == true
        )
        for age in [0, 1, -5, 1e-9, 1e300, .infinity, .nan] {
            archive.oldest = now.addingTimeInterval(-age)
            #expect(LimitAdvice(archive, now: now)?.needed == nil)
        }
        archive.limit = nil
        #expect(LimitAdvice(archive, now: now) == nil)
    }
}
