import Foundation
import TestThreads
import Testing
import Vellum

/// Names and habits of Vellum 1.x that its documents do not show. `Names.md` lists them all.
@Suite(.ownThreads)
struct VellumReturnedNameTests {
    struct User: ArchiveCodable, Equatable {
        var primaryKey: String { userName }
        var userName: String
        var age = 0
        var nickname: String?
    }

    /// An archivist that clients wrote for version 1.
    final class UserList: Archivist {
        var users: [User] = []
        var maxSize: DataSize { 1.megaBytes }
        var currentSize: DataSize { DataSize(bytes: users.count) }

        func latestAccessedTime(for key: String) -> Date? { nil }
        func deleteAllInvalidateArchives(invalidateTimeInterval: TimeInterval) { users = [] }
        func record(_ object: User) { users.append(object) }
        func access(archiveWithKey key: String) -> User? { users.first { $0.primaryKey == key } }
        func accessAll(limitedBy limit: Int) -> [User] { Array(users.prefix(limit)) }
        func accessAll() -> [User] { users }
        func delete(archiveWithKey key: String) { users.removeAll { $0.primaryKey == key } }
        func deleteAll() { users = [] }

        @available(*, deprecated)
        func process(queries: [Query<User>]) -> [User] {
            var results = users
            for query in queries { results = query.process(results: results) }
            return results
        }
    }

    let temporary = TemporaryArchives()
    let archives: ArchiveManager<User>

    init() throws {
        archives = try temporary.factory.archives()
        archives.insert(
            User(userName: "one", age: 1),
            User(userName: "two", age: 2, nickname: "b"),
            User(userName: "three", age: 3)
        )
    }

    // MARK: Finders, sorters and builders are objects

    @Test(arguments: [nil, 2])
    func conditionsCanBeAddedToAFinderOneByOne(_ atMost: Int?) {
        let users = archives.findWhere { finder in
            _ = finder.age(.greater(than: 1))
            if let atMost { _ = finder.age(.lessOrEqual(with: atMost)) }
            return finder
        }
        .getResults()

        #expect(users.map(\.userName) == (atMost == nil ? ["two", "three"] : ["two"]))
    }

    @Test func propertiesCanBeAddedToASorterOneByOne() {
        let users = archives.sorted { sorter in
            _ = sorter.age(.descending)
            return sorter
        }
        .getResults()

        #expect(users.map(\.age) == [3, 2, 1])
    }

    @Test func aBuilderThatIsKeptHasTheStepsThatAreAddedToIt() {
        let builder = archives.findWhere { $0.age(.greater(than: 1)) }
        #expect(builder.getResults().count == 2)

        _ = builder.sorted { $0.age(.descending) }
        #expect(builder.firstResult()?.userName == "three")
        // Asking for the first result adds no step.
        #expect(builder.getResults().map(\.age) == [3, 2])

        _ = builder.limitResults(by: 1)
        #expect(builder.getResults().map(\.age) == [3])
        #expect(builder.lastResult()?.age == 3)
    }

