import Shallows
import Testing

/// A storage that the laws are asked of. One line in ``all`` is all that a new storage needs.
///
/// Keys are short words, values the digits of a number.
struct Subject: Sendable, CustomTestStringConvertible {
    struct Made: Sendable {
        let storage: Storage<String, String>
        /// The same storage, where values can be removed from it.
        let removable: RemovableStorage<String, String>?
    }

    let testDescription: String
    /// Whether it answers when its function returns, or is ours: then it is asked to wait inside
    /// tasks as well.
    let answersAtOnce: Bool
    let make: @Sendable () throws -> Made

    static func removable(
        _ name: String,
        answersAtOnce: Bool = true,
        _ make: @escaping @Sendable () throws -> RemovableStorage<String, String>
    ) -> Subject {
        Subject(testDescription: name, answersAtOnce: answersAtOnce) {
            let storage = try make()
            return Made(storage: storage.asStorage(), removable: storage)
        }
    }

    static func settable(
        _ name: String,
        answersAtOnce: Bool,
        _ make: @escaping @Sendable () throws -> Storage<String, String>
    ) -> Subject {
        Subject(testDescription: name, answersAtOnce: answersAtOnce) {
            Made(storage: try make(), removable: nil)
        }
    }

    static let all: [Subject] = [
        .removable("memory") { MemoryStorage().asRemovableStorage() },
        .removable("limited memory") { try LRUStorage(maxCount: 1_000).asRemovableStorage() },
        .removable("a queue of ours") { queueStorage() },
        .removable("own, removable") { Scripted().removable.ofDigits },
        .removable("own, removable, late", answersAtOnce: false) {
            Scripted.late.removable.ofDigits
        },
        .settable("own, on a queue", answersAtOnce: false) { QueueStorage().asStorage() },
        .settable("own, synchronous", answersAtOnce: true) { ImmediateStorage().asStorage() },
        .settable("own, asynchronous", answersAtOnce: false) { TaskStorage().asStorage() },
        .settable("own, of closures", answersAtOnce: true) { closureStorage() },
    ]
}

extension Scripted {
    /// A fake that answers everything on another thread.
    static var late: Scripted {
        Scripted().always(.retrieve, .late).always(.set, .late).always(.remove, .late).always(
            .removeAll,
            .late
        )
    }
}

extension RemovableStorage
where Access == StorageKind.ReadWriteRemove, Key == String, Value == Int {
    /// The storage of the digits of its numbers.
    var ofDigits: RemovableStorage<String, String> {
        mapValues(transformIn: { String($0) }, transformOut: { try Int($0).unwrap() })
    }
}

/// A way to call a storage.
enum Manner: String, CaseIterable, CustomTestStringConvertible, Sendable {
    case completing, suspending, waiting, waitingInATask
    var testDescription: String { rawValue }

    static func of(_ subject: Subject) -> [Manner] {
        allCases.filter { $0 != .waitingInATask || subject.answersAtOnce }
    }

    /// - Returns: `nil` where there is no value.
    func retrieve<Access: ReadableAccess>(
        _ storage: AnyStorage<Access, String, String>,
        _ key: String
    ) async throws -> String? {
        do {
            switch self {
            case .completing:
                let answers = Answers<String>()
                storage.retrieve(forKey: key, completion: answers.take)
                return try await answers.first().get()
            case .suspending: return try await storage.retrieve(forKey: key)
            case .waiting:
                return try await onThread { try storage.makeSyncStorage().retrieve(forKey: key) }
            case .waitingInATask: return try storage.makeSyncStorage().retrieve(forKey: key)
            }
        } catch is Absent {
            return nil
        } catch let error as any StorageMiss where error.isMiss {
            return nil
        }
    }

    func set<Access: WritableAccess>(
        _ storage: AnyStorage<Access, String, String>,
        _ value: String,
        _ key: String
    ) async throws {
        switch self {
        case .completing: try await storage.setting(value, forKey: key).first().get()
        case .suspending: try await storage.set(value, forKey: key)
        case .waiting: try await onThread { try storage.makeSyncStorage().set(value, forKey: key) }
        case .waitingInATask: try storage.makeSyncStorage().set(value, forKey: key)
        }
    }

    func remove(_ storage: RemovableStorage<String, String>, _ key: String) async throws {
        switch self {
        case .completing: try await storage.removing(key).first().get()
        case .suspending: try await storage.remove(forKey: key)
        case .waiting: try await onThread { try storage.makeSyncStorage().remove(forKey: key) }
        case .waitingInATask: try storage.makeSyncStorage().remove(forKey: key)
        }
    }

    func removeAll(_ storage: RemovableStorage<String, String>) async throws {
        switch self {
        case .completing: try await storage.removingAll().first().get()
        case .suspending: try await storage.removeAll()
        case .waiting: try await onThread { try storage.makeSyncStorage().removeAll() }
        case .waitingInATask: try storage.makeSyncStorage().removeAll()
        }
    }
}
