import Foundation
import TestThreads
import Testing
import VellumCore
import VellumRemote

@testable import VellumValkey

/// Which primary has which slots, by what nodes say.
@Suite(.ownThreads)
struct ClusterMapTests {
    private typealias Address = ClusterMap.Address
    private static let (a, b, c) = (Address("a", 1), Address("b", 2), Address("c", 3))

    private static func view(_ ranges: (ClosedRange<Int>, Address, epoch: Int64)...) -> ClusterView
    {
        ClusterView(ranges.map { .init($0.0, $0.1, epoch: $0.epoch) })
    }

    /// The first is of the specification; the others are what CLUSTER KEYSLOT says.
    @Test(arguments: [
        ("123456789", 12739), ("foo", 12182), ("{user1000}.following", 3443),
        ("{user1000}.followers", 3443), ("foo{}{bar}", 8363),
        ("foo{{bar}}zap", 4015), ("foo{bar}{zap}", 5061), ("", 0),
    ])
    func aKeyHasTheSlotThatTheServersCalculate(_ key: String, _ slot: Int) {
        #expect(ClusterMap.slot(of: key) == slot)
    }

    @Test func theTwoKeysOfAnEntryHaveOneSlot() {
        let keys = RemoteKeys(cacheName: "a}b{c")
        for key in ["", "}", "{}", "a}b", "\u{1F600}"] {
            #expect(
                ClusterMap.slot(of: keys.value(of: EntryKey(key)))
                    == ClusterMap.slot(of: keys.lease(of: EntryKey(key)))
            )
        }
    }

    @Test func theSlotsOfACacheAreThoseOfItsKeys() {
        for name in ["", "numbers", "a{b", "a}b", "{}"] {
            for keys in [
                RemoteKeys(cacheName: name), RemoteKeys(cacheName: name, areOfGroups: true),
            ] {
                let slots = ClusterMap.Slots(beginning: keys.beginning)
                for key in ["", "}", "{}", "a}b", "key 1", "\u{1F600}"] {
                    let key = EntryKey(key)
                    #expect(
                        slots.slot(of: key.normalized) == ClusterMap.slot(of: keys.value(of: key))
                    )
                }
            }
        }
    }

    @Test func eachSlotHasThePrimaryOfTheHighestEpoch() {
        // One that is cut off says what it always said.
        let old = Self.view((0...99, Self.a, 1), (100...199, Self.b, 2))
        let new = Self.view((0...99, Self.c, 3), (100...199, Self.b, 2))
        for views in [[old, new], [new, old]] {
            let map = ClusterMap(views)
            #expect(
                map.owner(of: 0) == Self.c && map.owner(of: 99) == Self.c
                    && map.owner(of: 100) == Self.b && map.owner(of: 200) == nil
            )
            #expect(Set(map.primaries) == [Self.b, Self.c])
        }
        #expect(ClusterMap([]).isEmpty && ClusterMap([Self.view()]).isEmpty)
    }

    @Test func whoLosesASlotIsNamed() {
        let before = ClusterMap([Self.view((0...99, Self.a, 1), (100...199, Self.b, 2))])
        var after = before
        after.move(5, to: Self.b)
        #expect(
            after.losers(since: before) == [Self.a] && before.losers(since: after) == [Self.b]
                && !after.agrees(with: before)
        )
        after.move(300, to: Self.c)
        #expect(after.losers(since: before) == [Self.a])
        let reordered = ClusterMap([Self.view((100...199, Self.b, 2), (0...99, Self.a, 1))])
        #expect(
            reordered != before && reordered.losers(since: before).isEmpty
                && reordered.agrees(with: before)
        )
        #expect(ClusterMap([Self.view((100...199, Self.b, 2))]).losers(since: before) == [Self.a])
        #expect(
            ClusterMap().losers(since: before) == [Self.a, Self.b]
                && before.losers(since: ClusterMap()).isEmpty
        )
    }

    @Test(
        arguments: [
            (
                "MOVED 3999 127.0.0.1:6381",
                Redirection.moved(slot: 3999, Address("127.0.0.1", 6381))
            ),
            ("MOVED 3999 :6381", .moved(slot: 3999, Address("here", 6381))),
            ("MOVED 3999 ?:6381", .down(isSlot: true)),
            ("MOVED 1 ::1:6381", .moved(slot: 1, Address("::1", 6381))),
            ("ASK 1 b.internal:2", .ask(Address("b.internal", 2))),
            ("TRYAGAIN Multiple keys request during rehashing of slot", .tryAgain),
            ("CLUSTERDOWN Hash slot not served", .down(isSlot: true)),
            ("CLUSTERDOWN The cluster is down", .down(isSlot: false)), ("MOVED", nil),
            ("MOVED 16384 a:1", nil), ("MOVED -1 a:1", nil),
            ("MOVED 1 a:0", nil), ("MOVED 1 a:65536", nil), ("MOVED 1 a", nil),
            ("MOVED x a:1", nil), ("ERR unknown", nil), ("", nil),
        ] as [(String, Redirection?)]
    )
    func aRedirectionIsRead(_ message: String, _ expected: Redirection?) {
        #expect(Redirection(message, asked: Address("here", 1)) == expected)
    }

    private static func row(
        _ first: Int64,
        _ last: Int64,
        _ host: RESPValue,
        _ port: Int64,
        _ id: String = "x"
    ) -> RESPValue {
        .array([
            .integer(first), .integer(last), .array([host, .integer(port), .bytes(Data(id.utf8))]),
        ])
    }

    @Test func whatANodeSaysIsRead() throws {
        let nodes = RESPValue.bytes(
            .init(
                """
                x 127.0.0.1:1@2 myself,master - 0 0 7 connected 0-99\ny h:3@4,name slave,fail? x 0 \
                0 9 connected\nbad\n
                """
                .utf8
            )
        )
        let slots = RESPValue.array([
            Self.row(0, 99, .bytes(Data("h".utf8)), 1), Self.row(100, 100, .null, 2, "z"),
        ])
        let view = try #require(ClusterView(slots: slots, nodes: nodes, asked: Address("here", 9)))
        #expect(
            view.ranges.map(\.slots) == [0...99, 100...100] && view.ranges.map(\.epoch) == [7, 0]
        )
        #expect(
            view.ranges.map(\.address) == [Address("h", 1), Address("here", 2)]
                && view.nodes == ["x", "y"]
        )
    }

    /// The host of the reply, then what follows the node's name, and the host that is used, where
    /// addresses and where names are preferred.
    @Test(
        arguments: [
            ("10.0.0.1", ["hostname", "a.cache"], "10.0.0.1", "a.cache"),
            ("a.cache", ["ip", "10.0.0.1"], "a.cache", "a.cache"),
            ("", [], "here", "here"), ("?", ["ip", "10.0.0.1"], "10.0.0.1", "10.0.0.1"),
            ("?", ["ip", "?"], nil, nil), ("?", [], nil, nil),
            ("10.0.0.1", ["hostname", ""], "10.0.0.1", "10.0.0.1"),
            ("10.0.0.1", ["hostname"], "10.0.0.1", "10.0.0.1"),
        ] as [(String, [String], String?, String?)]
    )
    func aNodeIsWhereItsClusterSays(
        _ host: String,
        _ more: [String],
        _ address: String?,
        _ name: String?
    ) throws {
        let text = { (text: String) in RESPValue.bytes(Data(text.utf8)) }
        let node = RESPValue.array([text(host), .integer(7), text("x"), .array(more.map(text))])
        let slots = RESPValue.array([.array([.integer(0), .integer(1), node])])
        for (prefersNames, expected) in [(false, address), (true, name)] {
            let view = try #require(
                ClusterView(
                    slots: slots,
                    nodes: nil,
                    asked: Address("here", 9),
                    prefersNames: prefersNames
                )
            )
            #expect(view.ranges.map(\.address.host) == (expected.map { [$0] } ?? []))
        }
    }

    @Test(arguments: [
        RESPValue.null, .integer(1), .array([.integer(1)]), .array([.array([])]),
        .array([row(-1, 5, .null, 1)]),
        .array([row(0, 16384, .null, 1)]),
        .array([row(9, 5, .null, 1)]), .array([row(0, 5, .null, 0)]),
        .array([row(0, 5, .null, 65536)]),
        .array([.array([.integer(0), .integer(1), .array([])])]),
        .array([.array([.integer(0), .integer(.max), .array([.null, .integer(1)])])]),
    ])
    func whatIsNoMapIsRefused(_ slots: RESPValue) {
        #expect(ClusterView(slots: slots, nodes: .bytes(Data()), asked: Address("here", 9)) == nil)
        #expect(ClusterView(slots: .array([]), nodes: .null, asked: Address("here", 9)) == nil)
    }
}
