import Foundation
import VellumTestSupport

/// The damages to try: a sample of them, or all.
enum DamagePlan {
    private static let wish = ProcessInfo.processInfo.environment["VELLUM_DAMAGE"]
    /// `VELLUM_DAMAGE=all` tries everything.
    static let isWhole = wish == "all"
    /// `VELLUM_DAMAGE=1000` tries that many of each kind.
    static let sampled = wish.flatMap(Int.init) ?? 12
    static let seed = ProcessInfo.processInfo.environment["VELLUM_SEED"].flatMap(UInt64.init) ?? 1

    /// Every damage of that kind.
    static func all(_ kind: Damage.Kind, of sample: SampleStore) -> [Damage] {
        switch kind {
        case .flipped: flips(sample)
        case .truncated:
            ["", "-wal"].flatMap { file in (0..<(sample.files[file]?.count ?? 0)).map { .truncate(file: file, length: $0) } }
        case .swapped: pages(sample)
        case .garbage:
            ([""] + Damage.sideFiles).flatMap { file in Damage.Garbage.allCases.map { .replace(file: file, $0) } }
        case .missing:
            (1..<(1 << (Damage.sideFiles.count + 1))).map { set in
                .missing(([""] + Damage.sideFiles).enumerated().filter { set & 1 << $0.offset != 0 }.map(\.element))
            }
        }
    }

    private static func flips(_ sample: SampleStore) -> [Damage] {
        var damages: [Damage] = []
        for (file, step) in [("", 1), ("-wal", 1), ("-shm", 32)] {
            for offset in stride(from: 0, to: sample.files[file]?.count ?? 0, by: step) {
                damages.append(.flip(file: file, offset: offset, bits: 0xFF))
                // Each bit of the headers, and one of every other byte.
                let bits = offset < 136 ? Array(0..<8) : [(offset * 5 + offset / 8) % 8]
                damages += bits.map { .flip(file: file, offset: offset, bits: 1 << UInt8($0)) }
            }
        }
        return damages
    }

    private static func pages(_ sample: SampleStore) -> [Damage] {
        var damages: [Damage] = []
        for file in ["", "-wal"] {
            let count = sample.pages(of: file)
            for page in 0..<count {
                damages += [.zero(file: file, page: page), .fill(file: file, page: page)]
                for other in 0..<count where other != page {
                    damages.append(.duplicate(file: file, from: page, to: other))
                    if other > page { damages.append(.swap(file: file, page, other)) }
                }
            }
        }
        return damages
    }

    /// The damages of that kind to try, divided among the slices.
    static func chosen(_ kind: Damage.Kind, of sample: SampleStore, slice: Int, of slices: Int) -> [Damage] {
        var damages = all(kind, of: sample)
        if !isWhole, damages.count > sampled {
            var random = SeededGenerator(seed: seed &+ UInt64(kind.rawValue.utf8.count))
            damages.shuffle(using: &random)
            damages.removeLast(damages.count - sampled)
        }
        return damages.enumerated().filter { $0.offset % slices == slice }.map(\.element)
    }
}
