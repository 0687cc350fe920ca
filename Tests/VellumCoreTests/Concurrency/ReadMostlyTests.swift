import Testing
import VellumCore
import VellumTestSupport

@Suite(.timeLimit(.minutes(1)))
struct ReadMostlyTests {
    /// Fails under ThreadSanitizer, or by a value that is half changed, if readers and writers do not exclude each other.
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
    }

    private final class ReadMostly: Sendable {
        private let contents: VellumCore.ReadMostly<[Int]>

        init(_ value: [Int]) { contents = VellumCore.ReadMostly(value) }

        func read() -> [Int] { contents.read { $0.pointee } }

        /// Changes one after the other.
        func change(_ body: (inout Int) -> Void) {
            contents.write { value in
                for index in value.indices { body(&value[index]) }
            }
        }
    }
}
