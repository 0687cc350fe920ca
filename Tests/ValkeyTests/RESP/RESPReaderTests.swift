import Foundation
import TestThreads
import Testing
import VellumTestSupport

@testable import VellumValkey

/// RESP3, as servers send it and as nobody should.
@Suite(.ownThreads)
struct RESPReaderTests {
    private static let samples: [(text: String, value: RESPValue)] = [
        ("$5\r\nhello\r\n", .bytes(Data("hello".utf8))), ("$0\r\n\r\n", .bytes(Data())),
        ("$4\r\n\r\n\r\n\r\n", .bytes(Data("\r\n\r\n".utf8))),
        ("$-1\r\n", .null), ("*-1\r\n", .null), ("_\r\n", .null), ("+OK\r\n", .simple("OK")),
        ("-ERR no\r\n", .error("ERR no")),
        ("!6\r\nERR no\r\n", .error("ERR no")), (":0\r\n", .integer(0)),
        (":-9223372036854775808\r\n", .integer(.min)),
        (":9223372036854775807\r\n", .integer(.max)), (":+7\r\n", .integer(7)),
        ("#t\r\n", .boolean(true)), ("#f\r\n", .boolean(false)),
        (",1.5\r\n", .double(1.5)), (",-inf\r\n", .double(-.infinity)),
        (
            "(3492890328409238509324850943850943825024385\r\n",
            .bigInteger("3492890328409238509324850943850943825024385")
        ),
        ("=7\r\ntxt:abc\r\n", .bytes(Data("abc".utf8))), ("*0\r\n", .array([])),
        ("*2\r\n:1\r\n*1\r\n$1\r\na\r\n", .array([.integer(1), .array([.bytes(Data("a".utf8))])])),
        ("~1\r\n+x\r\n", .set([.simple("x")])),
        ("%1\r\n+k\r\n:2\r\n", .map([.simple("k"), .integer(2)])),
        (
            ">2\r\n$10\r\ninvalidate\r\n*1\r\n$1\r\nk\r\n",
            .push([.bytes(Data("invalidate".utf8)), .array([.bytes(Data("k".utf8))])])
        ),
        (">2\r\n$10\r\ninvalidate\r\n_\r\n", .push([.bytes(Data("invalidate".utf8)), .null])),
        ("|1\r\n+ttl\r\n:3600\r\n$1\r\nv\r\n", .bytes(Data("v".utf8))),
    ]

    private func read(_ bytes: some Sequence<UInt8>) throws -> (value: RESPValue, length: Int)? {
        try Array(bytes).withUnsafeBytes { try RESPReader.value(in: $0) }
    }

    @Test func everyKindOfValueIsRead() throws {
        for (text, value) in Self.samples {
            let found = try #require(try read(text.utf8), "\(text)")
            #expect(found.value == value)
            #expect(found.length == text.utf8.count)
        }
    }

    @Test func aValueThatIsCutAnywhereIsIncomplete() throws {
        for (text, _) in Self.samples {
            for length in 0..<text.utf8.count {
                #expect(try read(text.utf8.prefix(length)) == nil, "\(length) bytes of \(text)")
            }
        }
    }

    @Test func aValueEndsWhereTheNextBegins() throws {
        for (text, value) in Self.samples {
            let found = try #require(try read((text + ":1\r\n").utf8))
            #expect(found.value == value)
            #expect(found.length == text.utf8.count)
        }
    }

    @Test(arguments: [
        "x\r\n", "$5\r\nhellooo\r\n", "$-2\r\n", "$99999999999\r\n", "$67108865\r\n", ":\r\n",
        ":1a\r\n", ":9223372036854775808\r\n",
        ":-9223372036854775809\r\n",
        "*1048577\r\n", "*-2\r\n", "#x\r\n", ",x\r\n", "_x\r\n", "+OK\rx", "$1\r\nab\r\n", "$?\r\n",
        "*?\r\n", "%\r\n",
    ])
    func whatIsNotRESPIsMalformed(_ text: String) {
        #expect(throws: RESPReader.Malformed.self) { _ = try read(text.utf8) }
    }

    private static let numbers = [
        "0", "1", "-1", "\(Int64.min)", "\(Int64.max)", "\(Int64(1) << 62)", "9223372036854775808",
        "-9223372036854775809", "\(64 << 20)",
        "\((64 << 20) + 1)", "\(1 << 20)", "\((1 << 20) + 1)", "00", "-0", "+1",
    ]

