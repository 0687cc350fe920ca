import Foundation
import Testing
import VellumCore
import VellumEngine

@Suite(.timeLimit(.minutes(60)))
struct StoreErrorTests {
    /// C11: a cause may name a user's data, so it is told only to who asks.
    @Test func theCauseIsToldOnlyToWhoAsks() {
        struct Cause: Error, CustomStringConvertible { let description = "secret value" }
        let error = VellumError(.notEncodable, "An object cannot be encoded.", cause: Cause())
        #expect(!"\(error)".contains("secret"))
        #expect(!error.localizedDescription.contains("secret"))
        #expect(String(reflecting: error).contains("Cause"))
    }
}
