import Hummingbird
import MiniCache

/// A rate of exchange, and how often the bank was asked.
struct Rate: ResponseCodable {
    var currency: String
    var value: Double
    var request: Int
}

/// A source that is slow.
actor Bank {
    let delay: Duration
    private(set) var requests = 0

    init(delay: Duration) { self.delay = delay }

    func rate(of currency: String) async throws -> Rate {
        requests += 1
        let request = requests
        try await Task.sleep(for: delay)
        return Rate(
            currency: currency,
            value: 1 + Double(currency.utf8.count) / 10,
            request: request
        )
    }
}

/// Answers from a cache. The bank is asked once, however many clients wait.
struct RateRoute: Sendable {
    let rates: MiniCache<String, Rate>
    let bank: Bank

    func rate(of currency: String) async throws -> Rate {
        let options = LoadOptions(errorMaxAge: .seconds(5), timeout: .seconds(2))
        do {
            return try await rates.value(
                forKey: currency,
                staleIfError: .seconds(86_400),
                options: options
            ) {
                try await bank.rate(of: currency)
            }
        } catch let error as MiniCacheError where error.code == .loadTimedOut {
            throw HTTPError(.gatewayTimeout)
        }
    }
}
