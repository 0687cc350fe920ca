import CBORCoding
import Foundation
import TestThreads
import Testing

@Suite("CBOREncoder", .ownThreads)
struct CBOREncoderTests {
    private struct Point: Codable, Equatable {
        var x: Double
        var y: Double
    }

    @Test func theExampleInTheDocumentationIsCorrect() throws {
        let data = try CBOREncoder().encode(Point(x: 1.5, y: -2))
        #expect(data == Data([0xA2, 0x61, 0x78, 0xF9, 0x3E, 0x00, 0x61, 0x79, 0xF9, 0xC0, 0x00]))
        #expect(try CBORDecoder().decode(Point.self, from: data) == Point(x: 1.5, y: -2))
    }
}
