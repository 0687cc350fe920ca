import TestThreads
import Testing
import VellumTestSupport

@testable import VellumCore

/// What is estimated from a sample of uses, beside an exact simulation.
@Suite(.ownThreads)
struct UseSampleTests {
    static let factors = [0.125, 0.25, 0.5, 1, 2, 4, 8]

    struct Case: Sendable, CustomTestStringConvertible {
        var trace: Trace
        var limit: Int
        /// The limit of memory, whose hits allow little work.
        var memory: Int

        var testDescription: String { "\(trace.name), \(limit) bytes, \(memory) of them in memory" }
    }

    static let cases: [Case] = {
        // Always the same, because the bar is close to what a few traces of many take.
        let made = Trace.Shape.allCases.map { Trace.made($0, uses: 60_000, seed: 1) }
        let recorded = ["multi2", "web12", "request"].compactMap { name in
            do { return try Trace.recorded(name) } catch {
                Issue.record(error)
                return nil
            }
        }
        return (made + recorded).flatMap { trace in
            // Away from a multiple of the loop by a power of two.
            [trace.total / 11, trace.total / 50].flatMap {
                [
                    Case(trace: trace, limit: $0, memory: 1),
                    Case(trace: trace, limit: $0, memory: $0 / 4),
                ]
            }
        }
    }()

    /// Where memory answers nearly everything, hits do not pay for every key.
    /// The last is a mixture of all shapes.
    @Test(arguments: LongRun.cases(Trace.Shape.allCases, usually: 3))
    func theCurveIsRoughWhereMemoryAnswersEverything(_ shape: Trace.Shape) throws {
        let trace = Trace.made(shape, uses: 60_000, seed: 2)
        var uses = Uses(upTo: 8 * trace.total)
        uses.run(trace, memory: trace.total + 1, disk: trace.total + 1)
        let estimate = uses.sample.estimate
        let ratios = try #require(estimate)
        let errors = [2, 4, 8, 16, 32].map { part in
            abs(
                ratios(limit: trace.total / part)
                    - ExactLRU.hitRatio(trace, limit: trace.total / part)
            )
        }
        #expect(errors.reduce(0, +) / 5 <= 0.12, "\(trace.name): \(errors)")
    }

    @Test(arguments: LongRun.cases(cases, usually: 6))
    func theCurveIsThatOfAnExactSimulation(_ parameters: Case) throws {
        let trace = parameters.trace
        let limits = Self.factors.map { Int(Double(parameters.limit) * $0) }
        let exact = limits.map { ExactLRU.hitRatio(trace, limit: $0) }
        var means: [Double] = []
        // Which keys are sampled differs from archive to archive.
        for salt in 1...3 as ClosedRange<UInt64> {
            var uses = Uses(upTo: 8 * parameters.limit, salt: salt)
            uses.run(trace, memory: parameters.memory, disk: parameters.limit)
            let estimate = uses.sample.estimate
            let ratios = try #require(estimate)
            let errors = zip(limits, exact).map { abs(ratios(limit: $0) - $1) }
            #expect(errors.allSatisfy { $0 <= 0.12 }, "\(errors)")
            means.append(errors.reduce(0, +) / Double(errors.count))
        }
        #expect(means.reduce(0, +) / 3 <= 0.02 && means.allSatisfy { $0 <= 0.04 }, "\(means)")
    }
}

extension UseSampleTests {
    /// Many keys, then few, of no size and of a greater one than can be counted: nothing overflows.
    @Test(arguments: [1, 100, Int.max], [1, 1 << 20, Int.max])
    func anySizesAndLimitsAreCounted(_ size: Int, _ horizon: Int) {
        var uses = Uses(upTo: horizon)
        for round in 0..<4 {
            for key in 0..<4000 { uses.write(key, size: size) }
            for number in 0..<LongRun.number(20_000, usually: 5000) {
                let key = number % (round.isMultiple(of: 2) ? 4000 : 300)
                uses.write(key, size: size)
                _ = uses.hit(key, size: size)
            }
            if round == 1 { uses.sample.removeAll() }
        }
        let estimate = uses.sample.estimate
        #expect((estimate?(limit: .max) ?? 0) >= 0)
        let sizing = estimate.map { ratios in
            Sizing(memory: .max, disk: 0, reads: 0) { ratios(limit: $0) }
        }
        #expect(sizing?.isPossible == true)
    }

    /// Hits pay for little work, however many keys there are.
    @Test(arguments: [10, 300, 3000, 30_000])
    func aHitCostsAboutNothing(_ keys: Int) {
        var uses = Uses(upTo: .max)
        for key in 0..<keys { uses.write(key, size: 100) }
        var taken = 0
        let hits = 500_000
        for number in 0..<hits { if uses.hit(number % keys, size: 100) { taken += 1 } }
        #expect(taken <= 20_000 + hits / 128, "of \(hits) hits")
        #expect(taken >= hits / 512)
    }
}

/// Tells a sample the uses of an archive.
struct Uses: ~Copyable {
    var sample = UseSample()
    private let salt: UInt64
    private let start = WallInstant(rawValue: 1_700_000_000_000)
    private var hits = 0

    init(upTo horizon: Int, salt: UInt64 = 1) {
        self.salt = salt &* 0xD1B5_4A32_D192_ED03
        sample.start(at: start, upTo: horizon)
    }

    func hash(_ key: Int) -> UInt64 {
        var generator = SeededGenerator(seed: UInt64(key) &* 0x9E37_79B9_7F4A_7C15 ^ salt)
        return generator.next()
    }

    mutating func run(_ trace: Trace, memory: Int, disk: Int) {
        var (inMemory, onDisk) = (ExactLRU(trace, limit: memory), ExactLRU(trace, limit: disk))
        let validity = Validity(written: start, expires: nil)
        for key in trace.keys {
            let (isInMemory, isOnDisk) = (inMemory.use(key), onDisk.use(key))
            let hash = hash(key)
            let read = UsedEntry(.read, hash, size: trace.sizes[key], validity, lastUse: start)
            if isInMemory {
                // As if readers had noted them.
                hits += 1
                sample.add(read)
                if hits == 200 { tellHits() }
                continue
            }
            tellHits()
            sample.noteReads(1, paying: UseSample.paidByDisk)
            if isOnDisk {
                sample.add(read)
            } else {
                sample.add(UsedEntry(missAt: start, hash, under: .never))
                sample.noteReads(0, paying: UseSample.paidByDisk)
                sample.add(
                    UsedEntry(.write, hash, size: trace.sizes[key], validity, lastUse: start)
                )
            }
        }
        tellHits()
    }

    mutating func write(_ key: Int, size: Int) {
        sample.noteReads(0, paying: UseSample.paidByDisk)
        sample.add(
            UsedEntry(
                .write,
                hash(key),
                size: size,
                Validity(written: start, expires: nil),
                lastUse: start
            )
        )
    }

    /// Returns whether the hit is sampled.
    mutating func hit(_ key: Int, size: Int) -> Bool {
        let hash = hash(key)
        hits += 1
        if hits == 200 { tellHits() }
        guard sample.mayTake(hash) else { return false }
        sample.add(
            UsedEntry(
                .read,
                hash,
                size: size,
                Validity(written: start, expires: nil),
                lastUse: start
            )
        )
        return true
    }

    private mutating func tellHits() {
        sample.noteReads(hits, paying: hits)
        hits = 0
    }
}
