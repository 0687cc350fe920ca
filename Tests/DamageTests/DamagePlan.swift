import Foundation
import TestThreads
import VellumTestSupport

/// The damages to try: a sample of them, or all.
enum DamagePlan {
    private static let wish = ProcessInfo.processInfo.environment["VELLUM_DAMAGE"]
    /// `VELLUM_DAMAGE=all` tries everything.
    static let isWhole = wish == "all"
    /// `VELLUM_PART=3/8` tries the third of eight parts of them.
    private static let part =
        ProcessInfo.processInfo.environment["VELLUM_PART"]?.split(separator: "/").compactMap {
            Int($0)
        } ?? [1, 1]
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
            ([""] + Damage.sideFiles).flatMap { file in
                Damage.Garbage.allCases.map { .replace(file: file, $0) }
            }
        case .missing:
            (1..<(1 << (Damage.sideFiles.count + 1))).map { set in
                .missing(
                    ([""] + Damage.sideFiles).enumerated().filter { set & 1 << $0.offset != 0 }.map(
                        \.element
                    )
                )
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

    /// Makes the row ids of cells that go on on other pages shorter, so that the number of the next
    /// page is read elsewhere: one beyond the greatest, which SQLite takes for a full disk
    /// (pager.c, getPageNormal).
    private static func rowIDs(_ sample: SampleStore) -> [Damage] {
        let bytes = Array(sample.files[""] ?? Data())
        let size = sample.pageSize
        return stride(from: size, to: bytes.count, by: size).flatMap { page -> [Damage] in
            // A leaf of a table (sqlite.org/fileformat2.html, 1.6).
            guard bytes[page] == 0x0D else { return [] }
            return (0..<Int(bytes[page + 4])).compactMap { cell in
                let pointer = page + 8 + 2 * cell
                let start = page + Int(bytes[pointer]) << 8 + Int(bytes[pointer + 1])
                let (length, id) = varint(bytes, at: start)
                return length > size - 35 && varint(bytes, at: id).end > id + 5
                    ? .flip(file: "", offset: id + 1, bits: 0x80) : nil
            }
        }
    }

    private static func varint(_ bytes: [UInt8], at start: Int) -> (value: Int, end: Int) {
        let end = start + bytes[start...].prefix(8).prefix { $0 >= 0x80 }.count + 1
        return (bytes[start..<end].reduce(0) { $0 << 7 | Int($1 & 0x7F) }, end)
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
    static func chosen(
        _ kind: Damage.Kind,
        of sample: SampleStore,
        slice: Int,
        of slices: Int
    ) -> [Damage] {
        var damages = all(kind, of: sample)
        if !isWhole, damages.count > sampled {
            var random = SeededGenerator(seed: seed &+ UInt64(kind.rawValue.utf8.count))
            damages.shuffle(using: &random)
            var seen: Set<String> = []
            var (first, others) = (kind == .flipped ? rowIDs(sample) : [], [Damage]())
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
        return damages.enumerated().filter {
            $0.offset % slices == slice && $0.offset / slices % parts == number
        }.map(\.element)
    }
}
