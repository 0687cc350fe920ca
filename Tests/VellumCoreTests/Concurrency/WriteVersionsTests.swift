import TestThreads
import Testing
import VellumTestSupport

@testable import VellumCore

/// Whether a value that was read may still be cached.
@Suite(.ownThreads)
struct WriteVersionsTests {
    private var versions = WriteVersions()

    @Test
    mutating func aTicketIsCurrentUntilItsStripeIsWritten() throws {
        let (ticket, other) = (try #require(versions.ticket(3)), try #require(versions.ticket(4)))
        versions.invalidateTickets(3)
        #expect(!versions.isCurrent(ticket) && versions.isCurrent(other))
        versions.invalidateTickets()
        #expect(!versions.isCurrent(other))
    }

    @Test
    mutating func noTicketIsIssuedOrCurrentDuringAWriteOfItsStripe() throws {
        let before = try #require(versions.ticket(0))
        versions.beginWrite(0)
        versions.beginWrite(0)
        versions.endWrite(0)
        #expect(
            versions.ticket(0) == nil && versions.ticket(1) != nil && !versions.isCurrent(before)
        )
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
}
