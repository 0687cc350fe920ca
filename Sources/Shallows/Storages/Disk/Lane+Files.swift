internal import Foundation
internal import VellumCore

extension Lane {
    /// Does work with files, in its turn.
    func run<Value: Sendable>(
        _ layer: String, _ key: (any Sendable)?, _ call: Call, _ work: @escaping @Sendable () throws(FileFailure) -> Value
    ) -> Reply<Value> {
        run(layer: layer, key: key, call) {
            do throws(FileFailure) { return .success(try work()) } catch { return .failure(ShallowsError(error, layer: layer, key: key)) }
        }
    }
}

extension Reply {
    /// The reply whose `nil` is a miss.
    func orMiss<Wrapped: Sendable>(_ layer: String, _ key: any Sendable) -> Reply<Wrapped> where Value == Wrapped? {
        map { outcome in
            outcome.flatMap { value in value.map { .success($0) } ?? .failure(.miss(forKey: key, layer: layer)) }
        }
    }
}

extension ShallowsError {
    init(_ failure: FileFailure, layer: String, key: (any Sendable)?) {
        let code: Code =
            switch failure.code {
            case ENOSPC, EDQUOT: .diskFull
            case EACCES, EPERM, EROFS: failure.step.isWriting ? .readOnly : .inputOutput
            default: .inputOutput
            }
        self.init(code, failure.description, layer: layer, key: key, cause: failure.underlying)
    }
}

extension FileSync {
    init(_ durability: Durability) {
        self = durability == .powerSafe ? .complete : .none
    }
}
