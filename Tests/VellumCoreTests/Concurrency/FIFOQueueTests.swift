import TestThreads
import Testing
import VellumTestSupport

@testable import VellumCore

@Suite(.ownThreads)
struct FIFOQueueTests {
    @Test(arguments: UInt64(0)..<20)
    func elementsAreRemovedInTheOrderOfInsertion(_ seed: UInt64) {
        var (queue, model, random) = (FIFOQueue<Int>(), [Int](), SeededGenerator(seed: seed))
        for element in 0..<500 {
            if Bool.random(using: &random) {
                queue.append(element)
                model.append(element)
            } else {
                let (first, expected) = (
                    queue.popFirst(), model.isEmpty ? nil : model.removeFirst()
                )
                #expect(first == expected, "seed \(seed)")
            }
            #expect(queue.count == model.count && queue.isEmpty == model.isEmpty, "seed \(seed)")
        }
    }
}
