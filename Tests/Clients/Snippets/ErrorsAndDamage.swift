// What to do about failures: of calls that throw, of calls that do not, and of work in the
// background.

import Foundation
import Vellum

struct Letter: ArchiveCodable, Sendable {
    var primaryKey: String { number }
    var number: String
}

// snippet.hide
func tellUser(_ text: String) { print(text) }
func askAgainLater() {}
func show(_ letter: Letter?) { print(letter?.number ?? "none") }
// snippet.show
func save(_ letter: Letter, in letters: ArchiveStore<Letter>) throws {
    do {
        try letters.record(letter)
    } catch let error as VellumError {
        switch error.code {
        case .diskFull: tellUser("There is no space left.")
        case .suspended, .vanished, .busy: askAgainLater()
        default: throw error
        }
    }
}

func open(_ number: String, in letters: ArchiveStore<Letter>) {
    do {
        show(try letters.access(archiveWithKey: number))  // nil: there is none.
    } catch {
        tellUser("The letter cannot be read. \(error.localizedDescription)")
    }
}

func watch(_ letters: ArchiveManager<Letter>) -> Task<Void, Never> {
    Task {
        for await error in letters.failures { print(error) }
    }
}

func repair(_ letters: ArchiveStore<Letter>) throws {
    for key in try letters.undecodableKeys() {
        print(try letters.encodedData(forKey: key)?.count ?? 0, "bytes")
    }
    try letters.deleteUndecodable()
}
// snippet.hide

let factory = ArchivesFactory(
    directory: FileManager.default.temporaryDirectory.appending(path: "Errors")
)
let manager = try factory.archives(for: Letter.self)
let watching = watch(manager)
try save(Letter(number: "1"), in: manager.store)
open("1", in: manager.store)
try repair(manager.store)
watching.cancel()
