public import VellumCore

extension VellumError.Code {
    /// The server cannot be reached. Nothing was changed, except that a removal is sent as soon as the server is there again.
    public static let unreachable = VellumError.Code("unreachable")
    /// The server did not answer in time, or the connection was lost: the command may have been executed.
    public static let outcomeUnknown = VellumError.Code("outcomeUnknown")
    /// Too many calls wait for the server already. Nothing was changed.
    public static let overloaded = VellumError.Code("overloaded")
    /// The server cannot be used as it is configured, or as this program is. Trying again does not help.
    public static let refused = VellumError.Code("refused")
    /// The server's memory is full, and its policy evicts nothing.
    public static let serverFull = VellumError.Code("serverFull")
    /// The server answered with an error.
    public static let serverFailed = VellumError.Code("serverFailed")
}

extension VellumError {
    /// - Parameter cache: The cache concerned.
    init(_ failure: RemoteFailure, cache: String) {
        let error =
            switch failure {
            case .unreachable(let reason): VellumError(.unreachable, reason)
            case .unanswered(let reason): VellumError(.outcomeUnknown, reason)
            case .overloaded: VellumError(.overloaded, "Too many calls wait for the server already. Make fewer at once.")
            case .tooLarge: VellumError(.tooLarge, "The value is larger than a connection takes.")
            case .cancelled: VellumError(.cancelled, "The caller was cancelled. A write may have happened.")
            case .closed: VellumError(.closed, "The connection to the server was closed by this program.")
            case .refused(let reason): VellumError(.refused, reason)
            case .full: VellumError(.serverFull, "The server's memory is full. Set maxmemory-policy to allkeys-lru, or raise maxmemory.")
            case .failed(let message): VellumError(.serverFailed, "The server failed: \(message)")
            }
        self = error.located(archive: cache, path: nil)
    }
}
