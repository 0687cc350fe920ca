public import VellumCore

/// The reason for which a command failed.
package enum RemoteFailure: Error, Hashable {
    /// There is no connection. The command was not sent.
    case unreachable(String)
    /// The connection was lost, or the deadline passed, after the command was sent: it may have
    /// been executed.
    case unanswered(String)
    /// Too many commands or bytes wait already. The command was not sent.
    case overloaded
    /// The command is larger than a connection takes. It was not sent.
    case tooLarge
    /// The caller was cancelled. The command may have been executed.
    case cancelled
    /// This process closed the connection. A command that was sent may have been executed.
    case closed
    /// The configuration of the server or of this process does not allow it. Trying again does not
    /// help.
    case refused(String)
    /// The server's memory is full, and its policy evicts nothing.
    case full
    /// The server replied with an error, or with an unexpected reply.
    case failed(String)
}

extension RemoteFailure {
    /// The same failure for a command that was sent: a lost connection leaves open whether it was
    /// executed.
    package var afterSending: RemoteFailure {
        if case .unreachable(let reason) = self { .unanswered(reason) } else { self }
    }

    /// The same failure for a command that was not sent.
    package var beforeSending: RemoteFailure {
        if case .unanswered(let reason) = self { .unreachable(reason) } else { self }
    }

    /// Whether the server may have executed the command.
    package var mayBeExecuted: Bool { self == .cancelled || self != beforeSending }

    /// The server sent a reply that the command does not have.
    package static let unexpectedReply = RemoteFailure.failed("Unexpected reply.")
}

extension VellumError.Code {
    /// The server cannot be reached. Nothing was changed, except that a removal is sent as soon as
    /// the server is there again.
    public static let unreachable = VellumError.Code("unreachable")
    /// The server did not answer in time, or the connection was lost: the command may have been
    /// executed.
    public static let outcomeUnknown = VellumError.Code("outcomeUnknown")
    /// Too many calls wait for the server already. Nothing was changed.
    public static let overloaded = VellumError.Code("overloaded")
    /// The server cannot be used as it is configured, or as this program is. Trying again does not
    /// help.
    public static let refused = VellumError.Code("refused")
    /// The server's memory is full, and its policy evicts nothing.
    public static let serverFull = VellumError.Code("serverFull")
    /// The server answered with an error.
    public static let serverFailed = VellumError.Code("serverFailed")
}

extension VellumError {
    /// - Parameter cache: The cache concerned.
    package init(_ failure: RemoteFailure, cache: String) {
        let error =
            switch failure {
            case .unreachable(let reason): VellumError(.unreachable, reason)
            case .unanswered(let reason): VellumError(.outcomeUnknown, reason)
            case .overloaded:
                VellumError(
                    .overloaded,
                    "Too many calls wait for the server already. Make fewer at once."
                )
            case .tooLarge: VellumError(.tooLarge, "The value is larger than a connection takes.")
            case .cancelled:
                VellumError(.cancelled, "The caller was cancelled. A write may have happened.")
            case .closed:
                VellumError(.closed, "The connection to the server was closed by this program.")
            case .refused(let reason): VellumError(.refused, reason)
            case .full:
                VellumError(
                    .serverFull,
                    """
                    The server's memory is full. Set maxmemory-policy to allkeys-lru, or raise \
                    maxmemory.
                    """
                )
            case .failed(let message): VellumError(.serverFailed, "The server failed: \(message)")
            }
        self = error.located(archive: cache, path: nil)
    }
}
