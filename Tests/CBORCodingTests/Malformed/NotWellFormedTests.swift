import CBORCoding
import Foundation
import TestThreads
import Testing

@Suite("Malformed data", .ownThreads)
struct NotWellFormedTests {
    /// All examples of RFC 8949, appendix F.1.
    static let examples =
        [
            // The data ends inside a head.
            "18", "19", "1a", "1b", "1901", "1a0102", "1b01020304050607", "38", "58", "78", "98",
            "9a01ff00", "b8", "d8", "f8", "f900",
            "fa0000", "fb000000",
            // Strings with too few bytes.
            "41", "61", "5affffffff00", "5bffffffffffffffff010203", "7affffffff00",
            "7b7fffffffffffffff010203",
            // Maps and arrays with too few items.
            "81", "818181818181818181", "8200", "a1", "a20102", "a100", "a2000000",
            // A tag without content.
            "c0",
            // Strings, maps and arrays without a break.
            "5f4100", "7f6100", "9f", "9f0102", "bf", "bf01020102", "819f", "9f8000",
            "9f9f9f9f9fffffffff", "9f819f819f9fffffff",
            // Reserved additional information.
            "1c", "1d", "1e", "3c", "3d", "3e", "5c", "5d", "5e", "7c", "7d", "7e", "9c", "9d",
            "9e", "bc", "bd", "be", "dc", "dd", "de",
            "fc", "fd", "fe",
            // Simple values in two bytes that have a form with one byte.
            "f800", "f801", "f818", "f81f",
            // Chunks of strings that are of another type or of indefinite length.
            "5f00ff", "5f21ff", "5f6100ff", "5f80ff", "5fa0ff", "5fc000ff", "5fe0ff", "7f4100ff",
            "5f5f4100ffff", "7f7f6100ffff",
            // A break outside an item of indefinite length.
            "ff", "81ff", "8200ff", "a1ff", "a1ff00", "a100ff", "a20000ff", "9f81ff",
            "9f829f819f9fffffffff",
            // A map with a key but no value.
            "bf00ff", "bf000000ff",
            // Integers and tags of indefinite length.
            "1f", "3f", "df",
        ]

    @Test(arguments: examples)
    func everyExampleOfTheRFCThrows(_ hex: String) throws {
        let data = Data(hex: hex)
        for decode in anyTypes {
            let error = #expect(throws: DecodingError.self) { try decode(data) }
            #expect(error?.kind == "dataCorrupted")
            #expect(error?.context?.codingPath.isEmpty == true)
        }
    }

