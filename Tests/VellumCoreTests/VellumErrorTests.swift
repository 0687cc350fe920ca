import Foundation
import TestThreads
import Testing
import VellumCore
import VellumEngine

@Suite(.ownThreads)
struct StoreErrorTests {
    /// C11: a cause may contain personal data, so only the debug description contains it.
    @Test func theCauseAppearsOnlyInTheDebugDescription() {
        struct Cause: Error, CustomStringConvertible { let description = "secret value" }
        let error = VellumError(.notEncodable, "An object cannot be encoded.", cause: Cause())
        #expect(!"\(error)".contains("secret"))
        #expect(!error.localizedDescription.contains("secret"))
        #expect(String(reflecting: error).contains("Cause"))
    }
}
