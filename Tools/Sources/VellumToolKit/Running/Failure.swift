internal import Foundation
internal import VellumFiles

/// Why a command ended: a status, and one line for a person.
struct Failure: Error, Equatable {
    var status: Status
    /// `nil` if the command has already said it.
    var message: String?
    /// Lines below the message, which show the place of an error.
    var details: [String] = []

    init(_ status: Status, _ message: String?, details: [String] = []) {
        self.status = status
        self.message = message
        self.details = details
    }

    /// What an error of any kind means for a person and the shell. `nil` if whoever read the output
    /// has gone, which is no failure.
    static func of(_ error: any Error, home: String) -> Failure? {
        switch error {
        case let failure as Failure: failure
        case let error as VellumError:
            Failure(Status(error.code), sentence(of: error, home: home))
        case is CancellationError: Failure(.cancelled, "cancelled")
        case is ClosedOutput: nil
        case let error as SystemFailure: Failure(.failed, error.message)
        case let error as CocoaError:
            Failure(.failed, TerminalText.shown(error.localizedDescription, width: 200))
        default: Failure(.failed, TerminalText.shown(String(describing: error), width: 200))
        }
    }

    private static func sentence(of error: VellumError, home: String) -> String {
        let message = TerminalText.shown(error.message, width: 400)
        guard let path = error.path else { return message }
        return "\(Paths.shown(path, home: home, width: 100)): \(message)"
    }
}

extension Status {
    /// The status of a code. Later versions of the library may add codes.
    init(_ code: VellumError.Code) {
        switch code {
        case .cannotOpen, .notADatabase, .foreignFile, .wrongKind, .newerFormat, .readOnly,
            .networkFileSystem, .vanished, .deviceLocked,
            .newerVersion:
            self = .unusable
        case .damagedFile, .damagedEntry, .notDecodable: self = .damaged
        case .invalidImport: self = .unusable
        case .busy, .suspended, .contradiction: self = .busy
        case .cancelled: self = .cancelled
        case .invalidQuery: self = .usage
        default: self = .failed
        }
    }
}

/// Whoever read the output has gone, as `head` does.
struct ClosedOutput: Error {}

/// A call of the system that failed.
struct SystemFailure: Error {
    var message: String

    /// - Parameters:
    ///   - doing: What failed, such as "write x".
    ///   - code: The number of the error.
    init(_ doing: String, code: Int32) {
        message = "cannot \(doing): \(String(cString: strerror(code)))"
    }
}
