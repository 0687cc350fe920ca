import Foundation
import VellumCore
import VellumEngine
import VellumTestSupport

/// An indexed test type.
struct Person: Codable, Hashable, Sendable {
    var name: String
    var age: Int
    var city: String?
    var height: Double
    var tags: [String]

    init(
        _ name: String,
        age: Int = 30,
        city: String? = nil,
        height: Double = 1.7,
        tags: [String] = []
    ) {
        self.name = name
        self.age = age
        self.city = city
        self.height = height
        self.tags = tags
    }

    /// Indexes on age, on city and height together, and on every tag.
    static var catalog: IndexCatalog<Person> {
        var catalog = IndexCatalog<Person>()
        let age = catalog.addColumn(\.age, name: "age")
        let city = catalog.addColumn(\.city, name: "city")
        let height = catalog.addColumn(\.height, name: "height")
        let name = catalog.addColumn(\.name, name: "name")
        catalog.addIndex([age])
        catalog.addIndex([city, height])
        catalog.addIndex([name])
        catalog.addCollection(\Person.tags, name: "tags", of: String.self) { $0.tags }
        return catalog
    }

    /// A number of people who all differ.
    static func crowd(_ count: Int) -> [Person] {
        (0..<count).map { number in
            Person(
                "person \(number)",
                age: number % 90,
                city: number % 7 == 0 ? nil : "city \(number % 11)",
                height: Double(number % 50) / 25,
                tags: ["all", "mod\(number % 5)"]
            )
        }
    }
}

extension Setup {
    func people(
        _ catalog: IndexCatalog<Person>? = Person.catalog,
        memory: DataSize = 1.megaByte,
        disk: DataSize = 100.megaByte,
        codec: any Codec<Person> = JSONCodec<Person>(),
        durability: Durability = .crashSafe
    ) throws -> Store<Person> {
        try open().store(
            named: "people",
            codec: codec,
            memory: Capacity(memory),
            disk: Capacity(disk),
            caching: .values,
            indexing: catalog,
            durability: durability
        )
    }
}

extension Store<Person> {
    func record(_ people: [Person]) throws {
        var transaction = StoreTransaction()
        for person in people {
            try transaction.record(person, forKey: EntryKey(person.name), in: self)
        }
        try transaction.commit()
    }
}

/// The queries of these tests.
enum Question {
    static func older(than age: Int) -> ValueCondition<Person> {
        .test(
            Test(\Person.age, .isBetween(lower: .init(age, isIncluded: false), upper: nil)) {
                $0.age > age
            }
        )
    }

    static func age(_ age: Int) -> ValueCondition<Person> {
        .test(Test(\Person.age, .isEqual(age)) { $0.age == age })
    }
    static func city(_ city: String?) -> ValueCondition<Person> {
        .test(Test(\Person.city, .isEqual(city as Any)) { $0.city == city })
    }
    static func tagged(_ tag: String) -> ValueCondition<Person> {
        .test(Test(\Person.tags, .hasElement([tag])) { $0.tags.contains(tag) })
    }
    static func begins(_ start: String) -> ValueCondition<Person> {
        .test(Test(\Person.name, .beginsWith(start)) { $0.name.starts(with: start) })
    }
    /// A condition that no index can answer.
    static func isEvenlyNamed() -> ValueCondition<Person> { .test(Test { $0.name.count % 2 == 0 }) }

    static func byAge(descending: Bool = false) -> Ordering<Person> {
        Ordering(\Person.age, isDescending: descending) { left, right in
            (left.age < right.age ? -1 : left.age > right.age ? 1 : 0) * (descending ? -1 : 1)
        }
    }

    /// `nil` is first.
    static func byCity(descending: Bool = false) -> Ordering<Person> {
        Ordering(\Person.city, isDescending: descending) { left, right in
            let (left, right) = (left.city ?? "", right.city ?? "")
            return (left < right ? -1 : left > right ? 1 : 0) * (descending ? -1 : 1)
        }
    }
}

extension Array<Person> {
    /// The expected result of a query.
    func answering(_ steps: [QueryDescription<Person>.Step]) throws -> [Person] {
        var result = self
        for step in steps {
            switch step {
            case .filter(let condition): result = try result.filter(condition.matches)
            case .sort(let orderings):
                result = try result.enumerated().sorted { left, right in
                    for ordering in orderings {
                        let order = try ordering.compare(left.element, right.element)
                        if order != 0 { return order < 0 }
                    }
                    return left.offset < right.offset
                }.map(\.element)
            case .skip(let count): result = Array(result.dropFirst(Swift.max(0, count)))
            case .limit(let count): result = Array(result.prefix(Swift.max(0, count)))
            }
        }
        return result
    }
}
