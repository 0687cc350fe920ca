import Foundation
import RawDatabase
import Testing
import VellumCore
import VellumEngine
import VellumTestSupport

/// What verifying a damaged file says, beside what salvaging saves of it.
extension SalvageTests {
    enum Damaged: Hashable, CustomTestStringConvertible {
        /// Pages of entries, in the order of their keys.
        case leaves([Int])
        /// The first page of a table or an index.
        case root(String)
        /// A page that leads to others.
        case branch
        /// The file is cut off after so many hundredths.
        case truncated(Int)
        /// What a statement leaves.
        case statement(String)

        var testDescription: String { "\(self)" }
    }

    static let damages: [Damaged] = [
        .leaves([0]), .leaves([3, 4, 5, 90]), .leaves([10, 12, 14, 16, 18]), .leaves([105]),
        .leaves(Array(0..<100)), .root("archives"), .root("sqlite_autoindex_archives_1"),
        .root("recency"), .root("touches"), .root("indexes"), .root("retention"),
        .root("entries_by_hash"), .root("entries"), .root("members"), .branch, .truncated(30),
        .truncated(50), .truncated(90), .truncated(97),
        .statement("UPDATE archives SET entries = 7"), .statement("UPDATE archives SET next = 3"),
        .statement("UPDATE archives SET cleared_check = 7"),
        .statement("UPDATE entries SET bytes = x'00' WHERE id % 50 = 0"),
    ]

    private func damage(_ damaged: Damaged) throws {
        switch damaged {
        case .leaves(let numbers):
            let leaves = try leaves()
            try destroy(pages: numbers.map { leaves[$0] })
        case .root(let name):
            let page = try RawDatabase(url).int(
                "SELECT rootpage FROM sqlite_schema WHERE name = '\(name)'"
            )
            try destroy(pages: [page - 1])
        case .branch:
            let bytes = try Data(contentsOf: url)
            let branches = (1..<bytes.count / 4096).filter { bytes[$0 * 4096] == 0x05 }
            #expect(!branches.isEmpty)
            try destroy(pages: branches)
        case .truncated(let hundredths):
            let bytes = try Data(contentsOf: url)
            try bytes.prefix(bytes.count * hundredths / 100).write(to: url)
        case .statement(let sql): try RawDatabase(url).execute(sql)
        }
    }

    private func verified(_ access: FileAccess) throws -> VerificationReport {
        do throws(VellumError) {
            let file = try DatabaseFile.open(
                at: url,
                kind: .archives,
                access: access,
                clock: SampleStore.clock
            )
            let report = try file.verify()
            try file.close()
            return report
        } catch {
            guard error.code == .damagedFile else { throw error }
            return try VerificationReport(ofDamagedFileAt: url)
        }
    }

    @Test(arguments: damages)
    func verifyingReadsWhatSalvagingSaves(_ damaged: Damaged) throws {
        try fill(1000, groups: ["odd", "even"])
        try damage(damaged)
        let before = try Data(contentsOf: url)
        let report = try verified(.reading(at: url))
        #expect(!report.isIntact)
        #expect(try Data(contentsOf: url) == before)
        // The first opening may find the damage, and the second repairs it.
        var left = report
        for _ in 0..<3 { left = try verified(.writing) }
        func sound(_ report: VerificationReport) -> Int {
            report.archives.reduce(0) { $0 + $1.soundEntries }
        }
        #expect(sound(report) == sound(left), "\(report)")
    }
}
