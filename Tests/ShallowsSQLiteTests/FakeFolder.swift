import Foundation
import ShallowsSQLite
import VellumCore
import VellumEngine

/// A folder of files that is a dictionary, and fails where a test asks for it.
final class FakeFolder: Sendable {
    struct Failure: Error {}

    private struct State {
        var files: [Filename: Data]
        var order: [Filename]
        var unreadable: Set<Filename> = []
        var unremovable: Set<Filename> = []
        var reads = 0
        var beforeRemoving: (@Sendable (Filename) throws -> Void)?
    }

    private let state: Locked<State>

    init(_ files: [(Filename, Data)]) {
        state = Locked(State(files: Dictionary(files) { $1 }, order: files.map(\.0)))
    }

    convenience init(_ cities: [Filename: City]) throws {
        self.init(try cities.map { ($0, try JSONEncoder().encode($1)) })
    }

    var keys: Set<Filename> { state.withLock { Set($0.files.keys) } }
    var reads: Int { state.withLock { $0.reads } }

    func put(_ data: Data, _ key: Filename) { state.withLock { $0.files[key] = data } }
    func makeUnreadable(_ key: Filename) { state.withLock { _ = $0.unreadable.insert(key) } }
    func makeUnremovable(_ key: Filename) { state.withLock { _ = $0.unremovable.insert(key) } }

    /// Runs before a file is removed. Removing throws the error that it throws.
    func beforeRemoving(_ body: @escaping @Sendable (Filename) throws -> Void) { state.withLock { $0.beforeRemoving = body } }

    var importable: ImportableFiles {
        ImportableFiles(
            keys: { self.state.withLock { state in state.order.filter { state.files[$0] != nil } } },
            read: { key in
                try self.state.withLock { state in
                    state.reads += 1
                    guard !state.unreadable.contains(key) else { throw Failure() }
                    return state.files[key]
                }
            },
            remove: { key in
                try self.state.withLock { $0.beforeRemoving }?(key)
                try self.state.withLock { state in
                    guard !state.unremovable.contains(key) else { throw Failure() }
                    state.files[key] = nil
                }
            })
    }
}
