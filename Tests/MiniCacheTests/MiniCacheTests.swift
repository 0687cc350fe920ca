import Foundation
import MiniCache
import Testing

/// The subscript and the verbs beside it.
@Suite(.timeLimit(.minutes(1)))
struct MiniCacheTests {
    let temporary = TemporaryCaches()

    @Test func aValueThatWasSetIsReadUntilItIsRemoved() throws {
        let cache = temporary.cache()
        #expect(cache["foo"] == nil)
        cache["foo"] = 1
        #expect(cache["foo"] == 1)
        cache["foo"] = 2
        #expect(cache["foo"] == 2)
        cache["foo"] = nil
        #expect(cache["foo"] == nil)
        #expect(try cache.count() == 0)
    }
}
