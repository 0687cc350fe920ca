import Foundation
import TestThreads
import Testing
import Vellum

/// Keys of archives. (C9)
@Suite(.ownThreads)
struct ArchiveStoreKeyTests {
    struct Item: ArchiveCodable, Equatable {
        var primaryKey: String
        var text: String
    }

    let temporary = TemporaryArchives()
    let store: ArchiveStore<Item>

    init() throws {
        store = try temporary.factory.store()
    }

    static let keys = [
        "", "\0", "a\0b", "a", "/", "..", "../a", "a/b", " ", "a ", "\n", "👩‍👩‍👧‍👦", "🇪🇺",
        "'; DROP TABLE archives; --", "%", "_", "\u{FEFF}a",
        "\u{FFFD}",
        "A", "ä", "ß", "ss", "ﬁ", "fi", String(repeating: "k", count: 65536),
        String(repeating: "é", count: 32768),
    ]

    @Test(arguments: keys)
    func anyStringIsAValidKey(key: String) throws {
        try store.record(Item(primaryKey: key, text: "found"))
        #expect(try store.access(archiveWithKey: key)?.text == "found")

        store.trimMemory(to: .zero)
        #expect(try store.access(archiveWithKey: key) == Item(primaryKey: key, text: "found"))
        #expect(try store.keys() == [key])

        #expect(try store.delete(archiveWithKey: key))
        #expect(try store.access(archiveWithKey: key) == nil)
    }

    @Test func differentStringsAreDifferentKeys() throws {
        try store.record(contentsOf: Self.keys.map { Item(primaryKey: $0, text: $0) })
        store.trimMemory(to: .zero)

        #expect(try store.count() == Self.keys.count)
        for key in Self.keys { #expect(try store.access(archiveWithKey: key)?.text == key) }
    }

    @Test(arguments: [
        ("\u{E9}", "e\u{301}"), ("\u{212B}", "A\u{30A}"),
        ("\u{1E9B}\u{323}", "\u{17F}\u{323}\u{307}"), ("\u{AC00}", "\u{1100}\u{1161}"),
    ])
    func bothNormalFormsAreOneKey(composed: String, decomposed: String) throws {
        try store.record(Item(primaryKey: composed, text: "first"))
        #expect(try store.access(archiveWithKey: decomposed)?.text == "first")

        try store.record(Item(primaryKey: decomposed, text: "second"))
        store.trimMemory(to: .zero)
        #expect(try store.access(archiveWithKey: composed)?.text == "second")
        #expect(try store.count() == 1)
        #expect(try store.delete(allKeys: [composed, decomposed]) == 1)
    }

    @Test func keysSurviveReopening() throws {
        try store.record(contentsOf: Self.keys.map { Item(primaryKey: $0, text: $0) })
        try temporary.factory.close()

        let reopened = try temporary.factory.store(for: Item.self)
        #expect(try Set(reopened.keys()) == Set(Self.keys))
        for key in Self.keys { #expect(try reopened.access(archiveWithKey: key)?.text == key) }
    }
}
