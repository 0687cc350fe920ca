import Foundation
import ShallowsSQLite
import TestThreads
import Testing
import VellumTestSupport

@testable import VellumCore
@testable import VellumEngine

/// Every write is heard: what of the table of decision 75 applies to a file that is read through
/// (`loading`).
@Suite(.ownThreads)
struct StorageHeardTests {
    enum Write: CaseIterable, Sendable { case set, remove, removeAll }

    enum Origin: CaseIterable, Sendable {
        /// The storage that is read through, one like it, the file's own, and that of another
        /// process.
        case sameHandle, otherHandle, file, otherProcess
    }

    enum Bystander: CaseIterable, Sendable { case retrieval, lateCaller, earlyCaller, memory }

    struct Cell: Sendable, CustomStringConvertible {
        var write: Write
        var origin: Origin
        var bystander: Bystander

        var description: String { "\(write), \(origin), \(bystander)" }

        static let all = Write.allCases.flatMap { write in
            Origin.allCases.flatMap { origin in
                Bystander.allCases.map { Cell(write: write, origin: origin, bystander: $0) }
            }
        }

        /// The guide "Memory, disk and server": "What is written past the composition … is not
        /// noticed by a retrieval that runs, and what that finds is set over it."
        private var isNoticed: Bool { origin == .sameHandle }

        var expected: Outcome {
            let left = write == .set ? "written" : nil
            let stored = isNoticed ? left : "loaded"
            switch bystander {
            case .memory: return Outcome(stored: left)
            case .retrieval: return Outcome(answers: ["loaded"], stored: stored, calls: 1)
            case .earlyCaller:
                return Outcome(answers: ["loaded", "loaded"], stored: stored, calls: 1)
            case .lateCaller:
                if let left { return Outcome(answers: ["loaded", left], stored: stored, calls: 1) }
                guard isNoticed else {
                    return Outcome(answers: ["loaded", "loaded"], stored: stored, calls: 1)
                }
                return Outcome(answers: ["loaded", "new"], stored: "new", calls: 2)
            }
        }
    }

    struct Outcome: Equatable {
        var answers: [String] = []
        var stored: String?
        var calls = 0
    }

    private let temporary: TemporaryStorages
    private let file: SQLiteStorage<String>
    private let source = NumberedSource()
    private let key = Filename(rawValue: HeardCell.key)

    init() throws {
        temporary = try TemporaryStorages()
        file = temporary.storage(of: String.self)
    }

    private func reading(_ file: SQLiteStorage<String>) -> RemovableStorage<Filename, String> {
        file.asRemovableStorage().loading { [source] _ in try await source.text() }
    }

    private func write(_ write: Write, to storage: RemovableStorage<Filename, String>) async throws
    {
        switch write {
        case .set: try await storage.set("written", forKey: key)
        case .remove: try await storage.remove(forKey: key)
        case .removeAll: try await storage.removeAll()
        }
    }

    /// - Parameter storage: The one that is read through.
    private func write(_ cell: Cell, past storage: RemovableStorage<Filename, String>) async throws
    {
        switch cell.origin {
        case .sameHandle: try await write(cell.write, to: storage)
        case .otherHandle:
            try await write(cell.write, to: reading(temporary.storage(of: String.self)))
        case .file: try await write(cell.write, to: file.asRemovableStorage())
        case .otherProcess:
            let opened = try #require(DatabaseFile.opened(at: temporary.file))
            FileRegistry.shared.remove(opened)
            // Another path, so that nothing of this process is shared.
            let link = temporary.folder.file("link")
            try FileManager.default.createSymbolicLink(
                at: link,
                withDestinationURL: temporary.folder.url
            )
            let other = SQLiteStorage<String>(
                fileURL: link.appendingPathComponent("storage.sqlite"),
                options: .init(clock: temporary.clock.wallClock)
            )
            try await write(cell.write, to: other.asRemovableStorage())
        }
    }

    @Test(arguments: Cell.all) func everyWriteIsHeard(_ cell: Cell) async throws {
        let storage = reading(file)
        var outcome = Outcome()
        if cell.bystander == .memory {
            try await file.set("old", forKey: key)
            try await write(cell, past: storage)
        } else {
            try await file.open()
            outcome = try await retrieve(cell, from: storage)
        }
        outcome.stored = try await file.retrieveIfPresent(forKey: key)
        #expect(outcome == cell.expected)
    }

    private func retrieve(
        _ cell: Cell,
        from storage: RemovableStorage<Filename, String>
    ) async throws -> Outcome {
        let first = Task { [key] in try await storage.retrieve(forKey: key) }
        await source.waitForCall()
        let (others, other) = AsyncStream<String>.makeStream()
        func ask() {
            storage.retrieve(forKey: key) { result in
                if case .success(let text) = result { other.yield(text) }
                other.finish()
            }
        }
        if cell.bystander == .earlyCaller {
            ask()
            // What the file is asked for later, it answers later: the caller has joined.
            _ = try await file.retrieveIfPresent(forKey: key)
        }
        try await write(cell, past: storage)
        if cell.bystander == .lateCaller {
            ask()
            if cell.expected.calls == 2 {
                await source.waitForCall(2)
                source.answer(2, "new")
            } else {
                _ = try await file.retrieveIfPresent(forKey: key)
            }
        }
        source.answer(1, "loaded")
        var outcome = Outcome(answers: [try await first.value])
        if cell.bystander != .retrieval {
            for await text in others { outcome.answers.append(text) }
        }
        outcome.calls = source.calls
        return outcome
    }
}
