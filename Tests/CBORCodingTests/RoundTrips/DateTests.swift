import CBORCoding
import Foundation
import TestThreads
import Testing

/// Dates as RFC 3339, RFC 8949 and RFC 8943 define them, in the Gregorian calendar for all years.
@Suite("Dates", .ownThreads)
struct DateTests {
    private func decodedText(_ text: String, tag: [UInt8] = [0xC0]) throws -> Date {
        try decoded(Date.self, Data(tag) + encoded(text))
    }

    private func text(_ seconds: Double) throws -> String {
        try decoded(
            String.self,
            encoded(Date(timeIntervalSince1970: seconds)) { $0.dateEncodingStrategy = .iso8601 }
        )
    }

    private static let moments: [(text: String, seconds: Double)] = [
        ("1970-01-01T00:00:00Z", 0), ("2013-03-21T20:04:00Z", 1_363_896_240),
        ("0000-01-01T00:00:00Z", -62_167_219_200),
        ("0001-01-01T00:00:00Z", -62_135_596_800), ("0004-02-29T12:00:00Z", -62_035_848_000),
        ("1000-01-01T00:00:00Z", -30_610_224_000),
        ("1582-10-04T00:00:00Z", -12_220_243_200), ("1582-10-15T00:00:00Z", -12_219_292_800),
        ("1700-03-01T00:00:00Z", -8_515_238_400),
        ("1900-02-28T23:59:59Z", -2_203_891_201), ("1900-03-01T00:00:00Z", -2_203_891_200),
        ("1969-12-31T23:59:59Z", -1),
        ("2000-02-29T00:00:00Z", 951_782_400), ("2024-02-29T23:59:59Z", 1_709_251_199),
        ("9999-12-31T23:59:59Z", 253_402_300_799),
    ]

