import Foundation
import ShallowsSQLite
import Synchronization
import VellumTestSupport

struct City: Codable, Hashable {
    var name: String
    var foundationYear: Int

    static let kharkiv = City(name: "Kharkiv", foundationYear: 1654)
    static let lviv = City(name: "Lviv", foundationYear: 1256)
}

/// A folder of a test's own for storages, with a clock that only the test moves.
struct TemporaryStorages {
    let folder: TemporaryDirectory
    let clock = ManualClock()

    init() throws { folder = try TemporaryDirectory() }

    var file: URL { folder.file("storage.sqlite") }

    /// A storage on the one file, as the program would make it now or after its next start.
    func storage<Value: Codable & Sendable>(
        of type: Value.Type = City.self,
        memoryLimit: DataSize = 1.megaByte,
        diskLimit: DataSize? = nil,
        expiration: Expiration = .never,
        durability: Durability = .crashSafe,
        format: CodableFormat = .cbor
    ) -> SQLiteStorage<Value> {
        SQLiteStorage(
            fileURL: file,
            options: .init(
                memoryLimit: memoryLimit,
                diskLimit: diskLimit,
                expiration: expiration,
                durability: durability,
                format: format,
                clock: clock.wallClock
            )
        )
    }
}

/// A value that counts how often it is encoded and decoded. `nonisolated` counters, shared by the
/// instances of one counter.
struct Counted: Codable, Sendable {
    static let encodes = Atomic(0)
    static let decodes = Atomic(0)

    var number: Int

    init(_ number: Int) { self.number = number }

    init(from decoder: any Decoder) throws {
        Counted.decodes.add(1, ordering: .relaxed)
        number = try decoder.singleValueContainer().decode(Int.self)
    }

    func encode(to encoder: any Encoder) throws {
        Counted.encodes.add(1, ordering: .relaxed)
        var container = encoder.singleValueContainer()
        try container.encode(number)
    }
}

/// The code of the error that `body` throws.
func code(_ body: () async throws -> Void) async -> VellumError.Code? {
    do {
        try await body()
        return nil
    } catch {
        return (error as? ShallowsError)?.code
    }
}

func data(_ string: String) -> Data { Data(string.utf8) }
