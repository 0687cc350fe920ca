import TestThreads
import Testing
import VellumCore
import VellumTestSupport

@Suite(.ownThreads)
struct ReadMostlyTests {
    /// Fails under ThreadSanitizer, or by a value that is half changed, if readers and writers do
    /// not exclude each other.
    @Test func aReaderSeesTheValueBeforeAWriteOrAfterIt() {
        let value = ReadMostly([0, 0])
        let threads = (0..<6).map { thread in
            OnThread {
                var isWhole = true
                for turn in 0..<3000 {
                    if (turn + thread).isMultiple(of: 3) {
                        value.change { $0 += 1 }
                    } else {
                        let seen = value.read()
                        isWhole = isWhole && seen[0] == seen[1]
                    }
                }
                return isWhole
            }
        }
        #expect(threads.allSatisfy { $0.result() })
        #expect(value.read() == [6000, 6000])
        #expect(value.reads == 12_001, "each lock guards what its readers note")
    }

    private final class ReadMostly: Sendable {
        private let contents: VellumCore.ReadMostly<[Int], Int>

        init(_ value: [Int]) { contents = VellumCore.ReadMostly(value) { _, _ in 0 } }

        func read() -> [Int] {
            contents.read { value, reads in
                reads += 1
                return value.pointee
            }
        }

        /// How often it was read.
        var reads: Int {
            contents.write { _, notes in
                var sum = 0
                notes.forEach { sum += $0 }
                return sum
            }
        }

        /// Changes one after the other.
        func change(_ body: (inout Int) -> Void) {
            contents.write { value, _ in
                for index in value.indices { body(&value[index]) }
            }
        }
    }
}