    @Test(arguments: moments)
    func aTextIsTheSameMomentInBothDirections(_ text: String, _ seconds: Double) throws {
        let date = Date(timeIntervalSince1970: seconds)
        #expect(try decodedText(text) == date)
        #expect(
            try decoded(Date.self, encoded(text)) { $0.dateDecodingStrategy = .iso8601 } == date
        )
        #expect(try self.text(seconds) == text)
        // Parts of a second are left out.
        #expect(try self.text(seconds + 0.75) == text)
    }

    /// Every day of the years 0 to 9999, counted without a calendar of divisions.
    @Test func everyDayOfTheCalendarHasItsNumber() throws {
        var day = -719_528
        for year in 0...9999 {
            let isLeapYear = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
            // All days of some years; the first and last days of the months of others.
            let isWhole = year < 5 || year % LongRun.number(1249, usually: 2498) == 400
            let isTried = year % LongRun.number(17, usually: 85) == 0
            for (month, length) in zip(
                1...,
                [31, isLeapYear ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
            ) {
                for dayOfMonth in isWhole ? Array(1...length) : isTried ? [1, length] : [] {
                    let (number, text) = (
                        day + dayOfMonth - 1,
                        String(format: "%04d-%02d-%02d", year, month, dayOfMonth)
                    )
                    let date = Date(timeIntervalSince1970: Double(number) * 86400)
                    #expect(try decodedText(text, tag: [0xD9, 0x03, 0xEC]) == date, "\(text)")
                    #expect(
                        try decoded(Date.self, Data([0xD8, 0x64]) + encoded(number)) == date,
                        "\(text)"
                    )
                    #expect(try self.text(Double(number) * 86400 + 86399) == text + "T23:59:59Z")
                }
                if isWhole {
                    #expect(throws: DecodingError.self) {
                        try decodedText(
                            String(format: "%04d-%02d-%02dT00:00:00Z", year, month, length + 1)
                        )
                    }
                }
                day += length
            }
        }
        #expect(day == 2_932_897)
    }

    private static let forms: [(text: String, seconds: Double)] = [
        ("1985-04-12T23:20:50.52Z", 482_196_050.52), ("1996-12-19T16:39:57-08:00", 851_042_397),
        ("1937-01-01T12:00:27.87+00:20", -1_041_337_172.13),
        ("2013-03-21t20:04:00z", 1_363_896_240),
        ("2013-03-21T20:04:00.12345678901234567890123456789z", 1_363_896_240.1234567),
        ("2013-03-21T20:04:00.5-00:00", 1_363_896_240.5),
        ("2013-03-22T19:33:59.000+23:29", 1_363_896_299),
        ("2013-03-21T00:00:00-23:59", 1_363_910_340),
        ("0000-01-01T00:00:00+00:01", -62_167_219_260),
        ("9999-12-31T23:59:59-00:01", 253_402_300_859),
        // Leap seconds, at the end of a month in UTC.
        ("1990-12-31T23:59:60Z", 662_688_000), ("1990-12-31T15:59:60-08:00", 662_688_000),
        ("1991-01-01T00:59:60.25+01:00", 662_688_000.25),
        ("2016-06-30T23:59:60z", 1_467_331_200),
    ]

    @Test(arguments: forms)
    func everyFormOfTheRFCIsAccepted(_ text: String, _ seconds: Double) throws {
        let date = try decodedText(text)
        #expect(abs(date.timeIntervalSince1970 - seconds) < 1e-6)
        #expect(
            try decoded(Date.self, encoded(text)) { $0.dateDecodingStrategy = .iso8601 } == date
        )
    }

    private static let form = "2013-03-21T20:04:00Z"
    private static let others = [
        "", "2013-03-21", "20:04:00Z", "2013-03-21T20:04Z", "2013-03-21T20:04:00",
        "2013-03-21 20:04:00Z", "20130321T200400Z",
        "2013-03-21T20:04:00.Z",
        "2013-03-21T20:04:00,5Z", "2013-03-21T20:04:00+0100", "2013-03-21T20:04:00+01",
        "2013-03-21T20:04:00+1:00",
        "2013-03-21T20:04:00+01:00Z",
        "2013-03-21T20:04:00+24:00", "2013-03-21T20:04:00+01:60", "2013-03-21T20:04:00 Z",
        " \(form)", "\(form) ", "\(form)\0", "+\(form)",
        "-\(form)",
        "12013-03-21T20:04:00Z", "013-03-21T20:04:00Z", "2013-3-21T20:04:00Z",
        "2013-02-30T00:00:00Z", "2013-02-29T00:00:00Z",
        "1900-02-29T00:00:00Z",
        "2013-04-31T00:00:00Z", "2013-00-01T00:00:00Z", "2013-13-01T00:00:00Z",
        "2013-03-00T00:00:00Z", "2013-03-32T00:00:00Z",
        "2013-03-21T24:00:00Z",
        "2013-03-21T25:04:00Z", "2013-03-21T20:60:00Z", "2013-03-21T20:04:60Z",
        "2013-03-21T20:04:61Z", "2013-03-20T23:59:60Z",
        "2016-12-31T23:59:61Z",
        "2016-12-31T23:59:60+01:00", "2016-12-31T23:58:60Z", "٢٠١٣-03-21T20:04:00Z",
        "2013-03-21T20:04:00\u{FF3A}", "2013-W12-4T20:04:00Z",
        "2013-03-21T20:04:00.5", "2013-03-21T20:04:00.5.5Z", "now", "2013-03-21T-1:04:00Z",
        "2013-03-21T20:04:0xZ",
        "2013-03-21T20:04:00\u{2212}01:00",
    ]

    @Test(arguments: others)
    func otherTextsAndDatesThatDoNotExistThrow(_ text: String) throws {
        #expect(decodingError { try decodedText(text) }?.kind == "dataCorrupted")
        #expect(
            decodingError {
                try decoded(Date.self, encoded(text)) { $0.dateDecodingStrategy = .iso8601 }
            }?.kind == "dataCorrupted"
        )
        // A date without a time has a tag of its own.
        let day = decodingError { try decodedText(text, tag: [0xD9, 0x03, 0xEC]) }
        #expect((day == nil) == (text == "2013-03-21"))
    }

    @Test func aTagDecidesOverTheStrategy() throws {
        let date = Date(timeIntervalSince1970: -10676 * 86400)
        for strategy in [
            CBORDecoder.DateDecodingStrategy.deferredToDate, .secondsSince1970,
            .millisecondsSince1970, .iso8601,
        ] {
            // Both examples of RFC 8943, and the same as seconds and as a text.
            for hex in [
                "d864 3929b3", "d903ec 6a313934302d31302d3039", "c1 3a36facdff",
                "c0 74313934302d31302d30395430303a30303a30305a",
            ] {
                #expect(
                    try decoded(Date.self, Data(hex: hex)) { $0.dateDecodingStrategy = strategy }
                        == date,
                    "\(hex)"
                )
            }
            for hex in [
                "d864 6131", "d864 f93e00", "d864 1bffffffffffffffff", "d903ec 01", "c0 01",
                "c1 6131", "d864 80", "c1 f6",
            ] {
                #expect(
                    decodingError {
                        try decoded(Date.self, Data(hex: hex)) {
                            $0.dateDecodingStrategy = strategy
                        }
                    } != nil,
                    "\(hex)"
                )
            }
        }
    }

    @Test(arguments: [
        Double.infinity, -.infinity, .nan, 1e300, -62_167_219_200.001, 253_402_300_800, -1e18,
        1e11 * 3,
    ])
    func aDateWithoutATextThrows(_ seconds: Double) throws {
        let date = Date(timeIntervalSince1970: seconds)
        let values: [any Encodable] = [
            date, [date], ["a": date], [date: 1], Optional(date), [[date]],
        ]
        for value in values {
            #expect(throws: EncodingError.self) {
                try encoded(value) { $0.dateEncodingStrategy = .iso8601 }
            }
        }
        // An error that is caught leaves nothing behind.
        let caught = Encoding { encoder in
            var map = encoder.container(keyedBy: TextKey.self)
            try map.encode(1, forKey: "a")
            #expect(throws: EncodingError.self) { try map.encode(date, forKey: "b") }
            try map.encode(2, forKey: "c")
        }
        #expect(
            try decoded([String: Int].self, encoded(caught) { $0.dateEncodingStrategy = .iso8601 })
                == ["a": 1, "c": 2]
        )
    }

    @Test(arguments: 0..<4)
    func aDateOfWholeSecondsRoundTripsAsAText(_ seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        for _ in 0..<500 {
            let seconds = Double(random.below(253_402_300_800 + 62_167_219_200) - 62_167_219_200)
            let date = Date(timeIntervalSince1970: seconds)
            #expect(try decodedText(text(seconds)) == date, "seed \(seed)")
            #expect(
                try text(seconds + Double(random.below(1 << 20)) / Double(1 << 20))
                    == text(seconds),
                "seed \(seed)"
            )
        }
    }
}

