import Foundation
import TestThreads
import Testing
import VellumCore
import VellumEngine

@Suite(.ownThreads)
struct DataSizeTests {
    private static let units: [(DataSize, Int)] = [
        (1.kiloByte, 1024), (10.megaByte, 10_485_760), (2.gigaBytes, 2_147_483_648), (7.bytes, 7),
        (8.bits, 1), (9.bits, 2),
        (1.bits, 1), (0.bits, 0), (3.nibbles, 2), (1.5.kiloBytes, 1536), (0.1.bytes, 1),
        (0.5.megaByte, 524_288),
    ]

    private static let functions: [(DataSize, Int)] = [
        (.kiloBytes(3), 3072), (.bits(16.0), 2), (100, 100), (1.5, 2),
    ]

    @Test(arguments: units + functions)
    func unitsAreMultiplesOf1024AndFractionsRoundUp(_ size: DataSize, _ bytes: Int) {
        #expect(size.bytes == bytes)
    }

    @Test func sizesSaturateInsteadOfOverflowing() {
        #expect(Int.max.gigaBytes.bytes == .max)
        #expect(Int.min.kiloBytes.bytes == .min)
        #expect(Double.infinity.bytes.bytes == .max)
        #expect((-Double.infinity).megaBytes.bytes == .min)
        #expect((DataSize(bytes: .max) + 1).bytes == .max)
        #expect((DataSize(bytes: .min) - 1).bytes == .min)
        #expect(Double.nan.megaBytes == .zero)
    }

    @Test func sizesCompareAndAdd() {
        #expect(1.kiloByte < 1.megaByte)
        #expect(1.kiloByte + 1 == 1025)
        #expect(Data(count: 12).dataSize == 12)
        #expect(2.kiloBytes.kiloBytes == 2)
        #expect(2.bytes.bits == 16)
    }

    @Test(arguments: [
        (DataSize(bytes: 1), "1 byte"), (12, "12 bytes"), (1536, "1.5 kB"), (1.megaByte, "1 MB"),
        (3.gigaBytes, "3 GB"),
    ])
    func descriptionsUseTheLargestUnit(_ size: DataSize, _ text: String) {
        #expect("\(size)" == text)
    }

    @Test func aSizeIsCodedAsItsBytes() throws {
        #expect(
            try JSONDecoder().decode(DataSize.self, from: JSONEncoder().encode(3.kiloByte))
                == 3.kiloByte
        )
    }
}
