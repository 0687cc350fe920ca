import Foundation
import ScriptedDisk
import TestThreads
import Testing
import VellumCore
import VellumEngine
import VellumTestSupport

/// Writes of tasks that share a commit on a disk that fails: what a call says is what was done
/// (decision 86).
@Suite(.ownThreads)
struct SharedCommitTests {
    private static func record(_ key: EntryKey, in store: Store<Data>) async -> Bool {
        do {
            var transaction = StoreTransaction()
            try transaction.record(Data(count: 300), forKey: key, in: store)
            try await transaction.commitInTurn()
            return true
        } catch {
            return false
        }
    }

    /// Of what was not synced nothing is left.
    @Test func aPowerSafeWriteOfATaskSurvivesThePower() async throws {
        let (folder, found) = (try FastFolder(), try FastFolder())
        let script = DiskScript(folder: folder.url, recording: true)
        defer { script.remove() }
        let file = try DatabaseFile.open(at: folder.file("Archives.sqlite"))
        let store = try file.store(
            named: "data",
            codec: IdentityCodec(),
            memory: Capacity(1.byte),
            disk: .unlimited,
            caching: .bytes,
            durability: .powerSafe
        )
        #expect(await Self.record("a", in: store))
        var moment = DiskMoment()
        for operation in script.operations { moment.add(operation) }
        for (name, bytes) in moment.image({ _ in .lost }) { try bytes.write(to: found.file(name)) }
        let again = try DatabaseFile.open(at: found.file("Archives.sqlite"))
        let others = try again.store(
            named: "data",
            codec: IdentityCodec(),
            memory: Capacity(1.byte),
            disk: .unlimited
        )
        #expect(try others.value(forKey: "a") == Data(count: 300))
        try again.close()
        try file.close()
    }

    /// Whichever call of the system fails, once.
    @Test(arguments: [DiskFault.failure, .noSpace], [Durability.crashSafe, .powerSafe])
    func aCallThatFailsHasChangedNothing(fault: DiskFault, durability: Durability) async throws {
        for step in 0..<40 {
            let folder = try FastFolder()
            let script = DiskScript(folder: folder.url)
            defer { script.remove() }
            let file = try DatabaseFile.open(at: folder.file("Archives.sqlite"))
            let store = try file.store(
                named: "data",
                codec: IdentityCodec(),
                memory: Capacity(1.byte),
                disk: .unlimited,
                caching: .bytes,
                durability: durability
            )
            script.fail(fault, at: step)
            let isDone = await withTaskGroup(of: (Int, Bool).self, returning: [Int: Bool].self) {
                group in
                for number in 0..<16 {
                    group.addTask { (number, await Self.record(EntryKey("\(number)"), in: store)) }
                }
                return await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
            }
            script.heal()
            for (number, isDone) in isDone {
                let isThere = try store.contains(EntryKey("\(number)"))
                // If only the sync failed, it is written all the same.
                #expect(
                    durability == .powerSafe ? isThere || !isDone : isThere == isDone,
                    "step \(step), call \(number)"
                )
            }
            // Those that come later are carried out. No sync is trusted after a failed one.
            let isCarriedOut = await Self.record("later", in: store)
            #expect(isCarriedOut || durability == .powerSafe)
            #expect(try store.contains("later"))
            try? file.close()
        }
    }
}
