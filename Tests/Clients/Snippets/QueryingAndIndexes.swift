// Books that are found by what they are, with and without an index.

import Foundation
import Vellum

struct Book: ArchiveCodable, IndexedArchivable {
    static var archiveIndexes: [ArchiveIndex<Book>] {
        [
            .index(\.language, \.year), .index(\.title), .index(\.pages),
            .each(\.tags),
        ]
    }

    var primaryKey: String { number }
    var number: String
    var title: String
    var language: String
    var year: Int
    var pages: Int
    var tags: [String]
}

// snippet.hide
let factory = ArchivesFactory(
    directory: FileManager.default.temporaryDirectory.appending(path: "Querying")
)
func show(_ book: Book) { print(book.title) }
// snippet.show
let books = try factory.store(for: Book.self, diskLimit: .unlimited)

func search() async throws {
    let german = #Predicate<Book> { $0.language == "de" && $0.year >= 1990 }
    let newest = SortDescriptor(\Book.year, order: .reverse)
    let page = try books.fetch(where: german, sortedBy: [newest], limit: 20)
    let count = try books.count(where: german)
    print("\(page.count) of \(count)")

    let title = SortDescriptor(\Book.title, comparator: .lexical)
    print(try books.explain(where: german, sortedBy: [title], limit: 20))

    let pages = try books.sum(of: \.pages, where: german)
    let usual = try books.average(of: \.pages)
    let oldest = try books.min(of: \.year)
    let perLanguage = try books.count(by: \.language)  // ["de": 2]
    // snippet.hide
    print(pages, usual ?? 0, oldest ?? 0, perLanguage)
    // snippet.show

    let tagged = #Predicate<Book> { $0.tags.contains("travel") }
    for try await book in books.stream(where: tagged) { show(book) }

    try books.deleteAll(where: #Predicate { $0.year < 1900 })
}

func find(_ typed: String) throws -> [Book] {
    let text = typed.ignoringCaseAndDiacritics
    let found = #Predicate<Book> {
        $0.title.ignoringCaseAndDiacritics.contains(text)
    }
    let byTitle = SortDescriptor(
        \Book.title.ignoringCaseAndDiacritics,
        comparator: .lexical
    )
    let hits = try books.fetch(where: found, sortedBy: [byTitle])
    return hits
}
// snippet.hide

try books.record(
    Book(number: "1", title: "Faust", language: "de", year: 1808, pages: 200, tags: [])
)
print(try find("FAÜST").count)
try await search()
