import Foundation
import TestThreads
import VellumTestSupport

/// The damages to try: a sample of them, or all.
enum DamagePlan {
    private static let wish = ProcessInfo.processInfo.environment["VELLUM_DAMAGE"]
    /// `VELLUM_DAMAGE=all` tries everything.
    static let isWhole = wish == "all"
    /// `VELLUM_PART=3/8` tries the third of eight parts of them.
    private static let part = ProcessInfo.processInfo.environment["VELLUM_PART"]?.split(separator: "/").compactMap { Int($0) } ?? [1, 1]
    /// `VELLUM_DAMAGE=1000` tries that many of each kind.
    static let sampled = wish.flatMap(Int.init) ?? LongRun.number(30, usually: 12)
    static let seed = ProcessInfo.processInfo.environment["VELLUM_SEED"].flatMap(UInt64.init) ?? 1

    /// One of so many offsets and pairs of pages is considered, which is more than enough for a
    /// sample.
    private static let thinning = isWhole || sampled > 100 ? 1 : 37
    private static let start = Int(seed % UInt64(thinning))

    /// Every damage of that kind, or enough of them for the sample.
    static func all(_ kind: Damage.Kind, of sample: SampleStore) -> [Damage] {
        switch kind {
        case .flipped: flips(sample)
        case .truncated:
            ["", "-wal"].flatMap { file in
                stride(from: start, to: sample.files[file]?.count ?? 0, by: thinning)
                    .map { .truncate(file: file, length: $0) }
            }
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
            let count = sample.files[file]?.count ?? 0
            for offset in stride(from: start * step, to: count, by: step * thinning) {
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
                for other in stride(from: (start + page) % thinning, to: count, by: thinning)
                where other != page {
                    damages.append(.duplicate(file: file, from: page, to: other))
                    if other > page { damages.append(.swap(file: file, page, other)) }
                }
            }
        }
        return damages
    }

    /// What the sample has at least one of.
    private static func variety(_ damage: Damage) -> String {
        switch damage {
        case .flip(let file, _, let bits): "flip \(file) \(bits == 0xFF)"
        case .truncate(let file, _): "truncate \(file)"
        case .swap(let file, _, _): "swap \(file)"
        case .duplicate(let file, _, _): "duplicate \(file)"
        case .zero(let file, _): "zero \(file)"
        case .fill(let file, _): "fill \(file)"
        case .replace(_, let garbage): "\(garbage)"
        case .missing(let files): "\(files.count) missing"
        }
    }

    /// The damages of that kind to try, divided among the slices.
    static func chosen(_ kind: Damage.Kind, of sample: SampleStore, slice: Int, of slices: Int) -> [Damage] {
        var damages = all(kind, of: sample)
        if !isWhole, damages.count > sampled {
            var random = SeededGenerator(seed: seed &+ UInt64(kind.rawValue.utf8.count))
            damages.shuffle(using: &random)
            var seen: Set<String> = []
            var (first, others) = ([Damage](), [Damage]())
            for damage in damages {
                if seen.insert(variety(damage)).inserted {
                    first.append(damage)
                } else {
                    others.append(damage)
                }
            }
            damages = first + others.prefix(max(0, sampled - first.count))
        }
        let (number, parts) = (part[0] - 1, part[1])
        return damages.enumerated().filter { $0.offset % slices == slice && $0.offset / slices % parts == number }.map(\.element)
    }
}
