import Foundation
import TestThreads
import Testing
import Vellum

@Suite(.ownThreads)
struct NestedArchivesTests {
    let temporary = TemporaryArchives()
    let factory: ArchivesFactory

    init() throws {
        try WorkLog.warmUp()
        factory = temporary.factory
    }

    // MARK: Finding properties

    struct Order: ArchiveCodable {
        var primaryKey = "order"
        var buyer: User
        var seller: User?
        var carrier: User??
    }

    @Test func propertiesAndOptionalPropertiesAreRecorded() throws {
        let orders = try factory.store(for: Order.self)

        try orders.record(Order(buyer: User(name: "ann"), seller: nil, carrier: .some(nil)))
        #expect(try factory.store(for: User.self).keys() == ["ann"])

        try orders.record(
            Order(buyer: User(name: "ann"), seller: User(name: "bob"), carrier: User(name: "cleo"))
        )
        #expect(try Set(factory.store(for: User.self).keys()) == ["ann", "bob", "cleo"])
    }

    struct Chain: ArchiveCodable {
        var primaryKey = "chain"
        var order: Order
    }

    @Test func propertiesOfPropertiesAreRecorded() throws {
        try factory.store(for: Chain.self).record(Chain(order: Order(buyer: User(name: "ann"))))

        #expect(try factory.store(for: Order.self).count() == 1)
        #expect(try factory.store(for: User.self).count() == 1)
    }

    enum Message: ArchiveCodable {
        case empty
        case from(User)
        var primaryKey: String { "message" }
    }

    @Test func associatedValuesOfEnumsAreRecorded() throws {
        let messages = try factory.store(for: Message.self)

        try messages.record(.empty)
        try messages.record(.from(User(name: "ann")))

        #expect(try factory.store(for: User.self).keys() == ["ann"])
    }

    struct Crate: Archivable {
        var primaryKey = "crate"
        var content: (any Archivable)?
        func archive() throws -> Data { Data() }
        static func deArchive(fromData data: Data) throws -> any Archivable { Crate() }
    }

    @Test func aPropertyOfAnyArchivableTypeIsRecorded() throws {
        let crates = try factory.store(for: Crate.self)

        try crates.record(Crate())
        try crates.record(Crate(content: User(name: "ann")))

        #expect(try factory.store(for: User.self).keys() == ["ann"])
    }

    protocol Named {}

    struct Badge: Archivable {
        var primaryKey = "badge"
        var owner: any Named
        func archive() throws -> Data { Data() }
        static func deArchive(fromData data: Data) throws -> any Archivable {
            Badge(owner: Nobody())
        }
    }

    struct Nobody: Named {}

    struct Employee: ArchiveCodable, Named {
        var primaryKey: String
    }

    @Test func aPropertyOfAProtocolTypeIsRecordedIfItsValueIsArchivable() throws {
        let badges = try factory.store(for: Badge.self)

        try badges.record(Badge(owner: Nobody()))
        try badges.record(Badge(owner: Employee(primaryKey: "ann")))

        #expect(try factory.store(for: Employee.self).keys() == ["ann"])
    }

    // MARK: Recording properties

    @Test func aPropertyThatCannotBeEncodedRollsBackTheRecord() throws {
        let crates = try factory.store(for: Crate.self)

        let error = #expect(throws: VellumError.self) {
            try crates.record(contentsOf: [
                Crate(primaryKey: "a"), Crate(primaryKey: "b", content: Parcel.refusing("c")),
            ])
        }

        #expect(error?.code == .notEncodable)
        #expect(try crates.count() == 0)
        #expect(try factory.store(for: Parcel.self).count() == 0)
    }

    @Test func aPropertyOfAnUnnamedTypeRollsBackTheRecord() throws {
        struct Local: ArchiveCodable {
            var primaryKey = "local"
        }
        let crates = try factory.store(for: Crate.self)

        let error = #expect(throws: VellumError.self) { try crates.record(Crate(content: Local())) }

        #expect(error?.code == .unnamedArchive)
        #expect(try crates.count() == 0)
    }

    @Test func aTransactionRecordsProperties() throws {
        let crates = try factory.store(for: Crate.self)

        try factory.transaction { try $0.record(Crate(content: User(name: "ann")), in: crates) }

        #expect(try factory.store(for: User.self).count() == 1)
    }

    @Test func aPropertyIsEncodedOnce() throws {
        let key = UUID().uuidString

        try factory.store(for: Crate.self).record(Crate(content: CountedStruct(primaryKey: key)))

        #expect(WorkLog.shared.of(key) == .init(encodes: 1, decodes: 0))
    }

    @Test func memoryKeepsAnObjectThatWasFirstRecordedAsAProperty() throws {
        let key = UUID().uuidString
        try factory.store(for: Crate.self).record(Crate(content: CountedStruct(primaryKey: key)))

        let store: ArchiveStore<CountedStruct> = try factory.store()
        for _ in 0..<3 { _ = try store.access(archiveWithKey: key) }

        // Memory got its bytes before its static type was known to be Sendable. It is decoded once,
        // and then memory keeps the value.
        #expect(WorkLog.shared.of(key) == .init(encodes: 1, decodes: 1))
    }

    @Test func recordingAPropertyFirstDoesNotDetermineTheLimits() throws {
        try factory.store(for: Crate.self).record(Crate(content: User(name: "ann")))

        let users = try factory.store(
            for: User.self,
            memoryLimit: 10.kiloByte,
            diskLimit: 20.kiloByte
        )

        #expect(users.limits == StorageLimits(memory: 10.kiloByte, disk: 20.kiloByte))
        #expect(try users.keys() == ["ann"])
    }

    @Test func insertIfNotPresentKeepsTheExistingObjectIfTheNewOneFitsOnlyInMemory() throws {
        let parcels = try factory.store(for: Parcel.self, memoryLimit: 1000, diskLimit: 300)
        try parcels.record(Parcel("a", size: 100))

        try factory.store(for: Crate.self).record(Crate(content: Parcel("a", size: 400)))

        #expect(try parcels.access(archiveWithKey: "a") == Parcel("a", size: 100))
        parcels.trimMemory(to: .zero)
        #expect(try parcels.access(archiveWithKey: "a") == Parcel("a", size: 100))
    }
}
