import CBORCoding
import Foundation
import TestThreads
import Testing

@Suite("Container misuse", .ownThreads)
struct ContainerMisuseTests {
    private static let misuses: [(String, @Sendable (any Encoder) throws -> Void)] = [
        (
            "a map and an array",
            {
                _ = $0.container(keyedBy: TextKey.self)
                _ = $0.unkeyedContainer()
            }
        ),
        (
            "an array and a map",
            {
                var array = $0.unkeyedContainer()
                try array.encode(1)
                var map = $0.container(keyedBy: TextKey.self)
                try map.encode(1, forKey: "a")
            }
        ),
        (
            "two scalars",
            {
                var single = $0.singleValueContainer()
                try single.encode(1)
                try single.encode(2)
            }
        ),
        (
            "two scalars in two containers",
            {
                var (first, second) = ($0.singleValueContainer(), $0.singleValueContainer())
                try first.encode("1")
                try second.encodeNil()
            }
        ),
        (
            "a scalar and a map",
            {
                var single = $0.singleValueContainer()
                try single.encode(true)
                _ = $0.container(keyedBy: TextKey.self)
            }
        ),
        (
            "a map and a scalar",
            {
                _ = $0.container(keyedBy: TextKey.self)
                var single = $0.singleValueContainer()
                try single.encode(1.5)
            }
        ),
    ]

    @Test(arguments: misuses)
    func twoValuesForOneEncoderThrow(
        _ name: String,
        _ misuse: @escaping @Sendable (any Encoder) throws -> Void
    ) throws {
        #expect(throws: EncodingError.self) { try encoded(Encoding(misuse)) }
        #expect(throws: EncodingError.self) { try encoded(["a": Encoding(misuse)]) }
        #expect(throws: EncodingError.self) {
            try encoded([Encoding { _ = $0.unkeyedContainer() }, Encoding(misuse)])
        }
    }

    @Test func theErrorHasTheCodingPathOfTheMisuse() throws {
        let misuse = Encoding {
            var single = $0.singleValueContainer()
            try single.encode(1)
            try single.encode(2)
        }
        let error = #expect(throws: EncodingError.self) { try encoded(["a": [misuse]]) }
        guard case .invalidValue(_, let context) = error else { return }
        #expect(context.codingPath.map(\.stringValue) == ["a", "Index 0"])
    }

    @Test func aValueThatEncodesNothingThrowsAtTheTopAndIsAnEmptyMapBelow() throws {
        #expect(throws: EncodingError.self) { try encoded(Encoding { _ in }) }
        #expect(throws: EncodingError.self) {
            try encoded(Encoding { _ = $0.singleValueContainer() })
        }
        #expect(try encoded([Encoding { _ in }]).hex == "81a0")
        #expect(try encoded(["a": Encoding { _ in }]).hex == "a16161a0")
    }

    @Test func unusedContainersAreEmpty() throws {
        #expect(try encoded(Encoding { _ = $0.unkeyedContainer() }).hex == "80")
        #expect(try encoded(Encoding { _ = $0.container(keyedBy: TextKey.self) }).hex == "a0")
        let nested = Encoding {
            var array = $0.unkeyedContainer()
            _ = array.nestedUnkeyedContainer()
            _ = array.nestedContainer(keyedBy: TextKey.self)
            _ = array.superEncoder()
        }
        #expect(try encoded(nested).hex == "8380a0a0")
    }

    @Test func anUnusedSuperEncoderIsAnEmptyMap() throws {
        let value = Encoding {
            var map = $0.container(keyedBy: TextKey.self)
            _ = map.superEncoder()
            try map.encode(1, forKey: "a")
        }
        #expect(try encoded(value).hex == "a2657375706572a0616101")
    }

    /// Keeps containers and encoders beyond the encoding.
    private final class Kept {
        var encoder: (any Encoder)?
        var map: KeyedEncodingContainer<TextKey>?
        var array: (any UnkeyedEncodingContainer)?
        var unused: (any Encoder)?
    }

    @Test func containersUsedAfterTheEncodingHaveNoEffect() throws {
        let kept = Kept()
        let value = Encoding {
            kept.encoder = $0
            var map = $0.container(keyedBy: TextKey.self)
            kept.array = map.nestedUnkeyedContainer(forKey: "array")
            kept.unused = map.superEncoder()
            kept.map = map
        }
        let data = try encoded(value)
        #expect(try decoded(Tree.self, data) == .map(["array": [], "super": .map([:])]))
        for _ in 0..<100 {
            try kept.array?.encode("late")
            try kept.map?.encode([1, 2, 3], forKey: "late")
            try kept.map?.encode(Tree.map(["a": [1]]), forKey: "later")
            _ = kept.map?.superEncoder(forKey: "x")
            _ = kept.array?.nestedContainer(keyedBy: TextKey.self)
        }
        var single = kept.unused?.singleValueContainer()
        try single?.encode(5)
        _ = kept.encoder?.container(keyedBy: TextKey.self).codingPath
        #expect(kept.array?.count == 200)
        #expect(try encoded(value) == data)
    }

    @Test func anEncoderKeptFromAFailedEncodingHasNoEffect() throws {
        let kept = Kept()
        #expect(throws: Failure.self) {
            try encoded(
                Encoding {
                    kept.encoder = $0
                    var map = $0.container(keyedBy: TextKey.self)
                    kept.array = map.nestedUnkeyedContainer(forKey: "array")
                    kept.map = map
                    throw Failure()
                }
            )
        }
        try kept.array?.encode("late")
        try kept.map?.encode("late", forKey: "late")
        #expect(kept.array?.count == 1)
    }
}
