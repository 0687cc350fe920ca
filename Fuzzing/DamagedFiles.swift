import Foundation
import VellumCore
import VellumEngine
import VellumTestSupport

/// Opens an archive's database file and write-ahead log after applying the changes that the input
/// describes, four bytes for each change.
///
/// The input is a list of changes rather than the file itself, so that a mutation of the input
/// changes only a few bytes of the file.
final class DamagedFiles: @unchecked Sendable {
    // Unchecked because libFuzzer calls from one thread only.
    static let shared = DamagedFiles()

    private let folder: TemporaryDirectory
    private let sample: [String: Data]
    private static let names = ["alpha", "beta"]

    private init() {
        do {
            folder = try TemporaryDirectory()
            let url = folder.file("sample")
            let file = try DatabaseFile.open(at: url)
            for name in Self.names {
                let store = try Self.store(name, file)
                for number in 0..<40 {
                    try store.record(Self.value(name, number), forKey: EntryKey("key \(number)"))
                }
                for number in 0..<9 { try store.remove(EntryKey("key \(number * 4)")) }
            }
            let log = try Data(contentsOf: URL(fileURLWithPath: url.path + "-wal"))
            let young = try Data(contentsOf: url)
            try file.close()
            sample = ["": try Data(contentsOf: url), "-wal": log, "young": young]
        } catch {
            fatalError("No sample: \(error)")
        }
    }

    private static func value(_ name: String, _ number: Int) -> Data {
        Data("\(name) \(number) ".utf8)
            + Data(repeating: UInt8(number), count: number == 7 ? 9000 : number * 3)
    }

    private static func store(
        _ name: String,
        _ file: DatabaseFile
    ) throws(VellumError) -> Store<Data> {
        try file.store(
            named: name,
            codec: IdentityCodec(),
            memory: Capacity(1.megaByte),
            disk: Capacity(1.megaByte),
            caching: .values
        )
    }

    func run(_ input: Data) {
        var database = sample[""] ?? Data()
        var log: Data?
        // The same store before its first checkpoint, when all entries are in the log.
        if input.first.map({ $0 % 3 == 0 }) ?? false {
            (database, log) = (sample["young"] ?? Data(), sample["-wal"])
        }
        let changes = input.dropFirst()
        for start in stride(from: changes.startIndex, to: changes.endIndex - 3, by: 4).prefix(32) {
            let (kind, byte) = (changes[start], changes[start + 1])
            let place = Int(changes[start + 2]) << 8 | Int(changes[start + 3])
            if kind & 1 == 1, var content = log, !content.isEmpty {
                change(&content, kind, byte, place)
                log = content
            } else {
                change(&database, kind, byte, place)
            }
        }
        do {
            for name in try FileManager.default.contentsOfDirectory(atPath: folder.url.path)
            where name.hasPrefix("file") {
                unlink(folder.url.path + "/" + name)
            }
            try database.write(to: folder.file("file"))
            try log?.write(to: folder.file("file-wal"))
        } catch {
            fatalError("\(error)")
        }
        visit(1)
        visit(2)
    }

    private func change(_ data: inout Data, _ kind: UInt8, _ byte: UInt8, _ place: Int) {
        guard !data.isEmpty else { return }
        let offset = place % data.count
        switch kind >> 1 & 7 {
        case 0...3: data[offset] ^= byte
        case 4: data[offset] = byte
        case 5: data = data.prefix(data.count - offset % 4096 * Int(byte & 1))
        case 6: data[offset] = data[(offset + Int(byte) * 64) % data.count]
        default:
            // Replace one page with a copy of another.
            let pages = max(1, data.count / 4096)
            let (from, to) = (place % pages * 4096, Int(byte) % pages * 4096)
            if max(from, to) + 4096 <= data.count {
                data.replaceSubrange(to..<to + 4096, with: data.subdata(in: from..<from + 4096))
            }
        }
    }

    private func visit(_ number: Int) {
        attempt { () throws(VellumError) in
            let file = try DatabaseFile.open(at: folder.file("file"), ifNotADatabase: .setAside)
            for name in Self.names {
                attempt { () throws(VellumError) in
                    let store = try Self.store(name, file)
                    for number in 0..<40 {
                        attempt { () throws(VellumError) in
                            guard let value = try store.value(forKey: EntryKey("key \(number)"))
                            else { return }
                            require(
                                value == Self.value(name, number),
                                "A value equals the one that was recorded for its key."
                            )
                        }
                    }
                    attempt { () throws(VellumError) in _ = try store.values() }
                    attempt { () throws(VellumError) in
                        try store.record(Data("new".utf8), forKey: EntryKey("new \(number)"))
                    }
                }
            }
            attempt { () throws(VellumError) in _ = try file.verify() }
            attempt { () throws(VellumError) in try file.close() }
        }
    }

    private func attempt(_ body: () throws(VellumError) -> Void) {
        do throws(VellumError) {
            try body()
        } catch {
            let codes: [VellumError.Code] = [
                .damagedFile, .damagedEntry, .notADatabase, .foreignFile, .newerFormat,
            ]
            require(
                codes.contains(error.code),
                "Damage throws an error about damage: \(String(reflecting: error))"
            )
        }
    }
}
