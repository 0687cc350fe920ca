import Foundation
import TestThreads
import Testing
import VellumCore

@testable import Vellum

/// Calculations that would end the process are errors of the query.
@Suite(.ownThreads)
struct PredicateTrapTests {
    struct Sum: ArchiveCodable {
        var primaryKey = "sum"
        var large = Int.max
        var least = Int.min
        var zero = 0
        var small: UInt8 = 255
        var list = [1]
        var number = 0.0
        var notANumber: Double { .nan }
        var missing: Int?
    }

    let archives = TemporaryArchives()

    private static let five = 5, one = 1, minusOne = -1, nan = Double.nan

    // swift-format-ignore: NeverForceUnwrap
    static var invalid: [Predicate<Sum>] {
        let (five, one, minusOne, nan) = (five, one, minusOne, nan)
        return [
            #Predicate { $0.large + 1 > 0 }, #Predicate { $0.least - 1 > 0 },
            #Predicate { $0.large * 2 > 0 }, #Predicate { -$0.least > 0 },
            #Predicate { $0.small + 1 > 0 }, #Predicate { 10 / $0.zero > 0 },
            #Predicate { 10 % $0.zero > 0 },
            #Predicate { $0.least / minusOne > 0 }, #Predicate { $0.least % minusOne > 0 },
            #Predicate { (five...one).contains($0.zero) },
            #Predicate { (five..<one).contains($0.zero) },
            #Predicate { ($0.large...$0.zero).contains(3) },
            #Predicate { ($0.large..<$0.zero).contains(3) },
            #Predicate { (nan...1).contains($0.number) },
            #Predicate { $0.list.contains { 10 / ($0 - 1) > 0 } },
            // Foundation throws for these.
            #Predicate { $0.list[3] > 0 }, #Predicate { $0.list[minusOne] > 0 },
            #Predicate { $0.list[0..<3].contains(1) },
            #Predicate { $0.missing! > 0 },
        ]
    }

    @Test(arguments: 0..<19) func aPredicateThatCannotBeCalculatedIsAnError(number: Int) throws {
        let store: ArchiveStore<Sum> = try archives.factory.store()
        try store.record(Sum())
        let error = #expect(throws: VellumError.self) {
            try store.fetch(where: Self.invalid[number])
        }
        #expect(error?.code == .failedQuery)
        #expect(throws: VellumError.self) { try store.count(where: Self.invalid[number]) }
    }

    @Test func whatCanBeCalculatedIs() throws {
        let store: ArchiveStore<Sum> = try archives.factory.store()
        try store.record(Sum())
        let valid: [Predicate<Sum>] = [
            #Predicate { $0.zero == 0 || 10 / $0.zero > 0 },
            #Predicate { !($0.zero != 0 && 10 / $0.zero > 0) },
            #Predicate { 1.0 / $0.number > 0 }, #Predicate { ($0.zero...$0.large).contains(3) },
            #Predicate { ($0.zero..<$0.zero).isEmpty },
            #Predicate { 17 / ($0.zero + 5) == 3 }, #Predicate { 17 % ($0.zero + 5) == 2 },
            #Predicate { -$0.large < 0 },
            #Predicate { $0.large - 1 > 0 }, #Predicate { $0.zero * 9 == 0 },
            #Predicate { -$0.number == 0 },
            #Predicate { $0.number * 2 == 0 }, #Predicate { $0.number + 1 == 1 },
        ]
        for predicate in valid { #expect(try store.count(where: predicate) == 1, "\(predicate)") }
    }
}
