import Foundation
import TestThreads
import Testing
import VellumCore
import VellumRemote
import VellumTestSupport

@Suite(.ownThreads)
struct RemoteRecordTests {
    private static let records = [
        RemoteRecord(
            value: Data("value".utf8),
            typeVersion: 0,
            written: WallInstant(rawValue: 1_800_000_000_000),
            expires: .never
        ),
        RemoteRecord(
            value: Data(),
            typeVersion: 7,
            written: WallInstant(rawValue: 1),
            expires: WallInstant(rawValue: 2)
        ),
        RemoteRecord(
            value: nil,
            typeVersion: .max,
            written: WallInstant(rawValue: 0),
            expires: WallInstant(rawValue: 0)
        ),
        RemoteRecord(
            value: Data([7]),
            typeVersion: 1,
            written: WallInstant(rawValue: 1),
            expires: WallInstant(rawValue: 2),
            groups: [GroupEpoch(name: "", epoch: .max), GroupEpoch(name: "\u{e9}\0", epoch: 0)]
        ),
        RemoteRecord(
            value: nil,
            typeVersion: 1,
            written: WallInstant(rawValue: 1),
            expires: WallInstant(rawValue: 2),
            groups: [GroupEpoch(name: "g", epoch: 1)]
        ),
        RemoteRecord(
            value: Data(),
            typeVersion: 1,
            written: WallInstant(rawValue: 1),
            expires: WallInstant(rawValue: 2),
            groups: (0..<200).map { GroupEpoch(name: EntryKey("group \($0)"), epoch: UInt64($0)) }
        ),
        RemoteRecord(
            value: Data(count: 100_000),
            typeVersion: -1,
            written: WallInstant(rawValue: 0),
            expires: WallInstant(rawValue: 5)
        ),
    ]

    @Test(arguments: records)
    func aRecordIsReadAsItWasWritten(_ record: RemoteRecord) {
        let bytes = record.encoded(under: "key")
        let groups =
            record.groups.isEmpty
            ? 0 : record.groups.reduce(4) { $0 + 12 + $1.name.normalized.utf8.count }
        #expect(bytes.count == RemoteRecord.headerLength + groups + (record.value?.count ?? 0))
        #expect(RemoteRecord(bytes, under: "key") == record)
        // A slice, whose indices do not begin at zero.
        #expect(RemoteRecord((Data([9, 9, 9]) + bytes).dropFirst(3), under: "key") == record)
    }

    /// Whoever can write to the server can make a checksum, but no time with which nothing can be
    /// computed.
    @Test(arguments: [Int64.min, -1]) func timesBefore1970AreRefused(_ time: Int64) {
        for (written, expires) in [(time, 5), (5, time)] {
            let record = RemoteRecord(
                value: Data(),
                typeVersion: 0,
                written: WallInstant(rawValue: written),
                expires: WallInstant(rawValue: expires)
            )
            #expect(RemoteRecord(record.encoded(under: "key"), under: "key") == nil)
        }
    }

