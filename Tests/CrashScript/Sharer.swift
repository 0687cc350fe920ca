internal import Foundation
internal import VellumCore
internal import VellumEngine
internal import VellumTestSupport

/// One of four processes that share one file. It changes its own entries and common ones, and
/// checks that the results are possible.
///
/// A version identifies a process and its sequence number: four times the number, plus the process.
package struct Sharer {
    private let archives: SharedArchives
    private let number: Int
    /// Whether it takes numbers, which are never removed.
    private let claims: Bool
    private var random: SeededGenerator
    private var sequence = 0
    /// The newest version of each process that was seen under a key.
    private var seen: [String: [Int]] = [:]
    /// The contents of its own keys.
    private var own: [String: Int] = [:]
    private var nextClaim = 0
    package private(set) var won: [Int] = []
    package private(set) var operations = 0

    package static let processes = 4

    package init(_ archives: SharedArchives, number: Int, seed: UInt64, claims: Bool = true) {
        (self.archives, self.number, self.claims) = (archives, number, claims)
        random = SeededGenerator(seed: seed &+ UInt64(number))
    }

    package struct Wrong: Error, CustomStringConvertible { package var description: String }

    private mutating func version() -> Int {
        sequence += 1
        return sequence * Self.processes + number
    }

    private mutating func key(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }

    package mutating func step() throws {
        operations += 1
        switch Int.random(in: 0..<100, using: &random) {
        case ..<20: try archives.put(.safe, "shared \(key(8))", version())
        case ..<42: try read(.safe, "shared \(key(8))")
        case ..<54:
            let key = "own \(number) \(key(12))"
            let version = version()
            try archives.put(.safe, key, version)
            own[key] = version
        case ..<60:
            let key = "own \(number) \(key(12))"
            try archives.remove(.safe, key)
            own[key] = nil
        case ..<68: try checkOwn("own \(number) \(key(12))")
        case ..<74: try archives.put("pair \(number)", version(), on: [.safe, .power])
        case ..<80: try checkPair("pair \(key(Self.processes))")
        case ..<88: try evict()
        case ..<91: try archives.put(.relaxed, "shared \(key(8))", version())
        case ..<94: try read(.relaxed, "shared \(key(8))")
        case ..<97: if claims { try claim() } else { try large() }
        case ..<98: try query()
        case ..<99:
            try archives.put(
                .fleeting,
                "k\(key(20))",
                version(),
                expiration: .after(.milliseconds(5))
            )
        default: try archives.remove(.safe, "shared \(key(8))")
        }
    }

    /// An older value of a process never reappears after a newer one was seen.
    private mutating func read(_ archive: ScriptArchive, _ key: String) throws {
        guard let version = try archives.find(archive, key) else { return }
        let (process, place) = (version % Self.processes, "\(archive) \(key)")
        let before = seen[place]?[process] ?? 0
        guard version >= before else {
            throw Wrong(description: "\(place) went back from \(before) to \(version)")
        }
        seen[place, default: Array(repeating: 0, count: Self.processes)][process] = version
    }

    private func checkOwn(_ key: String) throws {
        let found = try archives.find(.safe, key)
        guard found == own[key] else {
            throw Wrong(description: "\(key) is \(found ?? -1) and not \(own[key] ?? -1)")
        }
    }

    /// Of entries that were written together, the one read second is never older than the first.
    private func checkPair(_ key: String) throws {
        guard let first = try archives.find(.safe, key) else { return }
        guard let second = try archives.find(.power, key), second >= first else {
            throw Wrong(description: "of \(key) there is one half of \(first)")
        }
    }

    private mutating func evict() throws {
        try archives.put(.tight, "k\(key(200))", version(), filling: key(400))
        let tight = try archives.store(.tight)
        let held = try whileBusy { try tight.statistics().disk.bytes }
        guard held <= SharedArchives.tightLimit else {
            throw Wrong(description: "\(held) bytes are more than the limit")
        }
    }

    /// Every process tries to take the next number, and one succeeds.
    private mutating func claim() throws {
        while true {
            let number = nextClaim
            nextClaim += 1
            if try archives.claim("claim \(number)", version()) { return won.append(number) }
        }
    }

    /// Large objects that are recorded and removed, so that the file has pages to free.
    private mutating func large() throws {
        let key = "large \(number) \(key(3))"
        if own[key] == nil {
            own[key] = version()
            try archives.put(.safe, key, own[key] ?? 0, filling: 100_000)
        } else {
            try archives.remove(.safe, key)
            own[key] = nil
        }
    }

    private mutating func query() throws {
        let store = try archives.store(.safe)
        let group = key(7)
        let found = try whileBusy { try store.fetch(Item.inGroup(group)) }
        guard Set(found.map(\.key)).count == found.count else {
            throw Wrong(description: "a query met a key twice")
        }
    }

    /// The required contents at the end, as text.
    package var results: [String] {
        own.map { "own \($0.value) \($0.key)" } + won.map { "won \($0)" }
    }
}
