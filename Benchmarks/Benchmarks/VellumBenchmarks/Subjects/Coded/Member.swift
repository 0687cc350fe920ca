import Foundation

/// Structs in structs: a member of something, with addresses and friends.
struct Member: Coded {
    static let title = "nested"
    static let batch = 20

    let id: Int
    let name: Name
    let email: String
    let joined: Date
    let addresses: [Address]
    let friends: [Friend]

    struct Name: Codable, Equatable, Sendable {
        let first: String
        let last: String
    }

    struct Address: Codable, Equatable, Sendable {
        let label: String
        let street: String
        let city: String
        let postcode: String
        let country: String
        let coordinate: Coordinate
    }

    struct Coordinate: Codable, Equatable, Sendable {
        let latitude: Double
        let longitude: Double
    }

    struct Friend: Codable, Equatable, Sendable {
        let id: Int
        let name: Name
        let year: Int
    }

    static func make(_ index: Int) -> Member {
        var prose = Prose(index)
        let name = Name(&prose)
        return Member(
            id: 100_000 + index,
            name: name,
            email: "\(name.first).\(name.last).\(index)@example.com".lowercased(),
            joined: Date(
                timeIntervalSinceReferenceDate: prose.number(400_000_000...800_000_000, places: 3)
            ),
            addresses: (0..<prose.number(1...3)).map { Address(&prose, $0) },
            friends: (0..<prose.number(2...10)).map { _ in Friend(&prose) }
        )
    }

    var message: MemberMessage {
        .with {
            ($0.id, $0.name, $0.email, $0.joined) = (
                Int64(id), name.message, email, joined.timeIntervalSinceReferenceDate
            )
            $0.addresses = addresses.map(\.message)
            $0.friends = friends.map(\.message)
        }
    }
}

extension Member.Name {
    fileprivate init(_ prose: inout Prose) {
        self.init(first: prose.firstName(), last: prose.lastName())
    }

    fileprivate var message: MemberMessage.Name { .with { ($0.first, $0.last) = (first, last) } }
}

extension Member.Address {
    fileprivate init(_ prose: inout Prose, _ place: Int) {
        self.init(
            label: ["home", "work", "holidays"][place],
            street: prose.street(),
            city: prose.city(),
            postcode: prose.digits(5),
            country: prose.one(of: ["BR", "CA", "DE", "FR", "GB", "JP", "PT", "SE", "SN"]),
            coordinate: Member.Coordinate(
                latitude: prose.number(-60...70, places: 6),
                longitude: prose.number(-180...180, places: 6)
            )
        )
    }

    fileprivate var message: MemberMessage.Address {
        .with {
            ($0.label, $0.street, $0.city, $0.postcode, $0.country) = (
                label, street, city, postcode, country
            )
            $0.coordinate = .with {
                ($0.latitude, $0.longitude) = (coordinate.latitude, coordinate.longitude)
            }
        }
    }
}

extension Member.Friend {
    fileprivate init(_ prose: inout Prose) {
        self.init(
            id: prose.number(100_000...200_000),
            name: Member.Name(&prose),
            year: prose.number(1990...2025)
        )
    }

    fileprivate var message: MemberMessage.Friend {
        .with { ($0.id, $0.name, $0.year) = (Int64(id), name.message, Int64(year)) }
    }
}