    /// The same for counts and lengths of groups, and names that are not as we write them. Nothing
    /// is reserved for them.
    @Test(
        arguments: [
            [], [0, 0, 0, 0], [255, 255, 255, 255], [1, 0, 0, 0], [1, 0, 0, 0, 255, 255, 255, 255],
            [1, 0, 0, 0, 255, 255, 255, 127, 65],
            [1, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3], [2, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8],
            [1, 0, 0, 0, 1, 0, 0, 0, 255, 1, 2, 3, 4, 5, 6, 7, 8],
            [1, 0, 0, 0, 3, 0, 0, 0, 101, 204, 129, 1, 2, 3, 4, 5, 6, 7, 8],
        ] as [[UInt8]]
    )
    func hostileGroupsAreRefused(_ groups: [UInt8]) {
        for (flags, suffix) in [(2, [9, 9]), (2, []), (3, [])] as [(UInt8, [UInt8])] {
            #expect(RemoteRecord(Self.bytes(flags: flags, groups + suffix), under: "key") == nil)
        }
        #expect(RemoteRecord(Self.bytes(flags: 4, groups), under: "key") == nil)
        let good: [UInt8] = [1, 0, 0, 0, 1, 0, 0, 0, 103, 1, 0, 0, 0, 0, 0, 0, 0]
        #expect(
            RemoteRecord(Self.bytes(flags: 2, good + [9]), under: "key")?.groups == [
                GroupEpoch(name: "g", epoch: 1)
            ]
        )
        #expect(RemoteRecord(Self.bytes(flags: 3, good + [9]), under: "key") == nil)
    }

    /// An entry with a checksum that matches.
    private static func bytes(flags: UInt8, _ rest: [UInt8]) -> Data {
        var bytes = Data([1, flags] + [UInt8](repeating: 0, count: 23) + [0])
        // The key and its length, as in the checksum of every entry.
        let checksum = crc32c(Data("key".utf8) + [3, 0, 0, 0, 0, 0, 0, 0] + bytes + rest)
        withUnsafeBytes(of: checksum.littleEndian) { bytes.append(contentsOf: $0) }
        return bytes + rest
    }

    private static func crc32c(_ bytes: Data) -> UInt32 {
        ~bytes.reduce(UInt32.max) { sum, byte in
            (0..<8).reduce(sum ^ UInt32(byte)) { sum, _ in
                sum >> 1 ^ (sum & 1 == 0 ? 0 : 0x82F6_3B78)
            }
        }
    }

    @Test func aRecordOfAnotherKeyIsNotRead() {
        let bytes = Self.records[0].encoded(under: "key")
        #expect(RemoteRecord(bytes, under: "kez") == nil)
        #expect(RemoteRecord(bytes, under: "") == nil)
    }

    @Test func everyDamagedBitIsFound() {
        for record in Self.records.prefix(5) {
            let bytes = record.encoded(under: "key")
            for bit in 0..<bytes.count * 8 {
                var damaged = bytes
                damaged[bit / 8] ^= 1 << (bit % 8)
                #expect(RemoteRecord(damaged, under: "key") == nil, "bit \(bit)")
            }
            for length in 0..<bytes.count {
                #expect(RemoteRecord(bytes.prefix(length), under: "key") == nil, "\(length) bytes")
            }
            #expect(RemoteRecord(bytes + [0], under: "key") == nil)
        }
    }

    /// The format is a promise to other programs, and to other versions of this one.
    @Test func theFormatDoesNotChange() {
        let record = RemoteRecord(
            value: Data([1, 2, 3]),
            typeVersion: 2,
            written: WallInstant(rawValue: 0x0102),
            expires: WallInstant(rawValue: 0x0304)
        )
        let header: [UInt8] = [
            1, 0, 2, 0, 0, 0, 0, 0, 0, 0, 2, 1, 0, 0, 0, 0, 0, 0, 4, 3, 0, 0, 0, 0, 0, 0,
        ]
        let bytes = record.encoded(under: "v1:{kname\0key}")
        #expect(Array(bytes.prefix(26)) == header)
        #expect(Array(bytes.suffix(3)) == [1, 2, 3] && bytes.count == 33)
        let grouped = RemoteRecord(
            value: Data([7]),
            typeVersion: 0,
            written: WallInstant(rawValue: 0),
            expires: WallInstant(rawValue: 0),
            groups: [GroupEpoch(name: "ab", epoch: 0x0102)]
        )
        #expect(grouped.encoded(under: "key")[1] == 2)
        #expect(
            Array(grouped.encoded(under: "key").suffix(19)) == [
                1, 0, 0, 0, 2, 0, 0, 0, 97, 98, 2, 1, 0, 0, 0, 0, 0, 0, 7,
            ]
        )
    }

    @Test func bothKeysOfAnEntryLeadBackToIt() {
        let keys = RemoteKeys(cacheName: "rates")
        #expect(keys.value(of: "USD") == "v1:{krates\0USD}")
        #expect(keys.lease(of: "USD") == "v1:{krates\0USD}l")
        for key in ["", "USD", "}", "a}b", "a}l", "l", "{", "\0", "é", "日本"] as [EntryKey] {
            let (value, lease) = (
                keys.entryKey(of: Data(keys.value(of: key).utf8)),
                keys.entryKey(of: Data(keys.lease(of: key).utf8))
            )
            #expect(value?.key == key && value?.isLease == false)
            #expect(lease?.key == key && lease?.isLease == true)
        }
    }

    /// Keys and groups of the same name are apart.
    @Test func theKeyOfAnEpochLeadsBackToItsGroup() {
        let (keys, groups) = (
            RemoteKeys(cacheName: "rates"), RemoteKeys(cacheName: "rates", areOfGroups: true)
        )
        #expect(groups.value(of: "user:42") == "v1:{grates\0user:42}")
        for name in ["", "USD", "}", "a}l", "\0", "é"] as [EntryKey] {
            let (epoch, value) = (
                Data(groups.value(of: name).utf8), Data(keys.value(of: name).utf8)
            )
            #expect(
                groups.entryKey(of: epoch)?.key == name && keys.entryKey(of: epoch) == nil
                    && groups.entryKey(of: value) == nil
            )
        }
    }

    @Test func otherKeysBelongToNoEntry() {
        let keys = RemoteKeys(cacheName: "rates")
        let others = [
            "", "USD", "v1:{krates\0", "v1:{krates\0USD", "v1:{krates\0USD}x", "v1:{krate\0USD}",
            "v1:{krates2\0USD}", "v2:{krates\0USD}",
        ]
        for other in others { #expect(keys.entryKey(of: Data(other.utf8)) == nil, "\(other)") }
        #expect(keys.entryKey(of: Data("v1:{krates\0".utf8) + [0xFF, UInt8(ascii: "}")]) == nil)
    }
}
