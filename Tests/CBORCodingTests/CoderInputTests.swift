import CBORCoding
import Foundation
import TestThreads
import Testing

/// FN10: the rows of the table of parameters that the coder has.
@Suite(.ownThreads)
struct CoderInputTests {
    /// "CBOREncoder.nestingLimit", "CBORDecoder.nestingLimit"
    @Test(arguments: [Int.min, -1, 0, 1, 2, .max]) func aLimitOfNestingIsKept(_ limit: Int) throws {
        var (encoder, decoder) = (CBOREncoder(), CBORDecoder())
        (encoder.nestingLimit, decoder.nestingLimit) = (limit, limit)
        for (depth, value) in [CBORValue.integer(1), [1], [[1]]].enumerated() {
            let bytes = try CBOREncoder().encode(value)
            guard depth > max(0, limit) else {
                #expect(try encoder.encode(value) == bytes)
                #expect(try decoder.decode(CBORValue.self, from: bytes) == value)
                continue
            }
            #expect(throws: EncodingError.self) { try encoder.encode(value) }
            #expect(throws: DecodingError.self) { try decoder.decode(CBORValue.self, from: bytes) }
        }
    }

    /// "CBORValue.subscript index"
    @Test(arguments: [Int.min, -1, 0, 1, .max]) func aPositionThatIsNotThereIsNil(_ index: Int) {
        #expect(CBORValue.array([7])[index] == (index == 0 ? 7 : nil))
        #expect(CBORValue.null[index] == nil)
    }

    /// "CBORValue.init stringLiteral"
    @Test(arguments: ["", "\0", String(repeating: "n", count: 70_000)]) func anyTextIsAValue(
        _ text: String
    ) throws {
        #expect(
            try CBORDecoder().decode(
                CBORValue.self,
                from: CBOREncoder().encode(CBORValue(stringLiteral: text))
            )
                == .text(text)
        )
    }

    /// "CBORValue.init floatLiteral"
    @Test(arguments: [Double.nan, .infinity, -.infinity, .greatestFiniteMagnitude, -0.0])
    func anyNumberIsAValue(_ number: Double) throws {
        let value = CBORValue(floatLiteral: number)
        let decoded = try CBORDecoder().decode(CBORValue.self, from: CBOREncoder().encode(value))
        if number.isNaN, case .float(let nan) = decoded {
            #expect(nan.isNaN)
        } else {
            #expect(decoded == value)
        }
        _ = (decoded.description, decoded.intValue)
    }
}
