/// Calls that wait for a thread, or for their turn to write.
public struct WaitingCalls: Hashable, Sendable {
    /// How many wait now.
    public var count: Int
    /// How long a call has waited at most, since the program began or the file was opened.
    public var longestWait: Duration
    /// How many threads work for such calls now.
    public var threads: Int

    /// Creates the numbers; by default those where no call has waited.
    public init(count: Int = 0, longestWait: Duration = .zero, threads: Int = 0) {
        self.count = count
        self.longestWait = longestWait
        self.threads = threads
    }
}

extension WaitingCalls: CustomStringConvertible {
    /// The numbers in one line to read.
    public var description: String {
        "\(count) waiting, \(threads) threads, longest wait \(longestWait)"
    }
}
