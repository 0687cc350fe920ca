/// How long to wait before the next attempt to connect, or to send a removal: twice as long after
/// each failure, at random between nothing and all of it, so that clients of a server that comes
/// back do not arrive together (aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter,
/// full jitter).
package struct Backoff: Sendable {
    /// In milliseconds.
    package static let shortest: Int64 = 50

    private let longest: Int64
    private var failures = 0

    /// - Parameter longest: In milliseconds.
    package init(longest: Int64 = 5000) { self.longest = longest }

    /// Returns how long to wait after another failure, in milliseconds.
    package mutating func next(using generator: inout some RandomNumberGenerator) -> Int64 {
        let most = min(longest, Self.shortest << min(failures, 10))
        failures += 1
        return Int64.random(in: 0...most, using: &generator)
    }

    package mutating func reset() { failures = 0 }
}
