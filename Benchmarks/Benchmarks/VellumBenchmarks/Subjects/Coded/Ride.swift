import Foundation

/// Arrays of numbers: a ride as a watch records it, a point each few seconds.
struct Ride: Coded {
    static let title = "arrays of numbers"
    static let batch = 5

    let id: Int
    /// Seconds since 1970.
    let times: [Int]
    let heartRates: [Int]
    /// To a millionth of a degree.
    let latitudes: [Double]
    let longitudes: [Double]
    /// Metres per second, calculated.
    let speeds: [Float]

    /// Four to six hundred numbers.
    static func make(_ index: Int) -> Ride {
        var prose = Prose(index)
        var time = prose.number(1_500_000_000...1_750_000_000)
        var (latitude, longitude) = (
            prose.number(-60...70, places: 6), prose.number(-179...179, places: 6)
        )
        var heartRate = 95
        let points = (0..<prose.number(80...120)).map { _ in
            time += prose.number(1...9)
            latitude += prose.number(-0.0004...0.0006)
            longitude += prose.number(-0.0006...0.0004)
            heartRate = min(max(heartRate + prose.number(-4...5), 60), 195)
            return (
                time, heartRate, millionths(latitude), millionths(longitude),
                Float(prose.number(0.0...14.0))
            )
        }
        return Ride(
            id: 100_000 + index,
            times: points.map(\.0),
            heartRates: points.map(\.1),
            latitudes: points.map(\.2),
            longitudes: points.map(\.3),
            speeds: points.map(\.4)
        )
    }

    private static func millionths(_ number: Double) -> Double {
        (number * 1_000_000).rounded() / 1_000_000
    }

    var message: RideMessage {
        .with {
            ($0.id, $0.times, $0.heartRates) = (
                Int64(id), times.map(Int64.init), heartRates.map(Int64.init)
            )
            ($0.latitudes, $0.longitudes, $0.speeds) = (latitudes, longitudes, speeds)
        }
    }
}
