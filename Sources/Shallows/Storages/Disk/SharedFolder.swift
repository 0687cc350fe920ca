internal import Foundation
internal import VellumCore

/// What all storages on one folder share in this process, if they name it by the same path: the
/// order of their calls.
///
/// A storage that is made anew for every call still reads what the one before it set.
final class SharedFolder: Sendable {
    private static let folders = WeakTable<String, SharedFolder>()

    private let lane = SerialQueue()
    /// The key in the table; `nil` if it is not there.
    private let path: String?

    init(path: String? = nil) {
        self.path = path
    }

    deinit {
        if let path { Self.folders.removeValue(forKey: path, ifHolding: ObjectIdentifier(self)) }
    }

    /// The shared state of a folder. Reads nothing from the disk: a folder with two paths may have
    /// two, each in order.
    static func shared(for url: URL) -> SharedFolder {
        let path = url.isFileURL ? url.standardizedFileURL.path : ""
        return folders.object(forKey: path, else: SharedFolder(path: path))
    }

    /// Runs work on files in its turn. The folder stays in the table until the caller has the
    /// reply.
    func run<Value: Sendable>(
        _ layer: String,
        _ key: (any Sendable)?,
        _ call: Call,
        _ work: @escaping @Sendable () throws(FileError) -> Value
    ) -> Reply<Value> {
        lane.run(layer: layer, key: key, call) { () -> Outcome<Value> in
            do throws(FileError) { return .success(try work()) } catch {
                return .failure(ShallowsError(error, layer: layer, key: key))
            }
        }.map { [self] outcome in withExtendedLifetime(self) { outcome } }
    }
}

extension ShallowsError {
    init(_ error: FileError, layer: String, key: (any Sendable)?) {
        let code: Code =
            switch error.code {
            case _ where error.isDiskFull: .diskFull
            case EACCES, EPERM, EROFS: error.step.isWriting ? .readOnly : .inputOutput
            default: .inputOutput
            }
        self.init(code, error.description, layer: layer, key: key, cause: error.underlying)
    }
}

extension Reply {
    /// The reply whose `nil` is a miss.
    func orMiss<Wrapped: Sendable>(_ layer: String, _ key: any Sendable) -> Reply<Wrapped>
    where Value == Wrapped? {
        map { outcome in
            outcome.flatMap { value in
                value.map {
                    .success($0)
                } ?? .failure(.miss(forKey: key, layer: layer))
            }
        }
    }
}