    @Test func theTypesOfClosuresHaveNames() {
        let older: (QueryFinder<User>) -> QueryFinder<User>.QueryProperty<Int> = { $0.age }
        let byAge: (QuerySorter<User>) -> QuerySorter<User>.Sorter = { $0.age }
        let compare: QuerySorter<User>.Comparator = { left, right -> QueryCompareResult in
            left.age == right.age
                ? .leftEqualWithRight
                : left.age < right.age ? .leftLessThanRight : .leftGreaterThanRight
        }
        let direction = QuerySortDirection.descending
        let builder: QueryBuilder<ArchiveManager<User>> = archives.findWhere {
            older($0)(.greater(than: 1))
        }
        let all: [QueryBuilder<ArchiveManager<User>>.Result] = builder.sorted {
            byAge($0)(.ascending)
        }.getResults()

        #expect(all.map(\.age) == [2, 3])
        #expect(
            archives.sorted { $0.manual(direction: direction, by: compare) }.getResults().map(\.age)
                == [3, 2, 1]
        )
    }

    // MARK: Queries of other archivists

    @available(*, deprecated)
    @Test func anArchivistOfOnesOwnProcessesQueriesStepByStep() {
        let list = UserList()
        list.insert(all: archives.accessAll())

        let users = list.findWhere { $0.age(.greaterOrEqual(with: 2)) }.sorted {
            $0.age(.descending)
        }.limitResults(by: 1).getResults()

        #expect(users.map(\.userName) == ["three"])
        list.update(User(userName: "two", age: 9))
        list.delete(keys: "one", "three")
        #expect(list.latestAccessedTime(for: list.users[0]) == nil)
    }

    // MARK: Nil

    @available(*, deprecated)
    @Test func aPropertyThatIsNotOptionalIsNeverNil() {
        #expect(archives.findWhere { $0.userName(.isNil()) }.getResults().isEmpty)
        #expect(archives.findWhere { $0.age(.isNotNil()) }.getResults().count == 3)
        #expect(archives.findWhere { $0.nickname(.isNil()) }.getResults().count == 2)
        #expect(
            archives.findWhere { $0.nickname(.isNotNil()) }.getResults().map(\.userName) == ["two"]
        )
    }

    // MARK: Sizes

    @Test func sizesHaveWholeNumbersOfBits() {
        let bits: Int = 3.bytes.bits
        let nibbles: Int = 3.bytes.nibbles
        #expect((bits, nibbles) == (24, 6))
        #expect(DataSize.unlimited.bits == .max)
        #expect(DataSize.unlimited.nibbles == .max)
        #expect(max(1.kiloBytes, 2.bytes) == 1.kiloBytes)
        #expect(min(1.kiloBytes, 2.bytes) == 2.bytes)
    }

    @Test func theDefaultsOfAFactoryCanBeSet() throws {
        let factory = temporary.factory
        factory.defaultMaxMemorySize = 3.megaBytes
        factory.defaultMaxDiskSize = 5.megaBytes

        #expect(try factory.archives(for: Parcel.self).maxSize == 8.megaBytes)
        #expect(archives.maxSize == 3.megaBytes)
    }

    @Test func aSizeOfZeroStandsForTheDefault() throws {
        let archives = try temporary.factory.archives(
            for: Parcel.self,
            trySetMaxMemorySize: .zero,
            trySetMaxDiskSize: 0
        )
        #expect(archives.maxSize == 3.megaBytes)
    }

    // MARK: Property wrapper

    struct Settings {
        @Archived var user: User? = User(userName: "initial")
        @Archived var other: User?

        func forget() { user = nil }
    }

    struct Choice {
        @Archived var user: User?
    }

    @Test func anInitialValueIsRecorded() throws {
        let shared = try ArchivesFactory.shared.archives(for: User.self)
        defer { shared.delete(archiveWithKey: "initial") }

        let settings = Settings()

        #expect(settings.user?.userName == "initial")
        #expect(settings.other == nil)
        #expect(shared.access(archiveWithKey: "initial") != nil)
        settings.forget()
        #expect(settings.user == nil)
        #expect(shared.access(archiveWithKey: "initial") == nil)
    }

    @Test func copiesShareTheObject() throws {
        let shared = try ArchivesFactory.shared.archives(for: User.self)
        defer { shared.delete(archiveWithKey: "copied") }

        let choice = Choice()
        let copy = choice
        copy.user = User(userName: "copied")

        #expect(choice.user?.userName == "copied")
    }

    // MARK: Methods of every object

    @available(*, deprecated)
    @Test func anObjectRecordsAndFindsItself() throws {
        let user = User(userName: "self", age: 7)
        user.updateArchive()
        let shared = try ArchivesFactory.shared.archives(for: User.self)
        defer { shared.delete(archiveWithKey: "self") }

        #expect(shared.access(archiveWithKey: "self") == user)
        #expect(User(userName: "self").archivedVersion() == user)
        #expect(User(userName: "nobody").archivedVersion() == nil)
        let object: any Archivable = user
        object.updateArchive()
    }

    struct Team: ArchiveCodable {
        var primaryKey = "team"
        var captain: User
    }

    @available(*, deprecated)
    @Test func anObjectRecordsItsProperties() throws {
        let shared = try ArchivesFactory.shared.archives(for: User.self)
        defer { shared.delete(keys: "captain", "second") }

        Team(captain: User(userName: "captain")).archiveArchivablePropertiesIfNeeded()
        Team(captain: User(userName: "second")).archiveArchivableProperties()

        #expect(shared.access(archiveWithKey: "captain") != nil)
        #expect(shared.access(archiveWithKey: "second") != nil)
    }

    class Page: Archivable {
        var primaryKey: String { title }
        var title = ""

        func archive() throws -> Data { Data(title.utf8) }

        static func deArchive(fromData data: Data) throws -> Archivable {
            let page = Page()
            page.title = String(decoding: data, as: UTF8.self)
            return page
        }
    }

    @available(*, deprecated)
    @Test func anObjectOfAClassIsCopied() throws {
        let page = Page()
        page.title = "one"
        let copy = page.tryCopy()
        page.title = "two"

        #expect(copy.title == "one")
        #expect(User(userName: "value").tryCopy() == User(userName: "value"))
    }

    @available(*, deprecated)
    @Test func aCodableObjectIsDecodedWithItsType() throws {
        let user = User(userName: "typed", age: 4)

        #expect(try User.decode(codableArchive: user.archiveData()) == user)
    }

    @Test func errorsAreLocalized() {
        let error: any LocalizedError = VellumError.closed
        #expect(error.errorDescription?.isEmpty == false)
        #expect(error.failureReason == nil)
    }

    // MARK: Protocols of clients

    @Test func aFactoryConformsToAProtocolOfAClient() throws {
        let opener: any ArchiveOpener = temporary.factory
        let users = try opener.archives(
            for: User.self,
            trySetMaxMemorySize: .zero,
            trySetMaxDiskSize: .zero
        )
        #expect(users.access(archiveWithKey: "one") != nil)
        let open: (User.Type, DataSize, DataSize) throws -> ArchiveManager<User> = temporary.factory
            .archives(for:trySetMaxMemorySize:trySetMaxDiskSize:)
        #expect(try open(User.self, .zero, .zero).access(archiveWithKey: "two") != nil)
        let archived: Archived<User>.Type = Archived<User>.self
        #expect(archived.init().isThere == false)
    }
}

protocol ArchiveOpener {
    func archives<A: Archivable>(
        for type: A.Type,
        trySetMaxMemorySize: DataSize,
        trySetMaxDiskSize: DataSize
    ) throws -> ArchiveManager<A>
}

extension ArchivesFactory: ArchiveOpener {}

extension Archived where Archive == VellumReturnedNameTests.User {
    var isThere: Bool { wrappedValue != nil }
}
