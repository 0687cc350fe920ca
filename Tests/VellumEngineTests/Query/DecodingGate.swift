import Foundation
import TestThreads
import Testing
import VellumCore
import VellumTestSupport

@testable import VellumEngine

/// A codec that pauses the builder after a number of objects.
final class DecodingGate: Codec, Sendable {
    private let json = JSONCodec<Person>()
    private let state: Locked<State>

    private struct State {
        var left: Int
        var decoded = 0
        var letsOthersPass = false
        var isWaiting = false
    }

    init(open count: Int) { state = Locked(State(left: count)) }

    var decoded: Int { state.withLock { $0.decoded } }

    /// Opens the gate for later threads only; those that wait keep waiting.
    var letOthersPass: Bool {
        get { state.withLock { $0.letsOthersPass } }
        set { state.withLock { $0.letsOthersPass = newValue } }
    }

    func open() { state.withLock { $0.left = .max } }
    func waitUntilClosed() {
        blockUntil("the builder waits at the gate") { state.withLock { $0.isWaiting } }
    }

    func encode(_ person: Person) throws -> Data { try json.encode(person) }

    func decode(_ bytes: Data) throws -> Person {
        if state.withLock({ $0.letsOthersPass }) { return try json.decode(bytes) }
        blockUntil("the gate is open") {
            state.withLock { state in
                guard state.left > 0 else {
                    state.isWaiting = true
                    return false
                }
                state.left -= 1
                state.decoded += 1
                return true
            }
        }
        return try json.decode(bytes)
    }
}

/// A codec that cannot decode some people.
struct PickyCodec: Codec {
    let refused: Set<String>

    init(refusing refused: Set<String>) { self.refused = refused }

    func encode(_ person: Person) throws -> Data { try JSONEncoder().encode(person) }

    func decode(_ bytes: Data) throws -> Person {
        let person = try JSONDecoder().decode(Person.self, from: bytes)
        if refused.contains(person.name) { throw CocoaError(.coderReadCorrupt) }
        return person
    }
}