    /// A length and a number end nothing but the value.
    @Test func everyNumberMayBeAnything() throws {
        for kind in "$!=*~>%|:(," {
            for number in Self.numbers {
                for (before, after) in [
                    ("", ""), ("*2\r\n:1\r\n", ""), ("|1\r\n+a\r\n", ":1\r\n"), ("", "a\r\n"),
                    ("", ":1\r\n:2\r\n:3\r\n"),
                ] {
                    let text = "\(before)\(kind)\(number)\r\n\(after)"
                    do {
                        guard let (value, length) = try read(text.utf8) else { continue }
                        #expect(1...text.utf8.count ~= length)
                        if before.isEmpty, kind == ":" {
                            #expect(value == Int64(number).map(RESPValue.integer))
                        }
                    } catch { #expect(error is RESPReader.Malformed) }
                }
                guard "$!=*~>%|".contains(kind), let length = Int64(number),
                    length < -1 || length > 64 << 20
                else { continue }
                #expect(throws: RESPReader.Malformed.self) {
                    _ = try read("\(kind)\(number)\r\n".utf8)
                }
            }
        }
    }

    @Test func depthAndLinesHaveLimits() throws {
        let nested = { (depth: Int) in String(repeating: "*1\r\n", count: depth) + ":1\r\n" }
        #expect(try read(nested(15).utf8) != nil)
        #expect(throws: RESPReader.Malformed.self) { _ = try read(nested(16).utf8) }
        #expect(throws: RESPReader.Malformed.self) {
            _ = try read(String(repeating: "*1\r\n", count: 100_000).utf8)
        }
        #expect(throws: RESPReader.Malformed.self) {
            _ = try read(("+" + String(repeating: "a", count: 65_537)).utf8)
        }
    }

    /// Numbers of elements that never arrive cost no memory (P36).
    @Test func anAnnouncedLengthReservesNothing() throws {
        #expect(try read("*1048576\r\n".utf8) == nil)
        #expect(try read("$67108864\r\n".utf8) == nil)
        #expect(try read(String(repeating: "*1048576\r\n", count: 15).utf8) == nil)
    }

    /// What does not end is not collected for ever.
    @Test func aValueThatIsTooLongIsMalformed() throws {
        let (start, header, string) = (
            Array("*1000000\r\n".utf8), Array("$1048576\r\n".utf8), 1 << 20
        )
        let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: 66 << 20, alignment: 1)
        defer { bytes.deallocate() }
        bytes.initializeMemory(as: UInt8.self, repeating: 0)
        bytes.copyBytes(from: start)
        var position = start.count
        while position + header.count + string + 2 <= bytes.count {
            UnsafeMutableRawBufferPointer(rebasing: bytes[position...]).copyBytes(from: header)
            position += header.count + string
            UnsafeMutableRawBufferPointer(rebasing: bytes[position...]).copyBytes(from: [13, 10])
            position += 2
        }
        #expect(throws: RESPReader.Malformed.self) {
            _ = try RESPReader.value(in: UnsafeRawBufferPointer(bytes))
        }
        let part = try RESPReader.value(in: UnsafeRawBufferPointer(rebasing: bytes[..<(64 << 20)]))
        #expect(part == nil)
    }

    @Test func anyBytesAreAValueAPartOrMalformed() {
        var random = SeededGenerator(seed: 7)
        let alphabet = Array("$*:+-_~%>#,(!=|0123456789\r\n\r\n\r\nat".utf8)
        for _ in 0..<20_000 {
            let bytes = (0..<Int.random(in: 0...40, using: &random)).map { _ in
                alphabet.randomElement(using: &random) ?? 0
            }
            do {
                if let (_, length) = try read(bytes) {
                    #expect(1...bytes.count ~= length, "\(random)")
                }
            } catch {
                #expect(error is RESPReader.Malformed)
            }
        }
    }

    @Test func aCommandIsAnArrayOfStrings() throws {
        let command = RESPCommand("SET", Data([0, 13, 10, 255]), Int64(-12), "é")
        #expect(
            command.bytes == Array("*4\r\n$3\r\nSET\r\n$4\r\n".utf8) + [0, 13, 10, 255]
                + Array("\r\n$3\r\n-12\r\n$2\r\né\r\n".utf8)
        )
    }
}
