import Foundation
import VellumFiles

func mountains(in url: URL) throws {
    let file = try ArchiveFile(at: url)
    if let airports = try file.archive(named: "Airport") {
        try airports.find(where: { $0["country"] == "CH" }) { airport in
            print(airport.entry.key, airport.value.json())
        }
    }
}

func follow(_ file: ArchiveFile, export folder: URL) async throws {
    let count = try file.export(to: folder.appending(path: "users.jsonl"))
    print(count.entries)
    for try await change in file.changes() {
        print(change.archive, change.present)
    }
}
