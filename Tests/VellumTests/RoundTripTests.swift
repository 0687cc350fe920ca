#if DEBUG
    import Foundation
    import MiniCache
    import Observation
    import ShallowsSQLite
    import Synchronization
    import TestThreads
    import Testing
    import Vellum
    import VellumCore
    import VellumTestSupport

    /// In debug builds, the first object of a type is decoded and compared with what was recorded.
    /// Each type is used by one test only.
    @Suite(.ownThreads)
    struct RoundTripTests {
        private let temporary = TemporaryArchives()

        /// The warnings that recording logs.
        private func warnings(_ body: () throws -> Void) rethrows -> [String] {
            let lines = Locked<[String]>([])
            try LoggedLines.$observer.withValue(
                { line in lines.withLock { $0.append(line) } },
                operation: body
            )
            return lines.withLock { $0.filter { $0.contains("What decodes") } }
        }

        private func warnings<Archive: Archivable>(of object: Archive) throws -> [String] {
            let store = try temporary.factory.store(for: Archive.self)
            return try warnings { try store.record(object) }
        }

        /// Where the warning says that the object differs; `nil` if it does not.
        private func difference<Archive: Archivable>(of object: Archive) throws -> String? {
            let lines = try warnings(of: object)
            #expect(lines.count <= 1)
            #expect(
                lines.allSatisfy { $0.contains("type \(Archive.self) ") && !$0.contains("secret") }
            )
            return lines.first.flatMap {
                $0.components(separatedBy: "first at ").last?.components(separatedBy: " ").first.map
                { String($0.dropLast()) }
            }
        }

        // MARK: What differs

        @Test func aPropertyThatIsNotEncodedIsNamed() throws {
            #expect(try difference(of: Draft(id: "a", note: "secret")) == ".note")
        }

        @Test func aRoundedDateIsNamed() throws {
            #expect(try difference(of: Appointment()) == ".date")
        }

        @Test func aNestedOptionalIsNamed() throws {
            #expect(try difference(of: Answer()) == ".count")
        }

        @Test func aSubclassInsideAStructIsNamed() throws {
            #expect(try difference(of: Contract()) == ".person")
        }

        @Test func aPropertyOfAClassInsideAStructIsNamed() throws {
            #expect(try difference(of: Order()) == ".buyer.rating")
        }

        @Test func differencesInsideOfCollectionsAreNamedWithoutTheirKeys() throws {
            #expect(try difference(of: Lists()) == ".list[1].note")
            #expect(try difference(of: Tables()) == ".table[…].note")
            #expect(try difference(of: Payloads()) == ".state.note")
            #expect(try difference(of: Wrapped()) == "._name.hint")
            #expect(try difference(of: Puppy()) == ".owner")
            #expect(try difference(of: Fewer()) == ".numbers")
            #expect(try difference(of: Inked()) == ".ink")
            #expect(try difference(of: Laboured()) == ".tags")
        }

        @Test func aTypeIsReportedOnce() throws {
            #expect(try warnings(of: Once()).count == 1)
            #expect(try warnings(of: Once()).isEmpty)
        }

        @Test func valuesOfCachesAndStoragesAreCompared() throws {
            let cache: MiniCache<String, InCache> = MiniCacheManager.inMemory().cache(
                cacheName: "values",
                cacheVersion: .custom("1"),
                maxAge: .forever
            )
            #expect(try warnings { try cache.set(InCache(note: "secret"), forKey: "a") }.count == 1)
            #expect(try warnings { try cache.set(InCache(note: "secret"), forKey: "a") }.isEmpty)
            let storage = SQLiteStorage<InStorage>(
                fileURL: temporary.directory.appendingPathComponent("values.sqlite")
            )
            #expect(
                try warnings {
                    try storage.makeSyncStorage().set(InStorage(note: "secret"), forKey: "a")
                }.count == 1
            )
            try storage.closeAndWait()
        }

        // MARK: What does not differ

        @Test func soundTypesAreNotReported() throws {
            let objects: [any Archivable] = [
                Plain(), Unordered(), Numbers(), Texts(), Optionals(), Cases(), Reference(),
                Child(), Ring(), Lazy(), Clamped(), Watched(),
                Tupled(), Hashed(), AsText(), Huge(), Closured(), Locking(), Guarded(), Calendars(),
                Shaped(), Loose(), Linked(), Slices(),
                Options(), Mirrored(), Identified(), Measured(), Deep(),
            ]
            #expect(objects.count >= 20)
            for object in objects {
                #expect(try difference(of: object) == nil, "\(type(of: object))")
            }
        }

        @Test func anObjectThatCannotBeDecodedIsNotReported() throws {
            #expect(try difference(of: Stuck()) == nil)
        }
    }

    /// A type of the tests, whose archive is named as the type.
    private protocol Sample: Archivable {}

    extension Sample {
        static var archiveName: String { "\(Self.self)" }
        var primaryKey: String { "key" }
    }

    private typealias CodableSample = Sample & Codable

    private struct Part: Codable, Hashable {
        enum CodingKeys: CodingKey { case id }
        var id = 1
        var note: String? = "secret"
        init() {}
    }

    private struct Draft: CodableSample {
        enum CodingKeys: CodingKey { case id }
        var id: String
        var note: String?
    }

    private struct Appointment: CodableSample {
        var date = Date(timeIntervalSinceReferenceDate: 1.5)
        init() {}
        init(from decoder: any Decoder) throws {
            date = Date(
                timeIntervalSinceReferenceDate: Double(
                    try decoder.singleValueContainer().decode(Int.self)
                )
            )
        }
        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(Int(date.timeIntervalSinceReferenceDate))
        }
    }

    private struct Answer: CodableSample {
        var count: Int?? = .some(nil)
    }

    private class Person: Codable { var name = "secret" }
    private final class Employee: Person {}

    private struct Contract: CodableSample {
        var person: Person = Employee()
    }

    private final class Buyer: Codable {
        enum CodingKeys: CodingKey { case name }
        var name = "secret"
        var rating = 0
    }

    private struct Order: CodableSample {
        var buyer = Buyer()
        init() { buyer.rating = 5 }
    }

    private struct Sound: Codable { var note: String? }
    private struct Lists: CodableSample { var list = [Maybe(nil), Maybe("secret")] }
    private struct Tables: CodableSample { var table = ["secret": Maybe("secret")] }
    private struct Payloads: CodableSample { var state = State.on(Maybe("secret")) }
    private enum State: Codable { case off, on(Maybe) }

    /// Its note is not encoded.
    private struct Maybe: Codable {
        enum CodingKeys: CodingKey {}
        var note: String?
        init(_ note: String?) { self.note = note }
    }

    @propertyWrapper
    private struct Hinted: Codable {
        enum CodingKeys: CodingKey { case wrappedValue }
        var wrappedValue: Int
        var hint: String?
    }

    private struct Wrapped: CodableSample {
        @Hinted(hint: "secret") var name = 1
    }

    private class Dog: CodableSample {
        enum CodingKeys: CodingKey {}
        var owner: String? = nil
        required init() {}
        required init(from decoder: any Decoder) throws {}
        func encode(to encoder: any Encoder) throws {
            _ = encoder.container(keyedBy: CodingKeys.self)
        }
    }

    private final class Puppy: Dog {
        required init() {
            super.init()
            owner = "secret"
        }
        required init(from decoder: any Decoder) throws { try super.init(from: decoder) }
    }

    private struct Fewer: CodableSample {
        var numbers = [1, 2, 3]
        init() {}
        init(from decoder: any Decoder) throws {
            numbers = Array(try decoder.singleValueContainer().decode([Int].self).dropLast())
        }
        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(numbers)
        }
    }

    private struct Inked: Sample {
        enum Ink { case red, blue }
        var ink = Ink.blue
        func archive() throws -> Data { Data() }
        static func deArchive(fromData data: Data) throws -> any Archivable { Inked(ink: .red) }
    }

    private struct Laboured: Sample {
        var tags: Set = ["secret", "b"]
        func archive() throws -> Data { Data() }
        static func deArchive(fromData data: Data) throws -> any Archivable {
            Laboured(tags: ["a", "b"])
        }
    }

    private struct Once: CodableSample {
        enum CodingKeys: CodingKey {}
        var note: String?
        init() { note = "secret" }
    }

    private struct InCache: Codable {
        enum CodingKeys: CodingKey {}
        var note: String?
        init(note: String) { self.note = note }
    }

    private struct InStorage: Codable {
        enum CodingKeys: CodingKey {}
        var note: String?
        init(note: String) { self.note = note }
    }

    // MARK: Sound types

    private struct Plain: CodableSample { var (id, name, flag) = (1, "one", true) }

    private struct Unordered: CodableSample {
        var words = Set((0..<100).map { "\($0)" })
        var table = Dictionary(uniqueKeysWithValues: (0..<100).map { ($0, ["\($0)"]) })
        var parts: [Set<Int>: [String: Set<Int>]] = [[1, 2, 3]: ["a": [1, 2, 3], "b": []]]
    }

    private struct Numbers: CodableSample {
        var all = [Double.nan, -.infinity, -0.0, 0.1, .leastNonzeroMagnitude]
        var float = Float.nan
        var optional: Double? = .nan
        var set: Set = [Double.nan, 1]
        var table = [Double.nan: 1, 2: 3]
        var wide = (Int128.max)
    }

    private struct Texts: CodableSample {
        var text = "e\u{301} 한"
        var data = Data([0, 1, 255])
        var uuid = UUID()
        var url = URL(string: "a?b=c#d", relativeTo: URL(string: "https://example.org/x/"))
        var decimal = Decimal(string: "1.50")
        var date = Date(timeIntervalSinceReferenceDate: 0.1)
        var duration = Duration.milliseconds(5)
    }

    private struct Optionals: CodableSample {
        var one: Int?
        var two: Int? = 2
        var nested: Int?? = 3
        var list: [Int?] = [nil, 1]
        var table: [String: Int?] = ["a": nil]
        var none: Int??
    }

    private indirect enum Tree: Codable { case leaf, labelled(name: String), node(Tree, Tree) }

    private struct Cases: CodableSample {
        enum Colour: String, Codable { case red }
        var tree = Tree.node(.leaf, .labelled(name: "a"))
        var colour = Colour.red
    }

    private final class Reference: CodableSample {
        var text = "a"
        var person = Person()
    }

    private class Parent: CodableSample { var name = "a" }
    private final class Child: Parent {}

    /// It refers to itself.
    private final class Ring: Sample {
        var next: Ring?
        var name = "a"
        init() { next = self }
        func archive() throws -> Data { Data() }
        static func deArchive(fromData data: Data) throws -> any Archivable { Ring() }
    }

    private struct Lazy: CodableSample {
        enum CodingKeys: CodingKey { case id }
        var id = 1
        lazy var text = "text"
        init() { _ = text }
    }

    @propertyWrapper
    private struct Limited: Codable { var wrappedValue: Int }
    private struct Clamped: CodableSample { @Limited var number = 1 }

    @Observable
    private final class Watched: CodableSample {
        var name = "a"
        init() { withObservationTracking({ _ = name }, onChange: {}) }
        init(from decoder: any Decoder) throws {
            name = try decoder.singleValueContainer().decode(String.self)
        }
        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(name)
        }
    }

    private struct Tupled: Sample {
        var pair = (1, name: "a", inner: (2.5, [3]))
        func archive() throws -> Data { Data() }
        static func deArchive(fromData data: Data) throws -> any Archivable { Tupled() }
    }

    private struct Hashed: Sample {
        var one: AnyHashable = 1
        var table: [AnyHashable: Any] = ["a": 1, 2: "b"]
        var set: Set<AnyHashable> = [1, "a", Part()]
        func archive() throws -> Data { Data() }
        static func deArchive(fromData data: Data) throws -> any Archivable {
            Hashed(one: Int8(1), table: ["a": Int8(1), 2: "b"])
        }
    }

    private struct AsText: CodableSample {
        static var archiveFormat: CodableFormat { .json }
        var numbers = [0.1, .infinity, .nan]
        var table = ["a": 1, "b": 2]
        var date = Date(timeIntervalSinceReferenceDate: 700_000_000.123456)
        var words: Set = ["a", "b", "c"]
    }

    private struct Huge: CodableSample {
        var numbers = Array(0..<200_000)
        var table = Dictionary(uniqueKeysWithValues: (0..<20_000).map { ("\($0)", $0) })
        var set = Set(0..<20_000)
    }

    private struct Closured: Sample {
        var run: () -> Int = { 1 }
        var type: Any.Type = Int.self
        var path = \String.count
        func archive() throws -> Data { Data() }
        static func deArchive(fromData data: Data) throws -> any Archivable { Closured() }
    }

    /// What a lock protects may be changing.
    private final class Locking: Sample {
        let lock = NSLock()
        var count = 1
        init(_ count: Int = 1) { self.count = count }
        func archive() throws -> Data { Data() }
        static func deArchive(fromData data: Data) throws -> any Archivable { Locking(2) }
    }

    private final class Guarded: Sample {
        let count: Mutex<Int>
        init(_ count: Int = 1) { self.count = Mutex(count) }
        func archive() throws -> Data { Data() }
        static func deArchive(fromData data: Data) throws -> any Archivable { Guarded(2) }
    }

    private struct Calendars: CodableSample {
        var calendar = Calendar(identifier: .gregorian)
        var locale = Locale(identifier: "de_CH")
        var zone = TimeZone(secondsFromGMT: 3600)
        var parts = DateComponents(year: 2020, month: 2)
        var interval = DateInterval(start: .distantPast, duration: 5)
        var indexes = IndexSet([1, 2, 5])
        var characters = CharacterSet(charactersIn: "abc")
        var path = IndexPath(indexes: [1, 2])
        var name = PersonNameComponents(givenName: "Ann")
    }

    private protocol Shape {}
    private struct Circle: Shape { var radius = 1.5 }

    private struct Shaped: Sample {
        var shape: any Shape = Circle()
        var shapes: [any Shape] = [Circle()]
        var any: Any = Circle()
        func archive() throws -> Data { Data() }
        static func deArchive(fromData data: Data) throws -> any Archivable { Shaped() }
    }

    /// A number of JSON comes back as another type.
    private struct Loose: Sample {
        var any: Any = Int8(1)
        var list: [Any] = [Float(1), "a"]
        func archive() throws -> Data { Data() }
        static func deArchive(fromData data: Data) throws -> any Archivable {
            Loose(any: 1, list: [1.0, "a"])
        }
    }

    private final class Linked: Sample {
        weak var parent: Linked?
        var child: Linked?
        init(hasChild: Bool = true) {
            guard hasChild else { return }
            child = Linked(hasChild: false)
            child?.parent = self
        }
        func archive() throws -> Data { Data() }
        static func deArchive(fromData data: Data) throws -> any Archivable { Linked() }
    }

    private struct Slices: CodableSample {
        var slice = [1, 2, 3]
        var contiguous: ContiguousArray = [1, 2]
        var range = 1..<3
        var closed = 1...3
        var from = 1...
        var vector = SIMD2(1.5, 2)
        var point = CGPoint(x: 1.5, y: 2)
        var result = [String: [Int: [String?]]]()
    }

    private struct Options: CodableSample {
        struct Set: OptionSet, Codable, Hashable { var rawValue: Int }
        var set: Set = [Set(rawValue: 1), Set(rawValue: 4)]
    }

    /// Shows something else than it has.
    private struct Mirrored: CodableSample, CustomReflectable {
        var id = 1
        var customMirror: Mirror { Mirror(self, children: ["now": UUID()]) }
    }

    /// Its `==` says that it differs from itself.
    private struct Identified: CodableSample, Equatable {
        var name = "a"
        static func == (one: Identified, other: Identified) -> Bool { false }
    }

    private struct Measured: CodableSample {
        var length = Measurement(value: 1.5, unit: UnitLength.meters)
    }

    private struct Deep: Sample {
        final class Link { var next: Link? }
        var first: Link?
        init() { for _ in 0..<400 { let link = Link(); link.next = first; first = link } }
        func archive() throws -> Data { Data() }
        static func deArchive(fromData data: Data) throws -> any Archivable { Deep() }
    }

    private struct Stuck: CodableSample {
        var note: String? = "secret"
        init() {}
        init(from decoder: any Decoder) throws { throw CocoaError(.coderReadCorrupt) }
    }
#endif