    @Test(arguments: examples)
    func anUnusedMalformedItemThrows(_ hex: String) throws {
        struct Known: Decodable { var a: Int? }
        for prefix in ["82 f6", "a2 6161 01 6162", "d9d9f7", "bf 6162"] {
            #expect(
                decodingError { try decoded(Known.self, hex: prefix + hex) }?.kind
                    == "dataCorrupted",
                "\(prefix)"
            )
        }
    }

    @Test func emptyDataThrows() throws {
        for decode in anyTypes {
            #expect(decodingError { try decode(Data()) }?.kind == "dataCorrupted")
        }
    }

    @Test(arguments: ["00", "f6", "80", "a0", "4101", "9fff", "f93c00", "a1616101"])
    func trailingBytesThrow(_ hex: String) throws {
        for more in ["00", "f6", "ff", "18", hex] {
            let error = decodingError { try decoded(Tree.self, hex: hex + more) }
            #expect(error?.kind == "dataCorrupted", "\(hex) \(more)")
        }
    }

    @Test(arguments: [
        "5b7fffffffffffffff", "7b7fffffffffffffff", "9b7fffffffffffffff", "bb7fffffffffffffff",
        "5b8000000000000000", "7b8000000000000000",
        "9b8000000000000000", "bb8000000000000000", "5bffffffffffffffff", "7bffffffffffffffff",
        "9bffffffffffffffff", "bbffffffffffffffff",
        "5affffffff", "9affffffff", "baffffffff", "bb4000000000000000", "bb4000000000000001",
        "9b00000000ffffffff", "5f5b7fffffffffffffff",
    ])
    func aFalseLengthThrowsWithoutAllocating(_ hex: String) throws {
        for decode in anyTypes {
            for rest in ["", "00", "000000000000000000000000", "ff"] {
                #expect(
                    decodingError { try decode(Data(hex: hex + rest)) }?.kind == "dataCorrupted"
                )
            }
        }
    }

    @Test(arguments: [
        "a2 6161 01 6161 02", "bf 6161 01 6161 02 ff", "a2 01 01 01 02", "a2 80 01 80 02",
        "81a2 f6 01 f6 02", "d864 a2 4100 01 4100 01",
    ])
    func aDuplicateKeyThrows(_ hex: String) throws {
        for decode in anyTypes {
            #expect(decodingError { try decode(Data(hex: hex)) }?.kind == "dataCorrupted")
        }
    }

    /// Two forms of one key, one of which is not the shortest.
    @Test(arguments: [
        "a2 6161 01 780161 02", "a2 6161 01 7f6161ff 02", "a2 7f6161ff 01 7f60 6161ff 02",
        "a2 01 01 1801 02", "a2 20 01 3800 02",
    ])
    func aDuplicateKeyInAnotherFormThrows(_ hex: String) throws {
        #expect(
            decodingError { try decoded([String: Int].self, hex: hex) }?.kind == "dataCorrupted"
        )
    }

    /// Texts with different bytes that are equal by Swift's `==`. A dictionary can contain only one
    /// of them.
    static let equalTexts = [
        ("\u{E9}", "e\u{301}"), ("K", "\u{212A}"), (";", "\u{37E}"),
        ("a\u{323}\u{307}", "a\u{307}\u{323}"),
        ("\u{AC00}", "\u{1100}\u{1161}"),
        ("\u{439}", "\u{438}\u{306}"), ("\u{8C48}", "\u{F900}"),
        ("\u{1D15E}", "\u{1D157}\u{1D165}"),
        ("a key of more than fifteen bytes \u{E9}", "a key of more than fifteen bytes e\u{301}"),
    ]

    @Test(arguments: equalTexts, [0, 1, 40])
    func equivalentKeysWithDifferentBytesThrow(_ texts: (String, String), _ others: Int) throws {
        #expect(texts.0 == texts.1 && Array(texts.0.utf8) != Array(texts.1.utf8))
        let rest = try (0..<others).map { try encoded("key \($0)") + encoded(0) }.reduce(Data(), +)
        for (first, second) in [texts, (texts.1, texts.0)] {
            let pairs = try encoded(first) + encoded(1) + rest + encoded(second) + encoded(2)
            for map in [
                Data([0xB8, UInt8(others + 2)]) + pairs, Data([0xBF]) + pairs + Data([0xFF]),
            ] {
                for decode in [
                    { try decoded([String: Int].self, $0) }, { try decoded(CBORValue.self, $0) },
                ] as [(Data) throws -> Any] {
                    let error = decodingError { try decode(map) }
                    #expect(error?.kind == "dataCorrupted")
                    #expect(
                        error?.context?.debugDescription.contains("two keys that are equal") == true
                    )
                }
                let nested = Data([0x81]) + map
                #expect(
                    decodingError { try decoded([[String: Int]].self, nested) }?.kind
                        == "dataCorrupted"
                )
                #expect(
                    decodingError { try decoded([[CBORValue: CBORValue]].self, nested) }?.kind
                        == "dataCorrupted"
                )
            }
        }
    }

    @Test(arguments: [("\u{301}", "\u{323}"), ("\u{F72}", "\u{F71}"), ("\u{344}", "\u{323}")])
    func longRunsOfCombiningMarksAreComparedInCanonicalOrder(_ mark: String, _ other: String) throws
    {
        let runs = [mark, other].map { String(repeating: $0, count: 1000) }
        let (first, second) = ("a" + runs.joined(), "a" + runs.reversed().joined())
        #expect(first == second && !first.utf8.elementsEqual(second.utf8))
        let equal = try Data([0xA2]) + encoded(first) + encoded(1) + encoded(second) + encoded(2)
        #expect(decodingError { try decoded([String: Int].self, equal) }?.kind == "dataCorrupted")
        let different =
            try Data([0xA2]) + encoded(first) + encoded(1) + encoded(second + mark) + encoded(2)
        #expect(try decoded([String: Int].self, different).count == 2)
    }

    @Test func equalKeysOfIndefiniteLengthThrow() throws {
        let pieces = Data(hex: "a2 7f 6165 62cc81 ff 01 62c3a9 02")
        #expect(decodingError { try decoded([String: Int].self, pieces) }?.kind == "dataCorrupted")
    }

    @Test(arguments: [
        "\u{E9}\u{E8}\u{17F}", "\u{431}\u{451}\u{4D1}", "\u{4E2D}\u{6587}", "\u{AC00}\u{D55C}",
        "\u{304B}\u{3099}\u{304D}",
        "\u{1F600}\u{1F468}\u{928}",
    ])
    func differentKeysAreAccepted(_ characters: String) throws {
        let keys = characters.flatMap { first in
            ["", "a", "\u{E9}", "\u{301}"].map { "\(first)\($0)" }
        }
        let map = Dictionary(uniqueKeysWithValues: zip(keys, 0...))
        #expect(try roundTrip(map) == map)
    }

    @Test(arguments: [30, 300, 3000])
    func aDuplicateAmongManyKeysIsFound(_ count: Int) throws {
        let keys = (0..<count).map { "key \($0)" }
        let map = Data(hex: "b9") + Data([UInt8((count + 1) >> 8), UInt8((count + 1) & 0xFF)])
        let entries = try keys.map { try encoded($0) + [1] }.reduce(Data(), +)
        let distinct = map + entries + (try encoded("another")) + [1]
        #expect(try decoded([String: Int].self, distinct).count == count + 1)
        for twice in [keys[0], keys[count / 2], keys[count - 1]] {
            let data = map + entries + (try encoded(twice)) + [1]
            #expect(
                decodingError { try decoded([String: Int].self, data) }?.kind == "dataCorrupted"
            )
        }
    }
}
