import TestThreads
import Testing
import VellumTestSupport

@testable import VellumCore

/// What is known of a key that a load or a remembered answer depends on.
@Suite(.ownThreads)
struct WatchedKeysTests {
    private static let hash = SeededHash(seed: 7)
    private static let prefix = hash.of("user:42:")
    private static let group = hash.of("tenant:7")

    private func standing(
        _ key: EntryKey,
        _ change: (inout WatchedKeys) -> Void
    ) -> WatchedKeys.Standing {
        var keys = WatchedKeys()
        let version = keys.watch(key, Self.hash.of(key), groups: [Self.group], isChanging: false)
        change(&keys)
        return keys.standing(of: Self.hash.of(key), since: version)
    }

    private static let own:
        [(String, WatchedKeys.Standing, @Sendable (inout WatchedKeys) -> Void)] = [
            ("nothing", .unchanged, { _ in }),
            ("its key", .changed, { $0.recordChange(hash.of("user:42:name")) }),
            ("another key", .unchanged, { $0.recordChange(hash.of("user:43:name")) }),
            ("all keys", .changed, { $0.recordChangeOfAll() }),
            ("its prefix", .changed, { $0.recordRemoval(ofPrefix: prefix, hash) }),
            ("the empty prefix", .changed, { $0.recordRemoval(ofPrefix: hash.of(""), hash) }),
            (
                "the whole key", .changed,
                { $0.recordRemoval(ofPrefix: hash.of("user:42:name"), hash) }
            ),
            (
                "another prefix", .unchanged,
                { $0.recordRemoval(ofPrefix: hash.of("user:4:"), hash) }
            ),
            ("its group", .changed, { $0.recordRemoval(ofGroup: group) }),
            ("another group", .unchanged, { $0.recordRemoval(ofGroup: hash.of("tenant:8")) }),
            (
                "a group with its name", .unchanged,
                { $0.recordRemoval(ofGroup: hash.of("user:42:name")) }
            ),
            (
                "more than the key", .unchanged,
                { $0.recordRemoval(ofPrefix: hash.of("user:42:name:"), hash) }
            ),
        ]

    @Test(arguments: own.indices) func whatThisProcessChangesIsKnown(_ index: Int) {
        let (name, expected, change) = Self.own[index]
        #expect(standing("user:42:name", change) == expected, "\(name)")
    }

    /// Each kind, of the key, of another, and of all.
    @Test(arguments: [
        (ChangeKind.written, WatchedKeys.Standing.changed, WatchedKeys.Standing.maybeWritten),
        (.removed, .changed, .changed),
        (.evicted, .unchanged, .unchanged), (.prefixRemoved, .changed, .changed),
        (.groupRemoved, .unchanged, .changed),
    ])
    func whatOthersAnnounceIsKnown(
        _ kind: ChangeKind,
        ofTheKey: WatchedKeys.Standing,
        ofAll: WatchedKeys.Standing
    ) {
        let key: EntryKey = "user:42:name"
        let hash = Self.hash.of(key)
        for (changes, expected) in [
            (ChangedKeys.keys([hash], kind), ofTheKey), (.keys([hash ^ 1], kind), .unchanged),
            (.keys([Self.group], kind), kind == .groupRemoved ? .changed : .unchanged),
            (ChangedKeys(all: kind), ofAll), (.unknown, .unknown),
        ] {
            #expect(standing(key) { $0.record(changes, Self.hash) } == expected)
            #expect(changes.standing(of: key, [Self.group], Self.hash) == expected)
        }
    }

    /// A prefix ends where a character of UTF-8 does; a key that is too long to search counts as
    /// one that has it.
    @Test func prefixesOfAnyKeyAreFound() {
        let prefix = Self.hash.of("h\u{e4}")
        #expect(
            standing("h\u{e4}user") { $0.recordRemoval(ofPrefix: prefix, Self.hash) } == .changed
        )
        #expect(standing("haus") { $0.recordRemoval(ofPrefix: prefix, Self.hash) } == .unchanged)
        let long = EntryKey(String(repeating: "x", count: 70_000))
        #expect(standing(long) { $0.recordRemoval(ofPrefix: prefix, Self.hash) } == .changed)
    }

    @Test func whoBeginsAfterAChangeDoesNotSeeIt() {
        var keys = WatchedKeys()
        let hash = Self.hash.of("a")
        let first = keys.watch("a", hash, isChanging: false)
        for change in [
            ChangedKeys.keys([hash]), ChangedKeys(all: .written), ChangedKeys(all: .removed),
            .unknown,
        ] {
            keys.record(change, Self.hash)
            let later = keys.watch("a", hash, isChanging: false)
            #expect(keys.standing(of: hash, since: later) == .unchanged)
            #expect(keys.standing(of: hash, since: first) == .changed)
        }
    }

    /// What is announced is committed after the row was read, or before.
    @Test func aWatchThatBeginsDuringAWriteOfTheKeyIsDoubtful() {
        var keys = WatchedKeys()
        let (a, b) = (Self.hash.of("a"), Self.hash.of("b"))
        let other = keys.watch("b", b, isChanging: false)
        let version = keys.watch("a", a, isChanging: true)
        #expect(keys.standing(of: a, since: version) == .unknown)
        #expect(keys.standing(of: b, since: other) == .unchanged)
        let later = keys.watch("a", a, isChanging: false)
        #expect(keys.standing(of: a, since: later) == .unchanged)
    }

    @Test func aKeyIsWatchedUntilItsLastWatcherLeaves() {
        var keys = WatchedKeys()
        let hash = Self.hash.of("a")
        let (first, again) = (
            keys.watch("a", hash, isChanging: false), keys.watch("a", hash, isChanging: false)
        )
        keys.unwatch(hash)
        #expect(keys.standing(of: hash, since: min(first, again)) == .unchanged)
        keys.unwatch(hash)
        keys.unwatch(hash)
        #expect(keys.isEmpty && keys.standing(of: hash, since: first) == .changed)
    }

    /// Too many keys: the kind that most have becomes one of all keys, and no other.
    @Test func tooManyChangesOfOneKindHideNoOther() {
        var changes = ChangedKeys()
        changes.insert(.init(1, .removed), most: 8)
        for hash: UInt64 in 10..<100 { changes.insert(.init(hash, .written), most: 8) }
        changes.insert(.init(2, .prefixRemoved), most: 8)
        #expect(
            changes.areOfAll(.written) && !changes.areOfAll(.removed)
                && !changes.areOfAll(.prefixRemoved)
        )
        #expect(changes.single == [.init(1, .removed), .init(2, .prefixRemoved)])
        for hash: UInt64 in 10..<100 { changes.insert(.init(hash, .prefixRemoved), most: 8) }
        #expect(changes.areOfAll(.removed), "A prefix that is not known may be any.")
    }
}
