import CBORCoding
import Foundation
import TestThreads
import Testing

/// What an error says leads to its cause, and names only what a reader of the documentation knows.
@Suite("Texts of errors", .ownThreads)
struct ErrorTextTests {
    private struct Inner: Codable { var number: Int }
    private struct Outer: Codable { var inner: Inner; var list: [Inner] }

    private static let decoding:
        [(hex: String, decode: @Sendable (Data) throws -> any Sendable, advice: String)] = [
            ("43010203", { try decoded([Int].self, $0) }, "Decode Data."),
            ("43010203", { try decoded([Int8].self, $0) }, "Decode Data."),
            ("43010203", { try decoded(String.self, $0) }, "Decode Data."),
            ("43010203", { try decoded(Set<UInt8>.self, $0) }, "Decode Data."),
            ("6161", { try decoded(Data.self, $0) }, "dataDecodingStrategy to .base64"),
            ("80", { try decoded(Data.self, $0) }, "dataDecodingStrategy to .deferredToData"),
            (
                "6161", { try decoded(Date.self, $0) },
                "Expected Date, but found a text. Set dateDecodingStrategy to .iso8601"
            ),
            ("c16161", { try decoded(Date.self, $0) }, "Expected Date"),
            ("01", { try decoded(URL.self, $0) }, "Expected URL, but found an integer."),
            ("c06161", { try decoded(Date.self, $0) }, "2013-03-21T20:04:00Z"),
            ("d903ec6161", { try decoded(Date.self, $0) }, "2013-03-21"),
            ("6161", { try decoded(Decimal.self, $0) }, "-1234.5"),
            ("f6", { try decoded(Int.self, $0) }, "Make it optional."),
            (
                "f93e00", { try decoded(Int.self, $0) },
                "The number does not fit in Int. Decode a type that can represent it"
            ),
            (
                "c2 51 01 00000000000000000000000000000000", { try decoded(Decimal.self, $0) },
                "The number does not fit in Decimal."
            ),
            (
                "c2 51 01 00000000000000000000000000000000", { try decoded(String.self, $0) },
                "Expected String, but found an integer."
            ),
            (
                "c2 51 01 00000000000000000000000000000000", { try decoded([UInt8].self, $0) },
                "but found an integer."
            ),
            ("a0", { try decoded(Outer.self, $0) }, "Make the property optional"),
            ("80", { try decoded(Shape.self, $0) }, "but found an array."),
            (
                "a2 65696e6e6572 a1 666e756d626572 01 646c697374 81 a1 666e756d626572 6161",
                { try decoded(Outer.self, $0) },
                "Expected Int, but found a text. Decode a type that matches"
            ), ("a1 6161 f6", { try decoded([Int: Int].self, $0) }, "Int"),
            ("a1 f4 f6", { try decoded([Int: Int].self, $0) }, "CBORValue"),
            ("81 81 81", { try decoded(CBORValue.self, $0) }, "the data ends too early"),
            (
                "81 81 81 80", { try decoded(CBORValue.self, $0) { $0.nestingLimit = 2 } },
                "'nestingLimit', 2"
            ),
            (
                "c1c1c1c100", { try decoded(CBORValue.self, $0) { $0.nestingLimit = 2 } },
                "'nestingLimit', 2"
            ),
            (
                "80",
                { data in
                    try withDecoder(data) {
                        var array = try $0.unkeyedContainer()
                        _ = try array.decode(Int.self)
                    }
                    return 0
                }, "Test 'isAtEnd' first."
            ),
        ]

    private func check(_ error: any Error, _ advice: String) {
        var dumped = ""
        dump(error, to: &dumped)
        let context = (error as? DecodingError)?.context
        var texts = [
            "\(error)", String(reflecting: error), error.localizedDescription, dumped,
            context?.debugDescription ?? "",
        ]
        texts += (context?.codingPath ?? []).flatMap {
            ["\($0)", String(reflecting: $0), $0.debugDescription]
        }
        let names = [
            "CodingLocation", "CBORKey", "DecodingSource", "EncodingBuffer", "ItemDecoder",
            "ItemEncoder", "CBORKeyed", "CBORUnkeyed",
        ]
        for name in names { #expect(!texts.contains { $0.contains(name) }, "\(texts)") }
        #expect(texts[0].contains(advice), "\(texts[0])")
    }

    @Test(arguments: decoding.indices)
    func aDecodingErrorSaysWhatToDo(_ index: Int) throws {
        let example = Self.decoding[index]
        let error = #expect(throws: DecodingError.self) {
            try example.decode(Data(hex: example.hex))
        }
        if let error { check(error, example.advice) }
    }

    private struct Loop: Encodable {
        func encode(to encoder: any Encoder) throws {
            var array = encoder.unkeyedContainer()
            try array.encode(Loop())
        }
    }

