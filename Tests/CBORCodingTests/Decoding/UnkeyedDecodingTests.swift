import CBORCoding
import Foundation
import TestThreads
import Testing

@Suite("Unkeyed decoding", .ownThreads)
struct UnkeyedDecodingTests {
    /// Calls the function with an unkeyed container from each source of decoders.
    private func withArray(
        _ hex: String,
        _ body: @escaping (inout any UnkeyedDecodingContainer) throws -> Void
    ) throws {
        try withDecoder(Data(hex: hex)) {
            var array = try $0.unkeyedContainer()
            try body(&array)
        }
    }

    @Test(arguments: ["83 01 6161 f6", "9f 01 6161 f6 ff", "c6 83 01 6161 f6"])
    func anArrayIsReadToItsEnd(_ hex: String) throws {
        try withArray(hex) { (array) throws in
            #expect((array.count, array.currentIndex, array.isAtEnd) == (3, 0, false))
            #expect(try array.decode(Int.self) == 1)
            #expect(try array.decodeNil() == false)
            #expect(array.currentIndex == 1)
            #expect(try array.decode(String.self) == "a")
            #expect(array.isAtEnd == false)
            #expect(try array.decodeNil())
            #expect((array.currentIndex, array.isAtEnd) == (3, true))
            let error = decodingError { try array.decode(Int.self) }
            #expect(error?.kind == "valueNotFound")
            #expect(error?.path == "Index 3")
            #expect(try array.decodeIfPresent(Int.self) == nil)
            #expect(decodingError { try array.decodeNil() }?.kind == "valueNotFound")
            #expect(decodingError { try array.nestedUnkeyedContainer() }?.kind == "valueNotFound")
            #expect(decodingError { try array.superDecoder() }?.kind == "valueNotFound")
        }
    }

    @Test func aFailedDecodeDoesNotAdvance() throws {
        try withArray("84 6161 82 01 6162 a1 6161 02 05") { (array) throws in
            #expect(throws: DecodingError.self) { try array.decode(Int.self) }
            #expect(throws: DecodingError.self) { try array.nestedUnkeyedContainer() }
            #expect(throws: DecodingError.self) { try array.nestedContainer(keyedBy: TextKey.self) }
            #expect(array.currentIndex == 0)
            #expect(try array.decode(String.self) == "a")
            #expect(throws: DecodingError.self) { try array.decode([Int].self) }
            #expect(array.currentIndex == 1)
            #expect(try array.decode(Tree.self) == [1, "b"])
            #expect(throws: DecodingError.self) { try array.decode(Sample.self) }
            #expect(try array.decode([String: Int].self) == ["a": 2])
            #expect(try array.decode(Int.self) == 5)
            #expect(array.isAtEnd)
        }
    }

    @Test func nestedContainersCanBeReadAlternately() throws {
        try withArray("83 82 01 02 82 03 04 a2 6161 05 6162 06") { (array) throws in
            var (first, second) = (
                try array.nestedUnkeyedContainer(), try array.nestedUnkeyedContainer()
            )
            let map = try array.nestedContainer(keyedBy: TextKey.self)
            #expect(array.isAtEnd)
            #expect(try map.decode(Int.self, forKey: "b") == 6)
            #expect(try second.decode(Int.self) == 3)
            #expect(try first.decode(Int.self) == 1)
            #expect(try second.decode(Int.self) == 4)
            #expect(try map.decode(Int.self, forKey: "a") == 5)
            #expect(try first.decode(Int.self) == 2)
        }
    }

    @Test func optionalsInAnArrayKeepTheirValues() throws {
        try withArray("83 f6 01 f7") { (array) throws in
            #expect(try array.decodeIfPresent(Int.self) == nil)
            #expect(array.currentIndex == 1)
            #expect(try array.decodeIfPresent(Int.self) == 1)
            #expect(try array.decodeIfPresent(String.self) == nil)
            #expect(array.isAtEnd)
        }
    }
}
