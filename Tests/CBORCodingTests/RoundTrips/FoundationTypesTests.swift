import CBORCoding
import Foundation
import TestThreads
import Testing

@Suite("Foundation types", .ownThreads)
struct FoundationTypesTests {
    private static let dates = [
        Date(timeIntervalSinceReferenceDate: 0), Date(timeIntervalSince1970: 0),
        Date(timeIntervalSince1970: -1),
        Date(timeIntervalSince1970: 1_363_896_240.5),
        Date(timeIntervalSinceReferenceDate: 700_000_000.123456), .distantPast,
        .distantFuture,
    ]

    @Test(arguments: dates)
    func aDateKeepsThePrecisionOfItsStrategy(_ date: Date) throws {
        #expect(try roundTrip(date) == date)
        #expect(try roundTrip([date: date]) == [date: date])
        let seconds = try encoded(date) { $0.dateEncodingStrategy = .secondsSince1970 }
        // A tag takes precedence over the strategy.
        for strategy in [
            CBORDecoder.DateDecodingStrategy.deferredToDate, .secondsSince1970,
            .millisecondsSince1970, .iso8601,
        ] {
            let read = try decoded(Date.self, seconds) { $0.dateDecodingStrategy = strategy }
            #expect(read.timeIntervalSince1970 == date.timeIntervalSince1970)
        }
        let milliseconds = try encoded(date) { $0.dateEncodingStrategy = .millisecondsSince1970 }
        let read = try decoded(Date.self, milliseconds) {
            $0.dateDecodingStrategy = .millisecondsSince1970
        }
        #expect(abs(read.timeIntervalSince(date)) < 1e-4)
        let whole = Date(timeIntervalSince1970: date.timeIntervalSince1970.rounded(.down))
        let text = try encoded(whole) { $0.dateEncodingStrategy = .iso8601 }
        #expect(try decoded(Date.self, text) == whole)
    }

