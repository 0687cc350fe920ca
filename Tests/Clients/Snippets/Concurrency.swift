// A store in an actor, in tasks and on the main actor.

import Foundation
import Vellum

struct Article: ArchiveCodable, Sendable {
    var primaryKey: String { number }
    var number: String
    var reads = 0
}

// snippet.hide
struct Shelf { func article(_ number: String) async throws -> Article { Article(number: number) } }
// snippet.show
struct Articles: Sendable {
    let store: ArchiveStore<Article>

    /// Blocks for some microseconds if memory does not have the article.
    func article(_ number: String) throws -> Article? {
        try store.access(archiveWithKey: number)
    }

    /// Blocks no thread that runs tasks.
    func save(_ articles: [Article]) async throws {
        try await store.async.record(contentsOf: articles)
    }
}

extension Articles {
    /// Atomic: two calls on an actor, a read and then a write, would not be.
    func countRead(_ number: String) async throws {
        try await store.async.update(archiveWithKey: number) {
            $0?.reads += 1
        }
    }

    /// In transactions of 500, so that others write in between.
    func publish(_ articles: [Article], _ progress: Progress) async throws {
        let recording = await store.async.record(
            contentsOf: articles,
            inBatchesOf: 500,
            progress: progress
        )
        print("\(recording.recorded) recorded")
        // Throws what ended it before the last.
        try recording.get()
    }

    /// One load, however many tasks ask.
    func load(_ number: String, from shelf: Shelf) async throws -> Article {
        try await store.value(forKey: number) {
            try await shelf.article(number)
        }
    }
}
// snippet.hide

let factory = ArchivesFactory(
    directory: FileManager.default.temporaryDirectory.appending(path: "Concurrency")
)
let articles = Articles(store: try factory.store())
try await articles.save([Article(number: "1")])
try await articles.countRead("1")
print(try articles.article("1")?.reads ?? 0)
print(try await articles.load("2", from: Shelf()).reads)
