import Foundation
import MiniCache
import Testing
import VellumFiles

@testable import VellumToolKit

/// Keys of a type, in a cache.
struct KeyCase: Sendable, CustomTestStringConvertible {
    var testDescription: String
    /// How a list prints them.
    var printed: [String]
    /// Sets a value for each key: its number.
    var fill: @Sendable (MiniCacheManager) throws -> Void

    init<Key: Codable & Hashable & Sendable>(_ keys: [(Key, String)]) {
        testDescription = "\(Key.self)"
        printed = keys.map(\.1)
        fill = { manager in
            let cache: MiniCache<Key, Int> = manager.cache(
                cacheName: "c",
                cacheVersion: .custom("1"),
                maxAge: .hours(1)
            )
            for (number, key) in keys.enumerated() { try cache.set(number, forKey: key.0) }
        }
    }
}

@Suite(.timeLimit(.minutes(10)))
struct KeyTests {
    private struct Place: Codable, Hashable {
        var city: String
        var zip: Int?
    }
    private enum Kind: Codable, Hashable { case all, one(Int) }

    private static let id = UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))

    private static let cases: [KeyCase] = [
        KeyCase([(42, "42"), (-1, "-1"), (Int.min, "\(Int.min)")]),
        KeyCase([(UInt64.max, "\(UInt64.max)")]),
        KeyCase([
            ("a", "a"), ("", ""), ("-1", "-1"), ("-a", "-a"), ("\u{301}", "\\u{301}"),
            ("\u{1}42", "\\u{1}42"), ("\u{1}", "\\u{1}"), ("\\u{1}", "\\u{5C}u{1}"),
        ]),
        KeyCase([(1.5, "1.5"), (-0.25, "-0.25"), (2.0, "2")]),
        KeyCase([(true, "true"), (false, "false")]),
        KeyCase([(id, id.uuidString)]),
        KeyCase([(Data([1, 255]), "Af8=")]),
        KeyCase([([1, 2], "[1,2]"), ([], "[]")]),
        KeyCase([
            (Place(city: "Bern", zip: 3000), #"{"city":"Bern","zip":3000}"#),
            (Place(city: "\u{1B}"), #"{"city":"\u001b"}"#),
        ]),
        KeyCase([(Kind.all, #"{"all":{}}"#), (.one(7), #"{"one":{"_0":7}}"#)]),
        KeyCase([(Decimal(string: "12345678901234567.89"), "12345678901234567.89")]),
        KeyCase([(["a": 1], #"{"a":1}"#)]),
    ]

    /// What `keys` prints, `get` and `delete` read.
    @Test(arguments: cases) func keysAreReadAsTheyArePrinted(_ keys: KeyCase) async throws {
        let folder = try TestFolder()
        let manager = MiniCacheManager(name: "m", directory: folder.url)
        try keys.fill(manager)
        try manager.close()
        func run(_ words: [String]) async -> (status: Int32, output: String) {
            let test = TestConsole()
            let path = folder.url.appending(path: "m.sqlite").path
            let arguments = [words[0], path, "c"] + words.dropFirst()
            let status = await Tool.run(arguments, console: test.console())
            return (status, test.output)
        }
        let listed = await run(["keys"])
        #expect(listed.output == keys.printed.map { $0 + "\n" }.joined())
        for order in ["recorded", "use", "size"] {
            let words = ["keys", "--by", order, "--prefix", "4", "--limit", "1"]
            #expect(await run(words).output == (keys.printed.contains("42") ? "42\n" : ""))
        }
        for (number, key) in keys.printed.enumerated() {
            let isOption = key == "-a"
            let found = await run(["get", "--escaped"] + (isOption ? ["--"] : []) + [key])
            #expect(found.output == "\(number)\n", "\(key)")
        }
        for key in keys.printed where key != "-a" {
            #expect(await run(["delete", "--yes", key, "--escaped"]).status == 0, "\(key)")
            #expect(await run(["get", key, "--escaped"]).status == 1, "\(key)")
        }
    }

    @Test func aKeyThatLooksLikeAnOptionIsExplained() async {
        let test = TestConsole()
        #expect(await Tool.run(["get", "f", "c", "-a"], console: test.console()) == 2)
        #expect(test.error.contains("behind --"))
    }
}
