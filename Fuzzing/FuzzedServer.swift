import Foundation
import VellumCore
import VellumRemote
import VellumValkey

/// Reads what a server of shared caches may send, or keep.
enum FuzzedServer {
    /// Reads as many values as there are, from the start and again in two parts.
    static func replies(_ input: Data) {
        let whole = values(in: input)
        let cut = Data(input.prefix(input.count / 2))
        let first = values(in: cut)
        require(
            first.lengths.elementsEqual(whole.lengths.prefix(first.lengths.count)),
            "More bytes do not change what was read before."
        )
        if first.isMalformed {
            require(whole.isMalformed, "More bytes do not mend what is malformed.")
        }
    }

    private static func values(in input: Data) -> (lengths: [Int], isMalformed: Bool) {
        var (lengths, rest) = ([Int](), input)
        do {
            while let (_, length) = try rest.withUnsafeBytes({ try RESPReader.value(in: $0) }) {
                require(length > 0 && length <= rest.count, "A value is within its bytes.")
                lengths.append(length)
                rest = Data(rest.dropFirst(length))
            }
            return (lengths, false)
        } catch {
            return (lengths, true)
        }
    }

    private static let capacity: Capacity = {
        do { return try Capacity(1.kiloByte) } catch { fatalError("\(error)") }
    }()

    /// Times and dates that a server may claim, with checksums that match: nothing that is computed
    /// with them may trap.
    static func times(_ input: Data) {
        let numbers = stride(from: 0, to: input.count - 7, by: 8).map { place in
            input.withUnsafeBytes {
                Int64(littleEndian: $0.loadUnaligned(fromByteOffset: place, as: Int64.self))
            }
        }
        guard numbers.count >= 6 else { return }
        let trust = Trust(for: 1000)
        #if Valkey
            let reply = RESPValue.array([
                .bytes(Data("\(numbers[0])".utf8)), .bytes(Data("\(numbers[1])".utf8)),
            ])
            let time = ServerTime(reply, sent: 0, received: 1)
        #else
            let time = ServerTime(
                seconds: numbers[0],
                microseconds: numbers[1],
                sent: 0,
                received: 1
            )
        #endif
        if let time {
            _ = trust.jump(to: time)
            trust.begin(time)
            _ = trust.jump(to: time)
        } else {
            trust.begin(
                ServerTime(
                    milliseconds: 1_800_000_000_000,
                    sent: CoarseClock.system.now(),
                    received: CoarseClock.system.now()
                )
            )
        }
        let record = RemoteRecord(
            value: Data([1]),
            typeVersion: numbers[2],
            written: WallInstant(rawValue: numbers[3]),
            expires: WallInstant(rawValue: numbers[4])
        )
        guard let read = RemoteRecord(record.encoded(under: "key"), under: "key") else { return }
        require(read == record, "A record is read as it was written.")
        let near = NearCache<Int64>(capacity: capacity, trust: trust)
        near.fill(numbers[5], read, forKey: "key", ticket: near.ticket(forKey: "key"))
        _ = near.hit(forKey: "key")
        if let old = near.oldValue(forKey: "key") {
            _ = old.isWithin(numbers[5], at: WallInstant(rawValue: numbers[4]))
        }
    }

    static func records(_ input: Data) {
        if let record = RemoteRecord(input, under: "key") {
            require(
                record.encoded(under: "key") == input,
                "An entry that can be read is written unchanged."
            )
        }
        // A checksum that matches is not found by chance.
        let made = RemoteRecord(
            value: input.isEmpty ? nil : input,
            typeVersion: Int64(input.count),
            written: WallInstant(rawValue: 1),
            expires: .never
        )
        var grouped = made
        grouped.groups = [
            GroupEpoch(
                name: EntryKey(String(decoding: input.prefix(40), as: UTF8.self)),
                epoch: UInt64(input.count)
            )
        ]
        require(
            RemoteRecord(grouped.encoded(under: "key"), under: "key") == grouped,
            "An entry in a group round-trips."
        )
        var bytes = made.encoded(under: "key")
        require(RemoteRecord(bytes, under: "key") == made, "An entry round-trips.")
        require(RemoteRecord(bytes, under: "other") == nil, "An entry belongs to its key.")
        bytes[bytes.startIndex + input.count % bytes.count] ^= 1
        require(RemoteRecord(bytes, under: "key") == nil, "A changed bit is found.")
        let keys = RemoteKeys(cacheName: "cache")
        _ = keys.entryKey(of: input)
        let key = EntryKey(String(decoding: input, as: UTF8.self))
        for remote in [keys.value(of: key), keys.lease(of: key)] {
            require(
                keys.entryKey(of: Data(remote.utf8))?.key == key,
                "The key of an entry is found in those of the server."
            )
        }
    }
}
