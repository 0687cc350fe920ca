// The recorded types are coded unchanged.

extension User: Coded {
    static var batch: Int { 100 }

    var message: UserMessage {
        .with {
            ($0.id, $0.name, $0.email, $0.age, $0.score, $0.isActive) = (
                id, name, email, Int64(age), score, isActive
            )
        }
    }
}

extension Airport: Coded {
    static var batch: Int { 100 }

    var message: AirportMessage {
        .with {
            ($0.icao, $0.iata, $0.name, $0.city, $0.region, $0.country) = (
                icao, iata, name, city, region, country
            )
            ($0.elevation, $0.latitude, $0.longitude, $0.timeZone) = (
                elevation, latitude, longitude, timeZone
            )
        }
    }
}
