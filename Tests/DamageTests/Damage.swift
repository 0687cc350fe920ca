import Foundation
import VellumTestSupport

/// A way to damage the files of a store.
enum Damage: Hashable, Sendable {
    /// Bits of a byte are flipped.
    case flip(file: String, offset: Int, bits: UInt8)
    case truncate(file: String, length: Int)
    /// Pages, or frames of the log, are swapped.
    case swap(file: String, Int, Int)
    /// A page is overwritten with a copy of another.
    case duplicate(file: String, from: Int, to: Int)
    case zero(file: String, page: Int)
    /// A page is filled with random bytes.
    case fill(file: String, page: Int)
    /// Something else is in the place of the file.
    case replace(file: String, Garbage)
    /// Files are missing.
    case missing([String])

    /// The replacement of a file.
    enum Garbage: Hashable, Sendable, CaseIterable {
        case nothing, byte, zeros, ones, random, longRandom, text
        /// The file of that name of another store.
        case another
        /// An earlier version of the database.
        case earlier
        /// The current database.
        case database
        case log
    }

    /// The side files of a database.
    static let sideFiles = ["-wal", "-shm", "-journal", "-changes"]

    /// The kind of damage, for the figures.
    enum Kind: String, CaseIterable, Sendable { case flipped, truncated, swapped, garbage, missing }

    var kind: Kind {
        switch self {
        case .flip: .flipped
        case .truncate: .truncated
        case .swap, .duplicate, .zero, .fill: .swapped
        case .replace: .garbage
        case .missing: .missing
        }
    }

    /// Whether a file of another store is in place. An intact log or database is accepted as ours:
    /// nothing in SQLite's formats identifies which of them belong together.
    var bringsAnother: Bool {
        if case .replace(_, .another) = self { true } else { false }
    }

    /// Whether the database is an earlier version, or missing.
    var isOlderWhole: Bool {
        switch self {
        case .replace("", .earlier): true
        case .missing(let files): files.contains("")
        default: false
        }
    }

    /// Whether no trace of the store is left.
    var leavesNothing: Bool {
        switch self {
        case .missing(let files): files.contains("") && files.contains("-wal")
        case .truncate("", 0): true
        default: false
        }
    }

    /// The files that were changed.
    var damaged: Set<String> {
        switch self {
        case .flip(let file, _, _), .truncate(let file, _), .swap(let file, _, _),
            .duplicate(let file, _, _), .zero(let file, _),
            .fill(let file, _), .replace(let file, _):
            [file]
        case .missing(let files): Set(files)
        }
    }

    /// The damaged files.
    func applied(to sample: SampleStore, another: SampleStore) -> [String: Data] {
        var files = sample.files
        func change(_ file: String, _ body: (inout Data) -> Void) {
            guard var data = files[file] else { return }
            body(&data)
            files[file] = data
        }
        switch self {
        case .flip(let file, let offset, let bits): change(file) { $0[offset] ^= bits }
        case .truncate(let file, let length): change(file) { $0 = $0.prefix(length) }
        case .swap(let file, let left, let right):
            change(file) { data in
                let (one, other) = (sample.page(left, of: file), sample.page(right, of: file))
                let bytes = (data.subdata(in: one), data.subdata(in: other))
                data.replaceSubrange(one, with: bytes.1)
                data.replaceSubrange(other, with: bytes.0)
            }
        case .duplicate(let file, let from, let to):
            change(file) {
                $0.replaceSubrange(
                    sample.page(to, of: file),
                    with: $0.subdata(in: sample.page(from, of: file))
                )
            }
        case .zero(let file, let page):
            change(file) { $0.resetBytes(in: sample.page(page, of: file)) }
        case .fill(let file, let page):
            change(file) {
                let range = sample.page(page, of: file)
                $0.replaceSubrange(range, with: Self.random(range.count, seed: UInt64(page)))
            }
        case .replace(let file, let garbage):
            files[file] = garbage.bytes(for: file, sample: sample, another: another)
        case .missing(let missing):
            for file in missing { files[file] = nil }
        }
        return files
    }

    fileprivate static func random(_ count: Int, seed: UInt64) -> Data {
        var random = SeededGenerator(seed: seed)
        return Data((0..<count).map { _ in UInt8.random(in: 0...255, using: &random) })
    }
}

extension Damage.Garbage {
    func bytes(for file: String, sample: SampleStore, another: SampleStore) -> Data {
        switch self {
        case .nothing: Data()
        case .byte: Data([1])
        case .zeros: Data(count: 5000)
        case .ones: Data(repeating: 0xFF, count: 5000)
        case .random: Damage.random(5000, seed: 1)
        case .longRandom: Damage.random(300_000, seed: 2)
        case .text: Data("This is no such file.\n".utf8)
        case .another: another.files[file] ?? another.files[""] ?? Data()
        case .earlier: sample.earlier
        case .database: sample.files[""] ?? Data()
        case .log: sample.files["-wal"] ?? Data()
        }
    }
}

extension SampleStore {
    /// The number of pages of the database, or of frames of the log.
    func pages(of file: String) -> Int {
        let count = files[file]?.count ?? 0
        return file == "-wal" ? (count - 32) / (pageSize + 24) : count / pageSize
    }

    func page(_ number: Int, of file: String) -> Range<Int> {
        if file == "-wal" {
            return 32 + number * (pageSize + 24)..<32 + (number + 1) * (pageSize + 24)
        }
        return number * pageSize..<(number + 1) * pageSize
    }
}
