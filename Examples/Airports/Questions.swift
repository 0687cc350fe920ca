import Foundation
import Vellum

/// Queries of the airports, with indexes and without.
struct Questions {
    let archives: ArchiveManager<Airport>
    let plain: ArchiveStore<PlainAirport>
    let report: Report

    /// - Parameter list: Recorded in the archive without indexes, unless it has all airports.
    init(
        _ archives: ArchiveManager<Airport>,
        _ factory: ArchivesFactory,
        _ list: [Airport],
        _ report: Report
    ) throws {
        self.archives = archives
        self.report = report
        plain = try factory.store(
            for: PlainAirport.self,
            memoryLimit: 1.megaByte,
            diskLimit: 32.megaByte
        )
        if try plain.count() < list.count {
            try plain.record(contentsOf: list.map(PlainAirport.init))
        }
    }

    private var airports: ArchiveStore<Airport> { archives.store }

    func ask() throws {
        let progress = try airports.indexProgress()
        if !progress.isComplete {
            report.line(
                "the indexes are being built: \(progress.indexed) of \(progress.total) airports"
            )
        }
        try highest(in: "NP", "Nepal")
        try named("Berlin")
        try matching("^(St|Saint) .*(Regional|International)")
        try timeZones()
        try ranches()
    }

    // MARK: The questions

    private func highest(in country: String, _ name: String) throws {
        report.title("The ten highest airports of \(name)")
        let highest = [SortDescriptor(\Airport.elevation, order: .reverse)]
        let isThere = #Predicate<Airport> { $0.country == country }
        for airport in try airports.fetch(where: isThere, sortedBy: highest, limit: 10) {
            report.line("\(Self.number(airport.elevation)) ft  \(airport.name), \(airport.city)")
        }
        try compare {
            try airports.fetch(where: isThere, sortedBy: highest, limit: 10).count
        } without: {
            let isThere = #Predicate<PlainAirport> { $0.airport.country == country }
            return try plain.fetch(
                where: isThere,
                sortedBy: [SortDescriptor(\.airport.elevation, order: .reverse)],
                limit: 10
            ).count
        }
        report.explanation(try airports.explain(where: isThere, sortedBy: highest, limit: 10))
    }

    private func named(_ start: String) throws {
        report.title("Airports whose name begins with \(start)")
        let isNamed = #Predicate<Airport> { $0.name.starts(with: start) }
        for airport in try airports.fetch(where: isNamed, sortedBy: [SortDescriptor(\.name)]) {
            report.line("\(airport.icao)  \(airport.name), \(airport.country)")
        }
        try compare {
            try airports.count(where: isNamed)
        } without: {
            try plain.count(where: #Predicate { $0.airport.name.starts(with: start) })
        }
        report.explanation(try airports.explain(where: isNamed, sortedBy: [SortDescriptor(\.name)]))
    }

    /// A finder. Regular expressions use no index.
    private func matching(_ expression: String) throws {
        report.title("Airports of the United States whose name matches \(expression)")
        let query = archives.findWhere {
            $0.country(.isEqual("US")).name(.matches(regex: expression))
        }.sorted { $0.name(.ascending) }
        for airport in query.limitResults(by: 5).getResults() {
            report.line("\(airport.icao)  \(airport.name)")
        }
        let explanation = query.explain()
        report.line("… \(explanation.results) in total")
        report.explanation(explanation)
    }

    private func timeZones() throws {
        report.title("Number of airports in a time zone")
        for zone in ["America/Chicago", "America/Sao_Paulo", "Europe/Berlin", "Asia/Kathmandu"] {
            let isThere = #Predicate<Airport> { $0.timeZone == zone }
            try report.step {
                ("\(Self.number(Double(try airports.count(where: isThere))))  \(zone)", ())
            }
        }
        let zone = "Europe/Berlin"
        try compare {
            try airports.count(where: #Predicate { $0.timeZone == zone })
        } without: {
            try plain.count(where: #Predicate { $0.airport.timeZone == zone })
        }
        report.explanation(try airports.explain(where: #Predicate { $0.timeZone == zone }))
    }

    /// A condition that an index covers in part.
    private func ranches() throws {
        report.title(
            """
            Ranches of the United States above 7,000 ft: the index finds country and elevation, \
            the name is tested for each
            """
        )
        let isHighRanch = #Predicate<Airport> {
            $0.country == "US" && $0.elevation > 7000 && $0.name.contains("Ranch")
        }
        let highest = [SortDescriptor(\Airport.elevation, order: .reverse)]
        for airport in try airports.fetch(where: isHighRanch, sortedBy: highest, limit: 5) {
            report.line("\(Self.number(airport.elevation)) ft  \(airport.name), \(airport.city)")
        }
        report.explanation(try airports.explain(where: isHighRanch, sortedBy: highest, limit: 5))
    }

    // MARK: Comparing

    private func compare(with: () throws -> Int, without: () throws -> Int) throws {
        let (fast, count) = try Self.fastest(of: 5, with)
        let (slow, other) = try Self.fastest(of: 3, without)
        let factor = String(format: "%.0f", slow / fast)
        report.line(
            """
            with the index \(Self.time(fast)), without it \(Self.time(slow)): \(factor) times as \
            long
            """
        )
        if count != other {
            report.line("The results differ: \(count) and \(other). This is a defect.")
        }
    }

    private static func fastest(
        of times: Int,
        _ work: () throws -> Int
    ) throws -> (microseconds: Double, result: Int) {
        let clock = ContinuousClock()
        var fastest = Double.infinity
        var result = 0
        for _ in 0..<times {
            let start = clock.now
            result = try work()
            let (seconds, attoseconds) = (clock.now - start).components
            fastest = min(fastest, Double(seconds) * 1e6 + Double(attoseconds) / 1e12)
        }
        return (fastest, result)
    }

    private static func time(_ microseconds: Double) -> String {
        Report.text(.nanoseconds(Int64(microseconds * 1000))).trimmingCharacters(in: .whitespaces)
    }

    private static func number(_ value: Double) -> String {
        let digits = String(format: "%.0f", value)
        return String(repeating: " ", count: max(0, 6 - digits.count)) + digits
    }
}
