import Foundation
import MiniCache

/// One cache before one slow source that fails, and what each way of asking costs.
struct Demonstration {
    let server = RateServer()
    /// How far ahead of the system's the cache's clock is: a minute passes here when it is needed.
    let ahead = SharedInterval()
    let rates: MiniCache<String, Rate>
    let tokens: MiniCache<String, AccessToken>

    init(directory: URL) {
        let ahead = ahead
        let clock = WallClock { Date(timeIntervalSinceNow: ahead.seconds) }
        let manager = MiniCacheManager(name: "ExchangeRates", directory: directory, clock: clock)
        rates = manager.cache(
            cacheName: "Rates",
            cacheVersion: .appVersion,
            maxAge: .timeInterval(60)
        )
        tokens = manager.cache(cacheName: "Tokens", cacheVersion: .appVersion, maxAge: .forever)
    }

    func run() async throws {
        try await stampede()
        try await hits()
        try await stale()
        try await staleIfError()
        try await outage()
        try await nothing()
        try await token()
        try await softTimeout()
        try await refreshAhead()
    }

    private func say(_ title: String, _ result: String) {
        print(title.padding(toLength: 44, withPad: " ", startingAt: 0), result)
    }

    /// What a block costs: time, and questions to the server.
    private func measured<Value>(
        _ body: () async throws -> Value
    ) async rethrows -> (Value, time: String, questions: Int) {
        let (before, start) = (server.questionCount, ContinuousClock.now)
        let value = try await body()
        let time = (ContinuousClock.now - start).formatted(
            .units(allowed: [.milliseconds, .microseconds], maximumUnitCount: 1)
        )
        return (value, time, server.questionCount - before)
    }

    private func stampede() async throws {
        let (_, time, questions) = try await measured {
            try await withThrowingTaskGroup { group in
                for _ in 0..<1000 {
                    group.addTask {
                        try await rates.value(forKey: "USD") { [server] in
                            try await server.rate(of: "USD")
                        }
                    }
                }
                try await group.waitForAll()
            }
        }
        say(
            "1,000 tasks ask for one missing rate",
            "\(questions) question to the server, \(time) for all"
        )
    }

    private func hits() async throws {
        let count = 100_000
        let start = ContinuousClock.now
        for _ in 0..<count {
            _ = try await rates.value(forKey: "USD") { [server] in
                try await server.rate(of: "USD")
            }
        }
        let each = (ContinuousClock.now - start) / count
        say(
            "The same, now that it is there",
            "\(each.components.attoseconds / 1_000_000_000) ns each"
        )
    }

    private func stale() async throws {
        ahead.seconds += 90
        let (old, time, _) = try await measured {
            try await rates.load("USD", staleWhileRevalidate: .seconds(300)) { [server] in
                try await server.rate(of: "USD")
            }
        }
        say(
            "Half a minute past its age, staleWhileRevalidate: 5 min",
            "\(old.source) after \(time); refreshed in the background"
        )
        while try await rates.async.value(forKey: "USD") == nil {
            try await Task.sleep(for: .milliseconds(10))
        }
        say("A moment later", "the new rate is there, and nobody waited for it")
    }

    private func staleIfError() async throws {
        ahead.seconds += 90
        server.isDown = true
        let (old, time, questions) = try await measured {
            try await rates.load("USD", staleIfError: .seconds(3600)) { [server] in
                try await server.rate(of: "USD")
            }
        }
        say(
            "The server is down, staleIfError: 1 h",
            "\(old.source) after \(time) and \(questions) question"
        )
    }

    private func outage() async throws {
        let options = LoadOptions(errorMaxAge: .seconds(10))
        let (failures, time, questions) = await measured {
            var failures = 0
            for _ in 0..<100 {
                do {
                    _ = try await rates.value(forKey: "CHF", options: options) { [server] in
                        try await server.rate(of: "CHF")
                    }
                } catch {
                    failures += 1
                }
            }
            return failures
        }
        say(
            "Still down, nothing cached, errorMaxAge: 10 s",
            "\(failures) errors, \(questions) question, \(time)"
        )
        server.isDown = false
    }

    private func nothing() async throws {
        let options = LoadOptions(negativeMaxAge: .seconds(600))
        let (found, time, questions) = try await measured {
            var found = 0
            for _ in 0..<100 {
                let rate = try await rates.value(forKey: "XYZ", options: options) { [server] in
                    try await server.rate(of: "XYZ")
                }
                if rate != nil { found += 1 }
            }
            return found
        }
        say(
            "100 times for no currency, negativeMaxAge: 10 min",
            "\(found) found, \(questions) question, \(time)"
        )
    }

    /// The server says for how long its token is valid, and later that it may be used on.
    private func token() async throws {
        func ask() async throws -> Loaded<AccessToken?> {
            try await tokens.load("api") { [server] previous in
                let answer = try await server.token(after: previous)
                return answer.token.map { .value($0, maxAge: answer.life) }
                    ?? .unchanged(maxAge: answer.life)
            }
        }
        let (first, _, _) = try await measured(ask)
        ahead.seconds += 400
        let (again, time, questions) = try await measured(ask)
        say("A token whose loader says its age: 5 min", "\(first.value?.text ?? "none"), loaded")
        say(
            "It has expired; the server says: unchanged",
            "\(again.value?.text ?? "none") after \(time), \(questions) question, nothing written"
        )
    }

    private func softTimeout() async throws {
        ahead.seconds += 90
        let options = LoadOptions(softTimeout: .milliseconds(20))
        let (old, time, _) = try await measured {
            try await rates.load("USD", staleIfError: .seconds(3600), options: options) {
                [server] in try await server.rate(of: "USD")
            }
        }
        say(
            "The server is slow, softTimeout: 20 ms",
            "\(old.source) after \(time); the load goes on"
        )
        while try await rates.async.value(forKey: "USD") == nil {
            try await Task.sleep(for: .milliseconds(10))
        }
    }

    private func refreshAhead() async throws {
        ahead.seconds += 50
        let (rate, time, _) = try await measured {
            try await rates.load("USD", options: LoadOptions(refreshAhead: 0.8)) { [server] in
                try await server.rate(of: "USD")
            }
        }
        say(
            "Ten seconds before its end, refreshAhead: 0.8",
            "\(rate.source) after \(time); loaded again in the background"
        )
    }
}
