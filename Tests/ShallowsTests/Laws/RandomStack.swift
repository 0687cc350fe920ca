import Shallows
import VellumCore
import VellumEngine
import VellumTestSupport

/// Storages that are made at random of others, which hold what was set to them all the same.
struct RandomStack {
    var random: SeededGenerator
    /// What it is made of, for failures.
    private(set) var made = ""
    /// Makes the storages at the bottom, where they are not to be those of the laws.
    var bottom: (@Sendable () -> RemovableStorage<String, String>)?

    init(seed: UInt64, bottom: (@Sendable () -> RemovableStorage<String, String>)? = nil) {
        random = SeededGenerator(seed: seed)
        self.bottom = bottom
    }

    private mutating func choose(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }

    mutating func removable(_ depth: Int) throws -> RemovableStorage<String, String> {
        guard depth > 0 else { return try removableBottom() }
        switch choose(9) {
        case 0..<4: return try transformed(removable(depth - 1))
        case 4:
            made += " combined("
            let (front, back) = (try removable(depth - 1), try removable(depth - 1))
            made += ")"
            return front.combined(with: back)
        case 5:
            made += " backed("
            let (front, back) = (try removable(depth - 1), try removable(depth - 1))
            made += ")"
            return front.backed(by: back)
        case 6:
            made += " pushing("
            let (front, back) = (try removable(depth - 1), try removable(depth - 1))
            made += ")"
            return front.pushing(to: back)
        default:
            made += " zip("
            let (left, right) = (try removable(depth - 1), try removable(depth - 1))
            made += ")"
            return unzipped(zip(left, right))
        }
    }

    mutating func storage(_ depth: Int) throws -> Storage<String, String> {
        guard depth > 0 else { return try storageBottom() }
        switch choose(10) {
        case 0..<3: return try transformed(storage(depth - 1))
        case 3:
            made += " combined("
            let (front, back) = (try storage(depth - 1), try storage(depth - 1))
            made += ")"
            return front.combined(with: back)
        case 4:
            made += " backed("
            let (front, back) = (try storage(depth - 1), try storage(depth - 1))
            made += ")"
            return front.backed(by: back)
        case 5:
            made += " pushing("
            let (front, back) = (try storage(depth - 1), try storage(depth - 1))
            made += ")"
            return front.pushing(to: back)
        case 6:
            made += " zip("
            let (left, right) = (try storage(depth - 1), try storage(depth - 1))
            made += ")"
            return unzipped(zip(left, right))
        case 7:
            made += " parts"
            let storage = try storage(depth - 1)
            return Storage(read: storage.asReadOnlyStorage(), write: storage.asWriteOnlyStorage())
        case 8:
            made += " loading"
            let none: @Sendable (String) async throws -> String = { _ in throw Nothing() }
            return try storage(depth - 1).loading(none)
        default:
            made += " asStorage"
            return try removable(depth - 1).asStorage()
        }
    }

    private func unzipped<Access: ReadableAccess & WritableAccess>(
        _ pairs: AnyStorage<Access, String, (String, String)>
    ) -> AnyStorage<Access, String, String> {
        pairs.mapValues(
            transformIn: { pair in
                guard pair.0 == pair.1 else { throw Torn(left: pair.0, right: pair.1) }
                return pair.0
            },
            transformOut: { ($0, $0) }
        )
    }

    /// A pair that was never set.
    struct Torn: Error {
        let left: String
        let right: String
    }

    private mutating func transformed<Access: ReadableAccess & WritableAccess>(
        _ storage: AnyStorage<Access, String, String>
    ) -> AnyStorage<Access, String, String> {
        let names = [
            "mapKeys", "mapValues", "asyncMapKeys", "asyncMapValues", "renaming", "validate",
            "async validate", "fallback", "strict",
            "synchronized", "reporting", "unsupported", "retyped", "twice",
        ]
        let choice = choose(names.count)
        made += " " + names[choice]
        switch choice {
        case 0: return storage.mapKeys { "x" + $0 }
        case 1:
            return storage.mapValues(
                transformIn: { String($0.dropLast()) },
                transformOut: { $0 + "0" }
            )
        case 2: return storage.asyncMapKeys { key async in "y" + key }
        case 3:
            return storage.asyncMapValues(
                transformIn: { value async in String(value.dropLast()) },
                transformOut: { value async in value + "1" }
            )
        case 4: return storage.renaming(to: "renamed")
        case 5: return storage.validate { _ in true }
        case 6: return storage.validate { _ async in true }
        case 7: return storage.fallback { throw $0 }
        case 8: return storage.strict()
        case 9: return storage.synchronizedCalls()
        case 10: return storage.reporting { _ in }
        case 11: return storage.usingUnsupportedTransformation { $0.mapKeys { "z" + $0 } }
        case 12:
            return storage.mapKeys { (name: Name) in name.rawValue }.mapKeys { Name(rawValue: $0) }
        default: return storage.mapValues(transformIn: { $0 }, transformOut: { $0 }).mapKeys { $0 }
        }
    }

    private struct Name: Hashable, Sendable {
        var rawValue: String
    }

    private mutating func removableBottom() throws -> RemovableStorage<String, String> {
        if let bottom { return bottom() }
        while true {
            let subject = Subject.all[choose(Subject.all.count)]
            guard let removable = try subject.make().removable else { continue }
            made += " <\(subject.testDescription)>"
            return removable
        }
    }

    private mutating func storageBottom() throws -> Storage<String, String> {
        if let bottom { return bottom().asStorage() }
        let subject = Subject.all[choose(Subject.all.count)]
        made += " <\(subject.testDescription)>"
        // An unknown error of a user-supplied storage stops at `strict`: this one says what it
        // means.
        return try subject.make().storage.fallback { error in
            guard error is Absent else { throw error }
            throw Nothing()
        }
    }
}
