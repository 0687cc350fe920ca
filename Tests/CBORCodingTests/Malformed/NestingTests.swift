import CBORCoding
import Dispatch
import Foundation
import TestThreads
import Testing

@Suite("Nesting", .ownThreads)
struct NestingTests {
    private static let bombs: [(String, [UInt8], [UInt8], [UInt8])] = [
        ("arrays", [0x81], [0x80], []), ("arrays without lengths", [0x9F], [0x9F, 0xFF], [0xFF]),
        ("maps", [0xA1, 0x60], [0xA0], []),
        ("maps without lengths", [0xBF, 0x60], [0xBF, 0xFF], [0xFF]),
        ("keys", [0xA1], [0xA0], [0x00]),
    ]

    private static func bomb(_ parts: (String, [UInt8], [UInt8], [UInt8]), depth: Int) -> Data {
        var bytes: [UInt8] = []
        for _ in 1..<depth { bytes += parts.1 }
        bytes += parts.2
        for _ in 1..<depth { bytes += parts.3 }
        return Data(bytes)
    }

    /// A type that ignores its decoder.
    private struct Anything: Decodable { init(from decoder: any Decoder) {} }

    @Test(arguments: bombs)
    func containersCanBeNestedUpToTheLimit(
        _ name: String,
        _ open: [UInt8],
        _ last: [UInt8],
        _ close: [UInt8]
    ) throws {
        let parts = (name, open, last, close)
        for limit in [1, 2, 10, 512] {
            let decode: (Int) throws -> Anything = { depth in
                try decoded(Anything.self, Self.bomb(parts, depth: depth)) {
                    $0.nestingLimit = limit
                }
            }
            #expect(throws: Never.self) { try decode(limit) }
            #expect(decodingError { try decode(limit + 1) }?.kind == "dataCorrupted")
        }
        #expect(
            decodingError { try decoded(Tree.self, Self.bomb(parts, depth: 100_000)) }?.kind
                == "dataCorrupted"
        )
        let open = Data(open.map { $0 } + Array(repeating: open, count: 100_000).flatMap { $0 })
        #expect(decodingError { try decoded(Tree.self, open) }?.kind == "dataCorrupted")
    }

    @Test func tagsCanBeNestedUpToTheLimit() throws {
        #expect(try decoded(Int.self, Data(repeating: 0xC6, count: 512) + [1]) == 1)
        #expect(
            decodingError { try decoded(Int.self, Data(repeating: 0xC6, count: 514) + [1]) }?.kind
                == "dataCorrupted"
        )
        #expect(
            decodingError { try decoded(Int.self, Data(repeating: 0xC6, count: 1_000_000) + [1]) }?
                .kind == "dataCorrupted"
        )
    }

    @Test func stringsOfIndefiniteLengthMustNotBeNested() throws {
        for byte: UInt8 in [0x5F, 0x7F] {
            #expect(
                decodingError { try decoded(Tree.self, Data(repeating: byte, count: 1_000_000)) }?
                    .kind == "dataCorrupted"
            )
        }
    }

    /// A linked list.
    private final class Link: Codable {
        var next: Link?
        init(_ next: Link?) { self.next = next }
    }

    private indirect enum Chain: Codable {
        case end
        case next(Chain)
    }

    private static func link(_ depth: Int) -> Link {
        (1..<depth).reduce(Link(nil)) { link, _ in Link(link) }
    }

    @Test func valuesCanBeNestedUpToTheLimit() throws {
        for limit in [1, 2, 10] {
            #expect(throws: Never.self) {
                try encoded(Self.link(limit)) { $0.nestingLimit = limit }
            }
            #expect(throws: EncodingError.self) {
                try encoded(Self.link(limit + 1)) { $0.nestingLimit = limit }
            }
        }
    }

    @Test func aValueThatContainsItselfThrows() throws {
        let link = Link(nil)
        link.next = link
        defer { link.next = nil }
        #expect(throws: EncodingError.self) { try encoded(link) { $0.nestingLimit = 100 } }
    }

    /// Runs the function on a thread with the given stack size.
    private func onThread(stack: Int, _ body: @escaping @Sendable () -> String?) -> String? {
        final class Outcome: @unchecked Sendable { var text: String? = "did not end" }
        let (outcome, done) = (Outcome(), DispatchSemaphore(value: 0))
        let thread = Thread {
            outcome.text = body()
            done.signal()
        }
        thread.stackSize = stack
        thread.start()
        done.wait()
        return outcome.text
    }

    @Test(arguments: bombs)
    func validatingTheDeepestDataTakesLittleStack(
        _ name: String,
        _ open: [UInt8],
        _ last: [UInt8],
        _ close: [UInt8]
    ) throws {
        let data = Self.bomb((name, open, last, close), depth: 512)
        let outcome = onThread(stack: littleStack) {
            decodingError { try decoded(Anything.self, data) }.map { "\($0)" }
        }
        #expect(outcome == nil)
    }

    @Test func theDeepestValueIsCodedOnAThreadWithLittleStack() throws {
        let outcome = onThread(stack: littleStack) {
            do {
                var link: Link? = try roundTrip(Self.link(512))
                var depth = 0
                // Releases the links one by one, because a recursive release also uses stack.
                while let next = link {
                    depth += 1
                    link = next.next
                }
                return "\(depth)"
            } catch {
                return "\(error)"
            }
        }
        #expect(outcome == "512")
    }

    /// The stack size in which 512 levels must fit. Unoptimized code needs two to three times as
    /// much.
    private var littleStack: Int {
        #if DEBUG
            2 * 1024 * 1024
        #else
            512 * 1024
        #endif
    }
}
