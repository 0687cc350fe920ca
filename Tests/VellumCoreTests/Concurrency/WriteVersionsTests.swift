import Testing
import VellumTestSupport

@testable import VellumCore

/// Whether a value that was read may still be cached.
@Suite(.timeLimit(.minutes(1)))
struct WriteVersionsTests {
    private var versions = WriteVersions<String>()

    @Test
    mutating func aTicketIsCurrentUntilItsStripeIsWritten() throws {
        let (ticket, other) = (try #require(versions.ticket(3)), try #require(versions.ticket(4)))
        versions.invalidateTickets(3)
        #expect(!versions.isCurrent(ticket) && versions.isCurrent(other))
        versions.recordWriteOfAll()
        #expect(!versions.isCurrent(other))
    }

    @Test
    mutating func noTicketIsIssuedOrCurrentDuringAWriteOfItsStripe() throws {
        let before = try #require(versions.ticket(0))
        versions.beginWrite(0)
        versions.beginWrite(0)
        versions.endWrite(0)
        #expect(versions.ticket(0) == nil && versions.ticket(1) != nil && !versions.isCurrent(before))
        versions.endWrite(0)
        #expect(versions.ticket(0) != nil && !versions.isCurrent(before))
    }

    @Test
    mutating func noTicketIsIssuedOrCurrentDuringAWriteOfEveryKey() throws {
        let before = try #require(versions.ticket(7))
        versions.beginWriteOfAll()
        #expect(versions.ticket(7) == nil && !versions.isCurrent(before))
        versions.endWriteOfAll()
        #expect(versions.ticket(7) != nil && !versions.isCurrent(before))
    }

    @Test
    mutating func onlyWritesOfTheKeyItselfChangeItsWatchedVersion() {
        let version = versions.watch("a")
        versions.recordWrite(of: "b", 0)
        #expect(versions.isUnchanged("a", since: version))
        versions.recordWrite(of: "a", 0)
        #expect(!versions.isUnchanged("a", since: version))
    }

    @Test
    mutating func aWriteOfEveryKeyChangesEveryWatchedVersion() {
        let (first, second) = (versions.watch("a"), versions.watch("b"))
        versions.recordWriteOfAll()
        #expect(!versions.isUnchanged("a", since: first) && !versions.isUnchanged("b", since: second))
    }

    @Test
    mutating func aKeyIsWatchedUntilItsLastWatcherLeaves() {
        let (first, again) = (versions.watch("a"), versions.watch("a"))
        #expect(first == again)
        versions.unwatch("a")
        #expect(versions.isUnchanged("a", since: first))
        versions.unwatch("a")
        versions.unwatch("b")
        #expect(!versions.isUnchanged("a", since: first) && !versions.isWatching)
    }

    @Test
    mutating func versionsAreNeverReused() {
        let first = versions.watch("a")
        versions.unwatch("a")
        #expect(versions.watch("a") != first && !versions.isUnchanged("a", since: first))
    }
}
