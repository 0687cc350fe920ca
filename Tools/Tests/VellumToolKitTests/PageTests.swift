import Foundation
import Testing

@testable import VellumCore
@testable import VellumFiles
@testable import VellumToolKit

#if canImport(FoundationXML)
    import FoundationXML
#endif

@Suite(.timeLimit(.minutes(10)))
struct PageTests {
    static let hostile =
        "<img src=x onerror=alert(1)>\u{202E}\u{1B}\"'`&" + String(repeating: "名", count: 100_000)

    static let sizing = Sizing(memory: 1 << 20, disk: 8 << 20, reads: 1000) {
        min(0.9, Double($0) / Double(20 << 20))
    }

    /// A report with three archives, one of which has names of a stranger.
    static func report(isRedacted: Bool = false) -> ReportView {
        let day = 86_400.0
        let airports = ReportView.Archive(
            archive: ArchiveView(
                name: "Airport",
                summary: RawArchive.Summary(
                    entries: 28_298,
                    size: 5_400_000,
                    limit: 8.megaBytes,
                    isLimitGiven: true,
                    oldest: Date(timeIntervalSince1970: 0),
                    newest: Date(timeIntervalSince1970: 100 * day),
                    typeVersion: 2,
                    indexes: [
                        .init(properties: ["country", "elevation"], isOfElements: false),
                        .init(properties: ["keywords"], isOfElements: true),
                    ],
                    sizing: sizing
                )
            ),
            statistics: RawArchive.Statistics(
                sizes: [6: 120, 7: 21_000, 8: 7000, 9: 170, 11: 8],
                ages: [0: 200, 1: 900, 5: 4000, 20: 9000, 60: 12_000, 200: 2198],
                uses: [0: 20_000, 20: 8298],
                typeVersions: [1: 8000, 2: 20_298],
                expired: 12
            ),
            largest: [EntryView(key: "LSZH", bytes: 2900), EntryView(key: "LSGG", bytes: 2200)]
        )
        let images = ReportView.Archive(
            archive: ArchiveView(
                name: "Thumbnails",
                summary: RawArchive.Summary(
                    entries: 812,
                    size: 20_900_000,
                    limit: 20.megaBytes,
                    oldest: Date(timeIntervalSince1970: 1_772_373_909 - 12 * 86_400),
                    newest: Date(timeIntervalSince1970: 1_772_373_909),
                    cacheVersion: "3",
                    waiting: 40
                )
            ),
            statistics: RawArchive.Statistics(
                sizes: [13: 200, 14: 400, 15: 210, 16: 2],
                ages: [0: 812],
                typeVersions: [0: 812]
            )
        )
        let stranger = ReportView.Archive(
            archive: ArchiveView(
                name: hostile,
                summary: RawArchive.Summary(
                    entries: 1,
                    size: 12,
                    indexes: [.init(properties: [hostile], isOfElements: false)]
                )
            ),
            statistics: RawArchive.Statistics(
                sizes: [.max: .max, .min: .min],
                ages: [.max: .max / 16, .min: 3],
                typeVersions: [.min: .max / 16]
            ),
            largest: [EntryView(key: hostile)]
        )
        let file = FileView(
            path: "/home/ann/.cache/Airports/Archives.sqlite",
            kind: "archives",
            bytes: 27_000_000,
            logBytes: 40_000,
            unusedBytes: 1_200_000,
            isOpenElsewhere: true,
            archives: [airports.archive, images.archive, stranger.archive]
        )
        return ReportView(
            file: file,
            archives: [airports, images, stranger],
            made: Date(timeIntervalSince1970: 1_772_373_909),
            zone: TimeZone(secondsFromGMT: 0) ?? .current,
            redaction: isRedacted ? Redaction() : nil
        )
    }

    @Test func thePageIsWellFormed() {
        let page = Page.html(Self.report()).replacing("<!DOCTYPE html>", with: "")
        let parser = XMLParser(data: Data(page.utf8))
        #expect(
            parser.parse(),
            "\(parser.parserError.map(String.init(describing:)) ?? "") in line \(parser.lineNumber)"
        )
    }

    @Test func theCurveIsDrawnWhereItIsKnown() {
        let page = Page.html(Self.report())
        #expect(page.components(separatedBy: "class=\"curve\"").count == 2)
        #expect(
            page.contains(
                "To keep 95 % of the hits that no limit would lose, about 17.4 MB is needed."
            )
        )
        #expect(page.contains("limit 8.0 MB") && !page.contains("nan") && !page.contains("inf"))
        #expect(Self.report().json.line.contains(#""limitFor95PercentBytes":18295683"#))
    }

    @Test func nothingOfAStrangerIsMarkup() {
        let page = Page.html(Self.report())
        #expect(!page.contains("<img") && !page.contains("\u{202E}") && !page.contains("\u{1B}"))
        #expect(page.contains("&lt;img src=x"))
        #expect(page.utf8.count < 100_000)
    }

    @Test func nothingIsLoaded() {
        let page = Page.html(Self.report())
        #expect(
            !page.contains("<script") && !page.contains("<link") && !page.contains("src=\"")
                && !page.contains("url(")
                && !page.contains("@import")
        )
        #expect(page.contains("default-src 'none'") || page.contains("default-src &#39;none&#39;"))
        #expect(
            page.ranges(of: "http://").count == page.ranges(of: "http://www.w3.org/2000/svg").count
        )
    }

    @Test func everyPictureHasATitleATextAndATable() {
        let page = Page.html(Self.report())
        let pictures = page.ranges(of: "<svg").count
        #expect(pictures > 6)
        for part in ["</svg>", "role=\"img\"", "<desc", "class=\"pair\""] {
            #expect(page.ranges(of: part).count == pictures, "\(part)")
        }
        let ids = page.matches(of: /\sid="([^"]*)"/).map { String($0.1) }
        #expect(Set(ids).count == ids.count)
    }

    @Test func aRedactedPageHasNoKeyAndNoFolder() {
        let page = Page.html(Self.report(isRedacted: true))
        #expect(!page.contains("LSZH") && !page.contains("/home/ann"))
        #expect(page.contains("Airport"))
        let json = Self.report(isRedacted: true).json.line
        #expect(!json.contains("LSZH") && !json.contains("/home/ann"))
    }

    @Test func anEmptyFileHasAPage() {
        var report = Self.report()
        report.archives = []
        report.file.archives = []
        #expect(Page.html(report).contains("no archives"))
    }

    /// Writes the page for looking at it.
    @Test(.enabled(if: ProcessInfo.processInfo.environment["VELLUM_PAGE"] != nil))
    func writesAPage() throws {
        let path = try #require(ProcessInfo.processInfo.environment["VELLUM_PAGE"])
        try Data(Page.html(Self.report()).utf8).write(to: URL(fileURLWithPath: path))
    }
}