    @Test func anEncodingErrorSaysWhatToDoAndContainsNoValue() throws {
        struct Secret: Encodable { var secret = "hunter"; func encode(to encoder: any Encoder) {} }
        let twice = Encoding { encoder in
            var single = encoder.singleValueContainer()
            try single.encode("hunter")
            try single.encode("hunter")
        }
        let kinds = Encoding { encoder in
            var array = encoder.unkeyedContainer()
            try array.encode("hunter")
            _ = encoder.container(keyedBy: TextKey.self)
        }
        let examples: [(() throws -> Data, String)] = [
            (
                { try encoded(Secret()) },
                "Secret did not encode anything. Encode a value or request a container"
            ),
            (
                { try encoded(Loop()) },
                "'nestingLimit', 512. Raise it, unless an object contains itself."
            ),
            ({ try encoded(["a": twice]) }, "Encode one value or one container."),
            ({ try encoded(["a": kinds]) }, "Encode one value or one container."),
            ({ try encoded(["a": CBORValue.simple(20)]) }, "Use .bool, .null or .undefined."),
            (
                {
                    try encoded(["a": Date.distantFuture + 1e12]) {
                        $0.dateEncodingStrategy = .iso8601
                    }
                }, "Use another dateEncodingStrategy."
            ),
            (
                { try JSONEncoder().encode([CBORValue.text("hunter")]) },
                "Only a CBOREncoder can encode a CBORValue."
            ),
        ]
        for (encode, advice) in examples {
            let error = #expect(throws: EncodingError.self) { _ = try encode() }
            guard let error else { continue }
            check(error, advice)
            #expect(!"\(error)".contains("hunter"))
        }
    }

    @Test func aByteStringDecodesAsAnArrayOfBytes() throws {
        #expect(try decoded([UInt8].self, hex: "43010203") == [1, 2, 3])
        #expect(try decoded([UInt8].self, hex: "5f 4101 420203 ff") == [1, 2, 3])
        #expect(try decoded([String: [UInt8]?].self, hex: "a1 6161 d840 40") == ["a": []])
        #expect(try decoded([[UInt8]].self, hex: "82 4101 8102") == [[1], [2]])
        // Its own form stays an array of numbers.
        #expect(
            try encoded([1, 200] as [UInt8]).hex == "820118c8"
                && roundTrip([1, 200] as [UInt8]) == [1, 200]
        )
        #expect(decodingError { try decoded([UInt8].self, hex: "81190100") }?.path == "Index 0")
    }

    /// A bignum of any size decodes as the nearest number, with ties to even.
    @Test(arguments: [78, 147, 959], [0, 1])
    func aBignumDecodesAsTheNearestDouble(_ shift: Int, _ isEven: UInt64) throws {
        // 54 bits, the last of which is half of a unit of the nearest numbers, and zeros.
        let significand = (1 << 54) - 1 - isEven * 2
        let (below, above) = (Double(significand >> 1), Double(significand >> 1 + 1))
        var zeros = [UInt8](repeating: 0, count: shift / 8)
        let number = (0..<8).map { UInt8(truncatingIfNeeded: significand >> UInt64(56 - $0 * 8)) }
        func decodedBignum(_ tag: UInt8, _ bytes: [UInt8]) throws -> Double {
            let double = try decoded(Double.self, Data([0xC0 | tag]) + encoded(Data(bytes)))
            #expect(
                try decoded([Double].self, Data([0x81, 0xC0 | tag]) + encoded(Data(bytes))) == [
                    double
                ]
            )
            return double / Double(sign: .plus, exponent: zeros.count * 8 + 1, significand: 1)
        }
        let even = isEven == 0 ? above : below
        #expect(try decodedBignum(2, number + zeros) == even)
        // -1 - n is beyond the tie.
        #expect(try decodedBignum(3, number + zeros) == -above)
        zeros[zeros.count - 1] = 1
        #expect(try decodedBignum(2, number + zeros) == above)
        #expect(try decodedBignum(3, number + zeros) == -above)
        let less = number.dropLast() + [number[7] - 1]
        zeros = zeros.map { _ in 0xFF }
        #expect(try decodedBignum(2, less + zeros) == below)
        // -1 - n is the tie.
        #expect(try decodedBignum(3, less + zeros) == -even)
    }

    @Test func aBignumBeyondDoubleDoesNotFit() throws {
        let bytes = Data([1]) + Data(count: 128)
        #expect(
            decodingError { try decoded(Double.self, Data([0xC2]) + encoded(bytes)) }?.kind
                == "dataCorrupted"
        )
        #expect(
            try decoded(Double.self, Data([0xC2]) + encoded(Data([0, 0]) + Data(count: 200))) == 0
        )
        #expect(
            decodingError { try decoded(Float.self, Data([0xC2]) + encoded(bytes.dropLast(20))) }?
                .kind == "dataCorrupted"
        )
        #expect(try decoded(Float.self, hex: "c2 50 01000000000000000000000000000000") == 0x1p120)
    }
}