    @Test(arguments: [
        "2013-03-21T20:04:00Z", "2013-03-21T21:04:00+01:00", "2013-03-21T20:04:00.0Z",
        "2013-03-21T20:04:00.000000Z",
    ])
    func anRFC3339TextDecodesAsADate(_ text: String) throws {
        let date = Date(timeIntervalSince1970: 1_363_896_240)
        #expect(try decoded(Date.self, Data([0xC0]) + encoded(text)) == date)
        #expect(
            try decoded(Date.self, encoded(text)) { $0.dateDecodingStrategy = .iso8601 } == date
        )
    }

    @Test(arguments: [Double.nan, .infinity, -.infinity, 1e300, -1e300, 1e18, -1e18])
    func aDateBeyondTheCalendarRoundTripsOrThrows(_ seconds: Double) throws {
        let date = Date(timeIntervalSinceReferenceDate: seconds)
        #expect(try roundTrip(date).timeIntervalSinceReferenceDate.bitPattern == seconds.bitPattern)
        for strategy in [CBOREncoder.DateEncodingStrategy.secondsSince1970, .millisecondsSince1970]
        {
            #expect(try !encoded(date) { $0.dateEncodingStrategy = strategy }.isEmpty)
        }
    }

    @Test func customStrategiesApplyAtEveryLevel() throws {
        let date = Date(timeIntervalSinceReferenceDate: 86400)
        let encode: @Sendable (Date, any Encoder) throws -> Void = { date, encoder in
            var single = encoder.singleValueContainer()
            try single.encode("day \(Int(date.timeIntervalSinceReferenceDate / 86400))")
        }
        let decode: @Sendable (any Decoder) throws -> Date = { decoder in
            let text = try decoder.singleValueContainer().decode(String.self)
            return Date(
                timeIntervalSinceReferenceDate: try #require(Double(text.dropFirst(4))) * 86400
            )
        }
        struct Dates: Codable, Equatable {
            var one: Date; var other: Date?; var list: [Date]; var map: [String: Date]
        }
        let dates = Dates(one: date, other: date, list: [date, date], map: ["a": date])
        let data = try encoded(dates) { $0.dateEncodingStrategy = .custom(encode) }
        #expect(
            try decoded(Dates.self, data) { $0.dateDecodingStrategy = .custom(decode) } == dates
        )
        #expect(
            try decoded(Tree.self, encoded(date) { $0.dateEncodingStrategy = .custom(encode) })
                == "day 1"
        )
        #expect(try encoded([date]) { $0.dateEncodingStrategy = .custom { _, _ in } }.hex == "81a0")
    }

    @Test(arguments: [Data(), Data([0]), Data((0...255).map { UInt8($0) }), Data(count: 70000)])
    func dataIsEncodedByItsStrategy(_ data: Data) throws {
        #expect(try roundTrip(data) == data)
        #expect(try roundTrip(["a": data]) == ["a": data])
        #expect(try encoded(data).first.map { $0 >> 5 } == 2)
        let base64 = try encoded(data) { $0.dataEncodingStrategy = .base64 }
        #expect(try decoded(Data.self, base64) { $0.dataDecodingStrategy = .base64 } == data)
        #expect(try decoded(String.self, base64) == data.base64EncodedString())
        let bytes = try encoded(data) { $0.dataEncodingStrategy = .deferredToData }
        #expect(try decoded(Data.self, bytes) { $0.dataDecodingStrategy = .deferredToData } == data)
        #expect(try decoded([UInt8].self, bytes) == Array(data))
        #expect(decodingError { try decoded(Data.self, bytes) }?.kind == "typeMismatch")
    }

    @Test func aSliceOfDataRoundTrips() throws {
        let slice = Data([9, 9, 1, 2, 3, 9])[2..<5]
        #expect(try encoded(slice).hex == "43010203")
        let padded = Data([0xFF, 0xFF]) + (try encoded([1, 2])) + Data([0xFF])
        #expect(try decoded([Int].self, padded[2..<5]) == [1, 2])
    }

    @Test(arguments: [
        "https://example.com/a%20b?c=d#e", "file:///a/b", "mailto:a@example.com", "relative/path",
        "/", "a:b",
    ])
    func aURLIsATaggedText(_ text: String) throws {
        let url = try #require(URL(string: text))
        #expect(try roundTrip(url) == url)
        #expect(try roundTrip([url: url]) == [url: url])
        #expect(try decoded(URL.self, encoded(text)) == url)
        #expect(try encoded(url).starts(with: [0xD8, 0x20]))
    }

    @Test func aURLKeepsItsBaseURL() throws {
        let url = try #require(
            URL(string: "b/c?d", relativeTo: URL(string: "https://example.com/a/"))
        )
        #expect(try roundTrip(url) == url)
        #expect(try roundTrip([url])[0].baseURL == url.baseURL)
        #expect(try roundTrip(url).absoluteString == "https://example.com/a/b/c?d")
        #expect(decodingError { try decoded(URL.self, encoded("")) }?.kind == "dataCorrupted")
    }

    @Test func aUUIDIsSixteenTaggedBytes() throws {
        let uuid = try #require(UUID(uuidString: "00010203-0405-0607-0809-0A0B0C0D0E0F"))
        #expect(try encoded(uuid).hex == "d82550000102030405060708090a0b0c0d0e0f")
        #expect(try roundTrip(uuid) == uuid)
        #expect(try roundTrip([uuid: [uuid]]) == [uuid: [uuid]])
        #expect(try decoded(UUID.self, encoded(uuid.uuidString)) == uuid)
        #expect(
            try decoded(UUID.self, hex: "5f 48 0001020304050607 48 08090a0b0c0d0e0f ff") == uuid
        )
        #expect(
            decodingError { try decoded(UUID.self, hex: "4f000102030405060708090a0b0c0d0e") }?.kind
                == "dataCorrupted"
        )
        #expect(decodingError { try decoded(UUID.self, encoded("no")) }?.kind == "dataCorrupted")
        #expect(decodingError { try decoded(UUID.self, encoded(1)) }?.kind == "typeMismatch")
    }

    private static let decimals: [Decimal] =
        [
            0, 1, -1, Decimal(UInt64.max), .pi, .greatestFiniteMagnitude, -.greatestFiniteMagnitude,
            .leastNonzeroMagnitude,
            .leastNormalMagnitude,
        ]
        + [
            "0.1", "-273.15", "1e127", "-1e-127", "12345678901234567890123456789012345678",
            "-0.00000000000000000000000000000000000001",
            "100",
        ].compactMap { Decimal(string: $0) }

    @Test(arguments: decimals)
    func aDecimalKeepsItsValue(_ decimal: Decimal) throws {
        #expect(try roundTrip(decimal) == decimal)
        #expect(try roundTrip(["a": decimal]) == ["a": decimal])
        #expect(try encoded(roundTrip(decimal)) == encoded(decimal))
    }

    @Test func aDecimalDecodesFromOtherNumbers() throws {
        #expect(try roundTrip(Decimal.nan).isNaN)
        #expect(try decoded(Decimal.self, hex: "c48221196ab3") == Decimal(string: "273.15"))
        #expect(try decoded(Decimal.self, encoded(-7)) == -7)
        #expect(try decoded(Decimal.self, encoded(1.1)) == Decimal(string: "1.1"))
        #expect(try decoded(Decimal.self, encoded("1.1")) == Decimal(string: "1.1"))
        #expect(
            try decoded(Decimal.self, encoded(Int128(1) << 70))
                == Decimal(string: "1180591620717411303424")
        )
        for hex in [
            "c48101", "c4830101 01", "c482 1b7fffffffffffffff 01", "c482 3b7fffffffffffffff 01",
            "c482 190100 01", "c482 3901ff 01",
        ] {
            #expect(
                decodingError { try decoded(Decimal.self, hex: hex) }?.kind == "dataCorrupted",
                "\(hex)"
            )
        }
        #expect(
            decodingError { try decoded(Decimal.self, encoded(Double.infinity)) }?.kind
                == "dataCorrupted"
        )
        #expect(decodingError { try decoded(Decimal.self, encoded(true)) }?.kind == "typeMismatch")
    }
}
