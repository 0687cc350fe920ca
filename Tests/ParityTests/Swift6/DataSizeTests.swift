import Foundation
import TestThreads
import Testing
import Vellum

/// The row "DataSize".
@Suite(.ownThreads)
struct DataSizeTests {
    @Test(
        arguments: [
            (16.bits, 2), (4.nibbles, 2), (2.bytes, 2), (1.byte, 1), (3.kiloBytes, 3072),
            (1.kiloByte, 1024), (2.megaBytes, 2_097_152),
            (1.megaByte, 1_048_576), (2.gigaBytes, 2_147_483_648), (1.gigaByte, 1_073_741_824),
        ] as [(DataSize, Int)]
    )
    func wholeNumbersHaveEveryUnit(size: DataSize, bytes: Int) {
        #expect(size.bytes == bytes)
    }

    @Test(
        arguments: [
            (16.0.bits, 2), (4.0.nibbles, 2), (2.0.bytes, 2), (1.0.byte, 1), (1.5.kiloBytes, 1536),
            (0.5.kiloByte, 512),
            (1.5.megaBytes, 1_572_864), (0.5.megaByte, 524_288), (1.5.gigaBytes, 1_610_612_736),
            (0.5.gigaByte, 536_870_912),
        ] as [(DataSize, Int)]
    )
    func fractionsHaveEveryUnit(size: DataSize, bytes: Int) {
        #expect(size.bytes == bytes)
    }

    @Test(
        arguments: [
            (DataSize.bits(16), 2), (.nibbles(4), 2), (.bytes(2), 2), (.kiloBytes(3), 3072),
            (.megaBytes(2), 2_097_152),
            (.gigaBytes(1), 1_073_741_824), (.bits(16.0), 2), (.nibbles(4.0), 2), (.bytes(2.0), 2),
            (.kiloBytes(1.5), 1536),
            (.megaBytes(1.5), 1_572_864), (.gigaBytes(0.5), 536_870_912),
        ] as [(DataSize, Int)]
    )
    func staticFunctionsMakeTheSame(size: DataSize, bytes: Int) {
        #expect(size.bytes == bytes)
    }

    @Test func aSizeIsReadInEveryUnit() {
        let size = 3.megaBytes

        #expect(size.bits == 25_165_824)
        #expect(size.nibbles == 6_291_456)
        #expect(size.bytes == 3_145_728)
        #expect(size.kiloBytes == 3072)
        #expect(size.megaBytes == 3)
        #expect(size.gigaBytes == 0.0029296875)
    }

    @Test func literalsAreBytes() {
        let whole: DataSize = 10
        let fraction: DataSize = 10.5

        #expect(whole == 10.bytes)
        #expect(fraction == 11.bytes)
        #expect(1.kiloByte + 24 == 1048)
    }

    @Test(
        arguments: [
            (1.bits, 1), (9.bits, 2), (1.nibbles, 1), (3.nibbles, 2), (0.25.bytes, 1),
            (1.0001.kiloBytes, 1025),
        ]
            as [(DataSize, Int)]
    )
    func fractionsOfAByteRoundUp(size: DataSize, bytes: Int) {
        #expect(size.bytes == bytes)
    }

    @Test(
        arguments: [
            (Int.max.gigaBytes, Int.max), (Int.min.gigaBytes, .min),
            (Double.infinity.kiloBytes, .max), (1e300.megaBytes, .max),
            ((-Double.infinity).bytes, .min), (Double.nan.bytes, 0), (Int.max.bytes + 1, .max),
            (Int.min.bytes - 1, .min),
            (.zero - Int.min.bytes, .max),
        ] as [(DataSize, Int)]
    )
    func sizesStopAtTheEndsInsteadOfOverflowing(size: DataSize, bytes: Int) {
        #expect(size.bytes == bytes)
    }

    @Test func sizesAreComparedAddedAndSubtracted() {
        #expect(1023.bytes < 1.kiloByte)
        #expect(1.megaByte == 1024.kiloBytes)
        #expect([1.megaByte, 1.byte, 1.kiloByte].sorted() == [1.byte, 1.kiloByte, 1.megaByte])
        #expect(2.kiloBytes - 1.kiloByte == 1.kiloByte)
        #expect([1.byte, 2.bytes].reduce(.zero, +) == 3)
    }

    @Test func dataHasASize() {
        #expect(Data(repeating: 0, count: 2048).dataSize == 2.kiloBytes)
        #expect(Data().dataSize == .zero)
    }
}
