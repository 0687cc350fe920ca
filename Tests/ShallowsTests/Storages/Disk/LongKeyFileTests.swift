import Foundation
import TestThreads
import Testing
import VellumTestSupport

@testable import Shallows

@Suite(.ownThreads)
struct LongKeyFileTests {
    @Test(arguments: ["", "value"], ["", "key", "\0é👍"])
    func theValueAndTheKeyAreReadBack(value: String, key: String) {
        let file = Data(value.utf8) + LongKeyFile.end(for: key)
        #expect(LongKeyFile.value(in: file, of: key) == Data(value.utf8))
        #expect(LongKeyFile.value(in: file, of: key + "x") == nil)
        #expect(
            LongKeyFile.textLength(of: file.suffix(LongKeyFile.endCount), size: file.count)
                == key.utf8.count
        )
    }

    /// P36.
    @Test(arguments: [0, 4, UInt64(Int.max), .max])
    func aLengthBeyondTheFileIsDamage(length: UInt64) {
        var file = Data("value".utf8) + LongKeyFile.end(for: "key")
        withUnsafeBytes(of: (length == 0 ? 9 : length + (length < 5 ? 5 : 0)).littleEndian) {
            file.replaceSubrange(file.count - 16..<file.count - 8, with: $0)
        }
        #expect(LongKeyFile.value(in: file, of: "key") == nil)
    }

    @Test func everyCutOfAFileIsDamage() {
        let file = Data("value".utf8) + LongKeyFile.end(for: "key")
        for count in 0..<file.count {
            #expect(LongKeyFile.value(in: file.prefix(count), of: "key") == nil)
        }
    }

    @Test func randomBytesNeverTrap() {
        var generator = SeededGenerator(seed: 4)
        for _ in 0..<2000 {
            var file = Data(
                (0..<Int.random(in: 0...40, using: &generator)).map { _ in
                    UInt8.random(in: .min ... .max, using: &generator)
                }
            )
            file += Data("shallows".utf8)
            _ = LongKeyFile.value(in: file, of: "key")
        }
    }
}
