import Testing
import VellumTestSupport

@testable import Shallows

/// The pure part: who may fill, and who must wait.
@Suite(.timeLimit(.minutes(60)))
struct FillGateTests {
    @Test
    func aFillNeedsATicketAndNothingWrittenSince() throws {
        var gate = FillGate()
        let ticket = try #require(gate.ticket(0))
        let fills = gate.beginFill(ticket)
        #expect(fills && gate.blocks(0, 0))
        let (isLast, writes) = (gate.endFill(0), gate.beginWrite(0, 0))
        #expect(isLast && writes && !gate.blocks(0, 0))
        gate.endWrite(0)
        let fillsAgain = gate.beginFill(ticket)
        #expect(!fillsAgain)
    }

    @Test
    func thereIsNoTicketWhileSomethingIsWritten() {
        var gate = FillGate()
        let writes = [gate.beginWrite(0, 0), gate.beginWrite(0, 0)]
        gate.endWrite(0)
        #expect(writes == [true, true] && gate.ticket(0) == nil && gate.ticket(1) != nil)
        gate.endWrite(0)
        #expect(gate.ticket(0) != nil)
    }

    @Test
    func aWriteWaitsForTheLastOfTheFills() throws {
        var gate = FillGate()
        let ticket = try #require(gate.ticket(3))
        let fills = [gate.beginFill(ticket), gate.beginFill(ticket)]
        let writes = [gate.beginWrite(3, 0), gate.beginWrite(4, 0)]
        let ends = [gate.endFill(3), gate.endFill(3)]
        #expect(fills == [true, true] && writes == [false, true] && ends == [false, true])
    }

    @Test
    func whatIsTakenBackNeedsNoTicketAndHoldsUpTheNextWrite() {
        var gate = FillGate()
        let first = gate.beginWrite(0, 0)
        gate.beginUndoing(0)
        let second = gate.beginWrite(0, 0)
        let isLast = gate.endFill(0)
        #expect(first && !second && isLast)
    }

    /// One key of one stripe in a front and a back, as slow as can be: every step is one of its own.
    private struct World {
        var gate = FillGate()
        var (front, back, written) = (0, 0, 0)
        /// Readers with what they read, and those of them who fill.
        var readers: [(ticket: FillGate.Ticket, value: Int)] = []
        var fills: [Int] = []
        /// Writes that were begun: those that wait, and those that set the front, then the back.
        var waiting: [Int] = []
        var writes: [(value: Int, isInFront: Bool)] = []

        mutating func step(_ random: inout SeededGenerator) {
            switch Int.random(in: 0..<6, using: &random) {
            case 0: if let ticket = gate.ticket(0) { readers.append((ticket, back)) }
            case 1:
                guard !readers.isEmpty else { return }
                let reader = readers.remove(at: .random(in: 0..<readers.count, using: &random))
                if gate.beginFill(reader.ticket) { fills.append(reader.value) }
            case 2:
                guard !fills.isEmpty else { return }
                front = fills.remove(at: .random(in: 0..<fills.count, using: &random))
                if gate.endFill(0) {
                    writes += waiting.map { ($0, false) }
                    waiting = []
                }
            case 3 where writes.isEmpty && waiting.isEmpty:
                written += 1
                if gate.beginWrite(0, 0) { writes.append((written, false)) } else { waiting.append(written) }
            default:
                guard let write = writes.popLast() else { return }
                if write.isInFront {
                    back = write.value
                    gate.endWrite(0)
                } else {
                    front = write.value
                    writes.append((write.value, true))
                }
            }
        }
    }

    @Test(arguments: UInt64(0)..<200)
    func theFrontIsNeverOlderThanTheLastWriteThatEnded(_ seed: UInt64) {
        var (world, random) = (World(), SeededGenerator(seed: seed))
        for _ in 0..<400 {
            world.step(&random)
            // Front first, then back: what ended is in both.
            #expect(world.front == 0 || world.front >= world.back, "seed \(seed)")
            for fill in world.fills { #expect(fill >= world.back, "seed \(seed)") }
        }
    }
}

@Suite(.timeLimit(.minutes(60)))
struct FirstInFirstOutTests {
    @Test(arguments: UInt64(0)..<20)
    func elementsLeaveInTheOrderInWhichTheyCame(_ seed: UInt64) {
        var (queue, model, random) = (FirstInFirstOut<Int>(), [Int](), SeededGenerator(seed: seed))
        for element in 0..<500 {
            if Bool.random(using: &random) {
                queue.append(element)
                model.append(element)
            } else {
                let (first, expected) = (queue.popFirst(), model.isEmpty ? nil : model.removeFirst())
                #expect(first == expected, "seed \(seed)")
            }
            #expect(queue.count == model.count && queue.isEmpty == model.isEmpty, "seed \(seed)")
        }
    }
}
