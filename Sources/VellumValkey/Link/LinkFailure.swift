/// Why a command has no reply.
package enum LinkFailure: Error, Hashable {
    /// There is no connection. The command was not sent.
    case unreachable(String)
    /// The connection was lost, or the deadline passed, after the command was sent: it may have been executed.
    case unanswered(String)
    /// Too many commands or bytes wait already. The command was not sent.
    case overloaded
    /// The command is larger than a connection takes. It was not sent.
    case tooLarge
    case cancelled
    /// The link was closed by this process.
    case closed
    /// The server cannot be used as it is configured, or as we are. Trying again does not help.
    case refused(String)
}