/// A text is a decimal only if all of it is a number.
@Suite("Decimals as texts", .ownThreads)
struct DecimalTextTests {
    private static let numbers: [(text: String, decimal: String)] = [
        ("0", "0"), ("-0", "0"), ("+1", "1"), ("007", "7"), ("1.5", "1.5"), ("-12.050", "-12.05"),
        ("1e3", "1000"), ("1E+3", "1000"),
        ("25e-1", "2.5"),
        ("0.000", "0"), ("0e100", "0"),
        ("1234567890123456789012345678901234567.8", "1234567890123456789012345678901234567.8"),
        ("1" + String(repeating: "0", count: 60), "1e60"),
        ("0." + String(repeating: "0", count: 59) + "1", "1e-60"),
        (String(repeating: "0", count: 1000) + "1." + String(repeating: "0", count: 1000), "1"),
        ("340282366920938463463374607431768211455", "340282366920938463463374607431768211455"),
        ("1e127", "1e127"), ("10e-129", "1e-128"),
    ]

    @Test(arguments: numbers)
    func aNumberDecodes(_ text: String, _ decimal: String) throws {
        #expect(try decoded(Decimal.self, encoded(text)) == #require(Decimal(string: decimal)))
    }

    @Test(arguments: [
        "", " ", "1,234", "12 b", "12b", " 12", "12 ", "1.2.3", "1..2", ".5", "5.", "1e", "1e+",
        "1e1.5", "e5", "-", "+", "--1", "+-1",
        "0x10", "1_000",
        "1'000", "nan", "NaN", "inf", "Infinity", "١٢", "1\u{301}", "１２", "1\0", "\n1", "1\n", "$1",
        "1%", "1/2", "\u{2212}1", "1e400",
        "1e-400",
        "1e99999999999999999999", "1e-9223372036854775808",
        "340282366920938463463374607431768211456",
        "0." + String(repeating: "3", count: 50),
    ])
    func anyOtherTextThrows(_ text: String) throws {
        let error = decodingError { try decoded(Decimal.self, encoded(text)) }
        #expect(error?.kind == "dataCorrupted")
        if text.count > 2 { #expect(error?.context?.debugDescription.contains(text) == false) }
    }

    @Test(arguments: 0..<4)
    func theTextOfADecimalDecodesAsTheDecimal(_ seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        for _ in 0..<LongRun.number(500, usually: 125) {
            let significand =
                Decimal(random.next()) * (random.oneIn(2) ? Decimal(random.next()) : 1)
            let decimal = Decimal(
                sign: random.oneIn(2) ? .minus : .plus,
                exponent: random.below(60) - 60,
                significand: significand
            )
            guard decimal.isFinite else { continue }
            #expect(
                try decoded(Decimal.self, encoded(decimal.description)) == decimal,
                "seed \(seed)"
            )
        }
    }
}
