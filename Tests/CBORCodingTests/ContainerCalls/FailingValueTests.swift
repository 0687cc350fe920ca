import CBORCoding
import Foundation
import TestThreads
import Testing

/// A value throws while it is encoded; the caller catches the error and continues.
@Suite("Values that fail to encode", .ownThreads)
struct FailingValueTests {
    private final class Kept {
        var map: KeyedEncodingContainer<TextKey>?
        var array: (any UnkeyedEncodingContainer)?
        var encoder: (any Encoder)?
    }

    private static func failing(_ write: @escaping (any Encoder) throws -> Void) -> Encoding {
        Encoding {
            try write($0)
            throw Failure()
        }
    }

    private static let failures: [(String, @Sendable (any Encoder) throws -> Void)] = [
        ("nothing", { _ in }),
        (
            "a scalar",
            {
                var single = $0.singleValueContainer()
                try single.encode(1)
            }
        ),
        (
            "an array",
            {
                var array = $0.unkeyedContainer()
                try array.encode([1, 2, 3])
            }
        ),
        (
            "a map",
            {
                var map = $0.container(keyedBy: TextKey.self)
                try map.encode([1: 2], forKey: "a")
            }
        ),
        (
            "a map with a key twice",
            {
                var map = $0.container(keyedBy: TextKey.self)
                for value in 0..<100 { try map.encode(value, forKey: "a") }
            }
        ),
        (
            "containers alternately",
            {
                var map = $0.container(keyedBy: TextKey.self)
                var (first, second) = (
                    map.nestedUnkeyedContainer(forKey: "a"), map.nestedUnkeyedContainer(forKey: "b")
                )
                try first.encode(1)
                try second.encode(2)
                try first.encode(3)
            }
        ),
        (
            "an encoder that is not used",
            {
                var map = $0.container(keyedBy: TextKey.self)
                _ = map.superEncoder()
            }
        ),
    ]

    @Test(arguments: failures)
    func aCaughtFailureLeavesNoTrace(
        _ name: String,
        _ write: @escaping @Sendable (any Encoder) throws -> Void
    ) throws {
        let inMap = Encoding {
            var map = $0.container(keyedBy: TextKey.self)
            try map.encode(1, forKey: "before")
            try? map.encode(Self.failing(write), forKey: "failing")
            try map.encode(2, forKey: "behind")
        }
        #expect(try decoded(Tree.self, encoded(inMap)) == .map(["before": 1, "behind": 2]))
        let inArray = Encoding {
            var array = $0.unkeyedContainer()
            try array.encode(1)
            try? array.encode(Self.failing(write))
            #expect(array.count == 1)
            try array.encode(2)
        }
        #expect(try encoded(inArray).hex == "820102")
    }

    @Test(arguments: failures)
    func anotherValueCanReplaceAFailedOne(
        _ name: String,
        _ write: @escaping @Sendable (any Encoder) throws -> Void
    ) throws {
        let single = Encoding {
            var single = $0.singleValueContainer()
            do { try single.encode(Self.failing(write)) } catch { try single.encode("instead") }
        }
        #expect(try decoded(Tree.self, encoded(single)) == "instead")
        #expect(try decoded(Tree.self, encoded([single])) == ["instead"])
        let keyed = Encoding {
            var map = $0.container(keyedBy: TextKey.self)
            try? map.encode(Self.failing(write), forKey: "a")
            try map.encode("instead", forKey: "a")
        }
        #expect(try decoded(Tree.self, encoded(keyed)) == .map(["a": "instead"]))
    }

    @Test func aFailingValueKeepsTheEarlierValueOfItsKey() throws {
        let value = Encoding {
            var map = $0.container(keyedBy: TextKey.self)
            try map.encode([1, 2], forKey: "a")
            try? map.encode(
                Self.failing {
                    var array = $0.unkeyedContainer(); try array.encode(1)
                },
                forKey: "a"
            )
        }
        #expect(try decoded(Tree.self, encoded(value)) == .map(["a": [1, 2]]))
    }

    @Test func aContainerForTheKeyOfAFailedValueIsNew() throws {
        let value = Encoding {
            var map = $0.container(keyedBy: TextKey.self)
            try? map.encode(
                Self.failing {
                    var array = $0.unkeyedContainer(); try array.encode(1)
                },
                forKey: "a"
            )
            for number in 1...3 {
                var array = map.nestedUnkeyedContainer(forKey: "a")
                try array.encode(number)
            }
        }
        #expect(try decoded(Tree.self, encoded(value)) == .map(["a": [1, 2, 3]]))
    }

    @Test func aContainerForAnotherKeyAtTheOffsetOfAFailedValueIsNew() throws {
        let value = Encoding {
            var map = $0.container(keyedBy: TextKey.self)
            try? map.encode(
                Self.failing {
                    var single = $0.singleValueContainer(); try single.encode(1)
                },
                forKey: "a"
            )
            for number in 1...3 {
                var array = map.nestedUnkeyedContainer(forKey: "b")
                try array.encode(number)
            }
        }
        #expect(try decoded(Tree.self, encoded(value)) == .map(["b": [1, 2, 3]]))
    }

    @Test func containersKeptFromAFailedValueHaveNoEffect() throws {
        let kept = Kept()
        let value = Encoding {
            var map = $0.container(keyedBy: TextKey.self)
            try? map.encode(
                Self.failing {
                    var inner = $0.container(keyedBy: TextKey.self)
                    kept.array = inner.nestedUnkeyedContainer(forKey: "array")
                    kept.map = inner
                },
                forKey: "failing"
            )
            try map.encode("some text that is longer than what was there", forKey: "a")
            try kept.array?.encode("late")
            try kept.map?.encode(["late": "late"], forKey: "late")
            _ = kept.array?.codingPath
            _ = kept.map?.codingPath
            try map.encode(2, forKey: "b")
        }
        #expect(
            try decoded(Tree.self, encoded(value))
                == .map(["a": "some text that is longer than what was there", "b": 2])
        )
    }

    @Test func anUnusedEncoderKeptFromAFailedValueHasNoEffect() throws {
        let kept = Kept()
        let value = Encoding {
            var map = $0.container(keyedBy: TextKey.self)
            try? map.encode(
                Self.failing {
                    var inner = $0.container(keyedBy: TextKey.self);
                    kept.encoder = inner.superEncoder()
                },
                forKey: "f"
            )
            try map.encode(1, forKey: "a")
            var late = kept.encoder?.container(keyedBy: TextKey.self)
            try late?.encode(1, forKey: "late")
            try map.encode(2, forKey: "b")
        }
        #expect(try decoded(Tree.self, encoded(value)) == .map(["a": 1, "b": 2]))
    }

    @Test func whatAFailingValueWroteToOuterContainersRemains() throws {
        let value = Encoding {
            var map = $0.container(keyedBy: TextKey.self)
            var array = map.nestedUnkeyedContainer(forKey: "array")
            try array.encode(0)
            var other = map
            try? array.encode(Self.failing { _ in try other.encode("stays", forKey: "around") })
            try array.encode(1)
            try map.encode(2, forKey: "behind")
        }
        #expect(
            try decoded(Tree.self, encoded(value))
                == .map(["array": [0, 1], "around": "stays", "behind": 2])
        )
    }
}
