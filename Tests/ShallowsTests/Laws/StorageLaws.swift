import Shallows
import Testing
import VellumTestSupport

/// What holds for every storage, and for every transform and composition.
enum StorageLaws {
    static let keys = ["a", "b", "key", "schlüssel", "ключ/1"]

    /// What was set is retrieved, what was removed is not, and nothing else is there.
    static func agreesWithADictionary(
        _ made: Subject.Made,
        _ manner: Manner,
        seed: UInt64,
        steps: Int = 40,
        _ comment: String
    ) async throws {
        var (model, random) = ([String: String](), SeededGenerator(seed: seed))
        for step in 1...steps {
            let key = keys.randomElement(using: &random) ?? "a"
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<4:
                try await manner.set(made.storage, "\(step)", key)
                model[key] = "\(step)"
            case 4:
                guard let removable = made.removable else { continue }
                try await manner.remove(removable, key)
                model[key] = nil
            case 5 where step % 4 == 0:
                guard let removable = made.removable else { continue }
                try await manner.removeAll(removable)
                model = [:]
            default: break
            }
            let asked = keys.randomElement(using: &random) ?? "a"
            let value = try await manner.retrieve(made.storage, asked)
            #expect(value == model[asked], "\(comment), seed \(seed), step \(step)")
        }
    }

    /// Makes the same changes to several storages, and expects the same answers of them.
    static func agree(
        _ storages: [Storage<String, String>],
        _ manner: Manner,
        seed: UInt64,
        steps: Int = 30,
        _ comment: String,
        meanwhile: (inout SeededGenerator) async throws -> Void = { _ in }
    ) async throws {
        var random = SeededGenerator(seed: seed)
        for step in 1...steps {
            let key = keys.randomElement(using: &random) ?? "a"
            if Bool.random(using: &random) {
                for storage in storages { try await manner.set(storage, "\(step)", key) }
            }
            try await meanwhile(&random)
            let asked = keys.randomElement(using: &random) ?? "a"
            var answers: [String?] = []
            for storage in storages { answers.append(try await manner.retrieve(storage, asked)) }
            #expect(
                answers.allSatisfy { $0 == answers[0] },
                "\(comment), seed \(seed), step \(step): \(answers)"
            )
        }
    }
}
