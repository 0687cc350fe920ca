import TestThreads
import Testing
import VellumCore

@Suite(.ownThreads)
struct WeakTableTests {
    private final class Object: Sendable {}

    private let table = WeakTable<String, Object>()

    @Test func allCallersGetTheFirstObjectOfAKey() {
        let first = table.object(forKey: "a", else: Object())
        #expect(table.object(forKey: "a", else: Object()) === first)
        #expect(table.object(forKey: "b", else: Object()) !== first)
    }

    @Test func theTableDoesNotRetainObjects() {
        weak var first: Object?
        do {
            let object = table.object(forKey: "a", else: Object())
            first = object
            withExtendedLifetime(object) { #expect(first != nil) }
        }
        #expect(first == nil)
    }

    /// The `deinit` of an old object must not remove its replacement.
    @Test func aReplacementObjectIsNotRemoved() {
        let old = Object()
        let new = table.object(forKey: "a", else: Object())
        table.removeValue(forKey: "a", ifHolding: ObjectIdentifier(old))
        #expect(table.object(forKey: "a", else: Object()) === new)
        table.removeValue(forKey: "a", ifHolding: ObjectIdentifier(new))
        #expect(table.object(forKey: "a", else: Object()) !== new)
    }
}
