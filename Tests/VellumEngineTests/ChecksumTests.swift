import CChecksum
import Foundation
import TestThreads
import Testing
import VellumTestSupport

@Suite(.ownThreads)
struct ChecksumTests {
    /// The check value of CRC-32C, and the vectors of RFC 3720, appendix B.4.
    private static let vectors: [([UInt8], UInt32)] = [
        (Array("123456789".utf8), 0xE306_9283), ([UInt8](repeating: 0, count: 32), 0x8A91_36AA),
        ([UInt8](repeating: 0xFF, count: 32), 0x62A8_AB43), ([UInt8](0..<32), 0x46DD_794E), ([], 0),
    ]

    @Test(arguments: vectors)
    func theChecksumMatchesTheStandard(_ bytes: [UInt8], _ checksum: UInt32) {
        #expect(vellum_crc32c(0, bytes, bytes.count) == checksum)
        #expect(vellum_crc32c_table(0, bytes, bytes.count) == checksum)
    }

    @Test func theInstructionAndTheTableAgreeAndPartsCanBeChained() {
        var random = SeededGenerator(seed: 7)
        for count in Array(0..<300) + [6143, 6144, 6145, 12_288, 20_000, 65_536] {
            let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
            let cut = count == 0 ? 0 : Int.random(in: 0..<count, using: &random)
            let whole = vellum_crc32c(0, bytes, count)
            #expect(whole == vellum_crc32c_table(0, bytes, count))
            #expect(
                whole
                    == vellum_crc32c(
                        vellum_crc32c(0, Array(bytes[..<cut]), cut),
                        Array(bytes[cut...]),
                        count - cut
                    )
            )
        }
    }
}
