import Synchronization

/// How many units of a currency one euro buys.
struct Rate: Codable, Sendable {
    var currency: String
    var units: Double
}

/// What lets a client ask for more than rates.
struct AccessToken: Codable, Sendable {
    var text: String
}

/// A source as sources are: it takes its time, it can be down, and every question costs.
final class RateServer: Sendable {
    struct Unavailable: Error {}

    /// How long it takes to answer, also when it is down.
    static let delay = Duration.milliseconds(150)

    private static let units = ["USD": 1.0862, "CHF": 0.9371, "JPY": 163.24, "GBP": 0.8423]
    private let questions = Atomic(0)
    private let down = Atomic(false)

    /// How often it was asked.
    var questionCount: Int { questions.load(ordering: .relaxed) }

    var isDown: Bool {
        get { down.load(ordering: .relaxed) }
        set { down.store(newValue, ordering: .relaxed) }
    }

    /// The rate of a currency, or `nil` if there is no such currency. Each answer differs a little
    /// from the last.
    func rate(of currency: String) async throws -> Rate? {
        let number = questions.add(1, ordering: .relaxed).newValue
        try await Task.sleep(for: Self.delay)
        if isDown { throw Unavailable() }
        return Self.units[currency].map {
            Rate(currency: currency, units: $0 + Double(number) / 10_000)
        }
    }

    /// A token and for how long it is valid; no token if the last one may be used on.
    func token(after last: AccessToken?) async throws -> (token: AccessToken?, life: Duration) {
        let number = questions.add(1, ordering: .relaxed).newValue
        try await Task.sleep(for: Self.delay)
        if isDown { throw Unavailable() }
        return (last == nil ? AccessToken(text: "token \(number)") : nil, .seconds(300))
    }
}
