/// The reason for which a command failed.
package enum RemoteFailure: Error, Hashable {
    /// There is no connection. The command was not sent.
    case unreachable(String)
    /// The connection was lost, or the deadline passed, after the command was sent: it may have been executed.
    case unanswered(String)
    /// Too many commands or bytes wait already. The command was not sent.
    case overloaded
    /// The command is larger than a connection takes. It was not sent.
    case tooLarge
    /// The caller was cancelled. The command may have been executed.
    case cancelled
    /// This process closed the connection. A command that was sent may have been executed.
    case closed
    /// The configuration of the server or of this process does not allow it. Trying again does not help.
    case refused(String)
    /// The server's memory is full, and its policy evicts nothing.
    case full
    /// The server replied with an error, or with an unexpected reply.
    case failed(String)
}

extension RemoteFailure {
    /// The same failure for a command that was sent: a lost connection leaves open whether it was executed.
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
