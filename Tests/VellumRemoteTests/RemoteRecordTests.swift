import Foundation
import Testing
import VellumCore
import VellumRemote
import VellumTestSupport

@Suite(.timeLimit(.minutes(1)))
struct RemoteRecordTests {
    private static let records = [
        RemoteRecord(value: Data("value".utf8), typeVersion: 0, written: WallInstant(rawValue: 1_800_000_000_000), expires: .never),
        RemoteRecord(value: Data(), typeVersion: 7, written: WallInstant(rawValue: 1), expires: WallInstant(rawValue: 2)),
        RemoteRecord(value: nil, typeVersion: .max, written: WallInstant(rawValue: 0), expires: WallInstant(rawValue: 0)),
        RemoteRecord(value: Data(count: 100_000), typeVersion: -1, written: WallInstant(rawValue: 0), expires: WallInstant(rawValue: 5)),
    ]

    @Test(arguments: records)
    func aRecordIsReadAsItWasWritten(_ record: RemoteRecord) {
        let bytes = record.encoded(under: "key")
        #expect(bytes.count == RemoteRecord.headerLength + (record.value?.count ?? 0))
        #expect(RemoteRecord(bytes, under: "key") == record)
        // A slice, whose indices do not begin at zero.
        #expect(RemoteRecord((Data([9, 9, 9]) + bytes).dropFirst(3), under: "key") == record)
    }

    /// Whoever can write to the server can make a checksum, but no time with which nothing can be computed.
    @Test(arguments: [Int64.min, -1]) func timesBefore1970AreRefused(_ time: Int64) {
        for (written, expires) in [(time, 5), (5, time)] {
            let record = RemoteRecord(
                value: Data(), typeVersion: 0, written: WallInstant(rawValue: written), expires: WallInstant(rawValue: expires))
            #expect(RemoteRecord(record.encoded(under: "key"), under: "key") == nil)
        }
    }

    @Test func aRecordOfAnotherKeyIsNotRead() {
        let bytes = Self.records[0].encoded(under: "key")
        #expect(RemoteRecord(bytes, under: "kez") == nil)
        #expect(RemoteRecord(bytes, under: "") == nil)
    }

    @Test func everyDamagedBitIsFound() {
        for record in Self.records.prefix(3) {
            let bytes = record.encoded(under: "key")
            for bit in 0..<bytes.count * 8 {
                var damaged = bytes
                damaged[bit / 8] ^= 1 << (bit % 8)
                #expect(RemoteRecord(damaged, under: "key") == nil, "bit \(bit)")
            }
            for length in 0..<bytes.count { #expect(RemoteRecord(bytes.prefix(length), under: "key") == nil, "\(length) bytes") }
            #expect(RemoteRecord(bytes + [0], under: "key") == nil)
        }
    }

    /// The format is a promise to other programs, and to other versions of this one.
    @Test func theFormatDoesNotChange() {
        let record = RemoteRecord(
            value: Data([1, 2, 3]), typeVersion: 2, written: WallInstant(rawValue: 0x0102), expires: WallInstant(rawValue: 0x0304))
        let header: [UInt8] = [1, 0, 2, 0, 0, 0, 0, 0, 0, 0, 2, 1, 0, 0, 0, 0, 0, 0, 4, 3, 0, 0, 0, 0, 0, 0]
        let bytes = record.encoded(under: "v1:{kname\0key}")
        #expect(Array(bytes.prefix(26)) == header)
        #expect(Array(bytes.suffix(3)) == [1, 2, 3])
    }

    @Test func bothKeysOfAnEntryLeadBackToIt() {
        let keys = RemoteKeys(cacheName: "rates")
        #expect(keys.value(of: "USD") == "v1:{krates\0USD}")
        #expect(keys.lease(of: "USD") == "v1:{krates\0USD}l")
        for key in ["", "USD", "}", "a}b", "a}l", "l", "{", "\0", "é", "日本"] as [EntryKey] {
            let (value, lease) = (keys.entryKey(of: Data(keys.value(of: key).utf8)), keys.entryKey(of: Data(keys.lease(of: key).utf8)))
            #expect(value?.key == key && value?.isLease == false)
            #expect(lease?.key == key && lease?.isLease == true)
        }
    }

    @Test func otherKeysBelongToNoEntry() {
        let keys = RemoteKeys(cacheName: "rates")
        let others = [
            "", "USD", "v1:{krates\0", "v1:{krates\0USD", "v1:{krates\0USD}x", "v1:{krate\0USD}", "v1:{krates2\0USD}", "v2:{krates\0USD}",
        ]
        for other in others { #expect(keys.entryKey(of: Data(other.utf8)) == nil, "\(other)") }
        #expect(keys.entryKey(of: Data("v1:{krates\0".utf8) + [0xFF, UInt8(ascii: "}")]) == nil)
    }
}
