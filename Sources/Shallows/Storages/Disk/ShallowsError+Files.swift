internal import Foundation
internal import VellumCore

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
    func orMiss<Wrapped: Sendable>(_ layer: String, _ key: any Sendable) -> Reply<Wrapped> where Value == Wrapped? {
        map { outcome in
            outcome.flatMap { value in value.map { .success($0) } ?? .failure(.miss(forKey: key, layer: layer)) }
        }
    }
}
