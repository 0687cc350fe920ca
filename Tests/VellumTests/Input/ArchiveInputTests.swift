import Foundation
import MiniCache
import TestThreads
import Testing
import Vellum
import VellumTesting
import VellumCore
import VellumEngine
import VellumTestSupport

/// FN10: the rows of the table of parameters that archives have.
@Suite(.ownThreads)
struct ArchiveInputTests {
    struct Item: ArchiveCodable, IndexedArchivable, Sendable, Equatable {
        var id: String
        var primaryKey: String { id }
        static var archiveName: String { "Items" }
        static var archiveIndexes: [ArchiveIndex<Item>] { [.index(\.id)] }
    }

    struct Other: ArchiveCodable, Sendable {
        var primaryKey: String { "other" }
        static var archiveName: String { "Others" }
    }

    static func store() throws -> ArchiveStore<Item> {
        let store = try ArchivesFactory.inMemory().store(for: Item.self, diskLimit: .unlimited)
        try store.record(contentsOf: ["a", "b", "c"].map { Item(id: $0) })
        return store
    }

    static func folder() -> URL {
        FileManager.default.temporaryDirectory.appendingPathComponent(
            "VellumTests-\(UUID().uuidString)",
            isDirectory: true
        )
    }

    static func inFolder(_ body: (URL) throws -> Void) throws {
        let folder = folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        try body(folder)
    }

    static func expect(_ isTrue: Bool, _ what: String) throws {
        guard isTrue else { throw VellumError(.failedQuery, what) }
    }

    static let counts: [InputCase] = [
        InputCase(
            "ArchiveStore.keys limit",
            "ArchiveStore.accessAll limit",
            "ArchiveManager.accessAll limitedBy",
            "Archivist.accessAll limitedBy",
            of: HostileInput.counts
        ) { limit in
            let (store, expected) = (try store(), min(3, max(0, limit)))
            try expect(store.keys(limit: limit).count == expected, "keys")
            try expect(store.keys(prefix: "", limit: limit).count == expected, "keys of a prefix")
            try expect(store.accessAll(limit: limit).count == expected, "accessAll")
            let manager: ArchiveManager<Item> = try store.factory.archives()
            try expect(
                manager.accessAll(limitedBy: limit).count == expected,
                "accessAll(limitedBy:)"
            )
        },
        InputCase(
            "ArchiveStore.fetch limit",
            "ArchiveStore.stream limit",
            "ArchiveStore.explain limit",
            of: HostileInput.counts,
            throwing: { $0 < 0 ? .invalidQuery : nil }
        ) { limit in
            let (store, expected) = (try store(), min(3, max(0, limit)))
            try expect(store.fetch(limit: limit).count == expected, "fetch")
            _ = try store.explain(limit: limit)
            var streamed = 0
            for try await _ in store.stream(limit: limit) { streamed += 1 }
            try expect(streamed == expected, "stream")
        },
        InputCase(
            "ArchiveStore.fetch offset",
            "ArchiveStore.stream offset",
            "ArchiveStore.explain offset",
            of: HostileInput.counts,
            throwing: { $0 < 0 ? .invalidQuery : nil }
        ) { offset in
            let (store, expected) = (try store(), 3 - min(3, max(0, offset)))
            try expect(store.fetch(offset: offset).count == expected, "fetch")
            try expect(
                store.fetch(sortedBy: [SortDescriptor(\.id)], limit: .max, offset: offset).count
                    == expected,
                "a window"
            )
            _ = try store.explain(offset: offset)
            var streamed = 0
            for try await _ in store.stream(offset: offset) { streamed += 1 }
            try expect(streamed == expected, "stream")
        },
        InputCase(
            "ArchiveStore.observe limit",
            of: HostileInput.counts,
            throwing: { $0 < 0 ? .invalidQuery : nil }
        ) { limit in
            for try await found in try store().observe(limit: limit) {
                return try expect(found.count == min(3, max(0, limit)), "observe")
            }
        },
        InputCase(
            "Archivist.limitResults by",
            "Query.limitResults by",
            "QueryBuilder.limitResults by",
            "QueryLimiter.init limit",
            of: HostileInput.counts
        ) { limit in
            // Methods that do not throw report it: nothing is found.
            let manager: ArchiveManager<Item> = try store().factory.archives()
            let expected = min(3, max(0, limit))
            try expect(
                manager.limitResults(by: limit).getResults().count == expected,
                "limitResults"
            )
            try expect(
                manager.process(queries: [.limitResults(by: limit)]).count == expected,
                "process"
            )
            try expect(
                manager.process(queries: [Query(QueryLimiter(limit: limit))]).count == expected,
                "QueryLimiter"
            )
            try expect(
                manager.limitResults(by: .max).limitResults(by: limit).getResults().count
                    == expected,
                "QueryBuilder"
            )
        },
    ]

    static let queries: [InputCase] = [
        InputCase(
            "QueryValidator.countEqual with",
            "QueryValidator.countGreater than",
            "QueryValidator.countGreaterOrEqual with",
            "QueryValidator.countLess than",
            "QueryValidator.countLessOrEqual with",
            "ArchiveResults.init limit",
            of: HostileInput.counts
        ) { count in
            let store = try store()
            let manager: ArchiveManager<Item> = try store.factory.archives()
            let tests: [(QueryValidator<Item, String>, Bool)] = [
                (.countEqual(with: count), 1 == count), (.countGreater(than: count), 1 > count),
                (.countGreaterOrEqual(with: count), 1 >= count),
                (.countLess(than: count), 1 < count),
                (.countLessOrEqual(with: count), 1 <= count),
            ]
            for (test, isTrue) in tests {
                try expect(
                    manager.findWhere { $0.id(test) }.getResults().count == (isTrue ? 3 : 0),
                    "\(count)"
                )
            }
            await MainActor.run { ArchiveResults(store, limit: count).stop() }
        },
        InputCase(
            "QueryValidator.contains _",
            "QueryValidator.contains string",
            "QueryValidator.matches regex",
            "ArchiveResult.init archiveWithKey",
            of: HostileInput.names + ["[", "(?<", "\\", "(a*)*"]
        ) { text in
            let store = try store()
            let manager: ArchiveManager<Item> = try store.factory.archives()
            // An expression that is none is reported, and nothing is found.
            for test in [
                QueryValidator<Item, String>.contains(text),
                .contains(string: text, caseSensitive: false), .matches(regex: text),
            ] {
                _ = manager.findWhere { $0.id(test) }.getResults()
            }
            await MainActor.run { ArchiveResult(store, archiveWithKey: text).stop() }
        },
        InputCase("ArchiveIndex.index named", "ArchiveIndex.each named", of: HostileInput.names) {
            name in
            struct Tagged: ArchiveCodable, IndexedArchivable {
                var primaryKey = "a"
                var tags = ["b"]
                static var archiveName: String { "Tagged" }
                static var archiveIndexes: [ArchiveIndex<Tagged>] {
                    [.index(\.primaryKey, named: name()), .each(\.tags, named: name() + "s")]
                }
                static let current = Locked("")
                static func name() -> String { current.withLock { $0 } }
            }
            Tagged.current.withLock { $0 = name }
            let store = try ArchivesFactory.inMemory().store(for: Tagged.self)
            try store.record(Tagged())
            try expect(store.count(where: #Predicate { $0.primaryKey == "a" }) == 1, name)
        },
    ]

    static let durations: [InputCase] = [
        InputCase(
            "ArchiveStore.record expiration",
            "ArchiveStore.recordIfAbsent expiration",
            "ArchiveStore.update expiration",
            "ArchivesFactory.store expiration",
            "ArchivesFactory.archives expiration",
            of: HostileInput.seconds,
            throwing: HostileInput.isValid
        ) { seconds in
            let (age, clock) = (Expiration.after(seconds: seconds), TestClock())
            let store = try ArchivesFactory.inMemory(clock: clock.wallClock).store(for: Item.self)
            var errors: [any Error] = []
            let writes: [(Item) throws -> Void] = [
                { try store.record($0, expiration: age) },
                { try store.record(contentsOf: [$0], expiration: age) },
                { _ = try store.recordIfAbsent($0, expiration: age) },
                { item in try store.update(archiveWithKey: item.id, expiration: age) { $0 = item }
                },
                { _ = try store.factory.store(for: Item.self, expiration: age).record($0) },
                {
                    let manager: ArchiveManager<Item> = try store.factory.archives(expiration: age);
                    manager.record($0)
                },
            ]
            for (number, write) in writes.enumerated() {
                do {
                    try write(Item(id: "\(number)"))
                    let isThere = try store.access(archiveWithKey: "\(number)") != nil
                    try expect(isThere == (seconds > 0), "write \(number)")
                } catch { errors.append(error) }
            }
            try expect(
                errors.isEmpty || errors.count == writes.count,
                "\(errors.count) errors: \(errors)"
            )
            try expect(store.keys().isEmpty || seconds > 0, "Something is there.")
            if let error = errors.first { throw error }
        },
        InputCase(
            "ArchiveStore.value staleWhileRevalidate",
            "ArchiveStore.value staleIfError",
            "ArchiveStore.load staleWhileRevalidate",
            "ArchiveStore.load staleIfError",
            "LoadOptions.init negativeMaxAge",
            "LoadOptions.init errorMaxAge",
            "LoadOptions.init softTimeout",
            "LoadOptions.negativeMaxAge",
            "LoadOptions.errorMaxAge",
            "LoadOptions.softTimeout",
            "LoadResult.value maxAge",
            "LoadResult.unchanged maxAge",
            "LoadResult.none maxAge",
            of: HostileInput.durations
        ) { duration in
            let store = try store()
            let options = LoadOptions(
                negativeMaxAge: duration,
                errorMaxAge: duration,
                softTimeout: duration
            )
            for key in ["a", "new"] {
                let item = try await store.value(
                    forKey: key,
                    staleWhileRevalidate: duration,
                    staleIfError: duration,
                    options: options
                ) { Item(id: key) }
                try expect(item.id == key, "value")
            }
            let results: [LoadResult<Item>] = [
                .value(Item(id: "x"), maxAge: duration), .unchanged(maxAge: duration),
                .none(maxAge: duration),
            ]
            for result in results {
                try store.record(Item(id: "x"), expiration: .after(.zero))
                do {
                    let loaded = try await store.load("x", options: options) { _ in result }
                    try expect(
                        (loaded.value == nil) == (result == .none(maxAge: duration)),
                        "\(result)"
                    )
                    // The expired one was reclaimed.
                } catch let error as VellumError where error.code == .nothingUnchanged {}
            }
        },
        InputCase("ArchivesFactory.migrates", of: HostileInput.durations) { delay in
            let factory = ArchivesFactory.inMemory()
            factory.migrates = .after(delay)
            try factory.store(for: Item.self).record(Item(id: "a"))
            try expect(factory.store(for: Item.self).count() == 1, "\(delay)")
        },
        InputCase(
            "ArchivesFactory.check timeout",
            "MiniCacheManager.check timeout",
            of: HostileInput.durations
        ) { timeout in
            let (archives, caches) = (ArchivesFactory.inMemory(), MiniCacheManager.inMemory())
            // A maintenance of the file may keep the lock for a moment.
            func expectHealth(_ what: String, _ check: () throws -> FileHealth) throws {
                var health = try check()
                while health.writeFailure?.code == .busy { health = try check() }
                try expect(health.isHealthy, what)
            }
            try expectHealth("archives") { try archives.check(timeout: timeout) }
            try expectHealth("caches") { try caches.check(timeout: timeout) }
        },
        InputCase(
            "ArchivesFactory.store keepExpiredFor",
            "ArchivesFactory.archives keepExpiredFor",
            of: HostileInput.durations
        ) { duration in
            let clock = TestClock()
            for isStore in [false, true] {
                let factory = ArchivesFactory.inMemory(clock: clock.wallClock)
                let store: ArchiveStore<Item> =
                    isStore
                    ? try factory.store(keepExpiredFor: duration)
                    : try factory.archives(keepExpiredFor: duration).store
                try store.record(Item(id: "a"), expiration: .after(.seconds(1)))
                clock.advance(bySeconds: 10)
                DatabaseFile.opened(
                    at: factory.directory.appendingPathComponent("Archives.sqlite")
                )?.sweepEverything()
                try expect(store.count() == (duration > .seconds(10) ? 1 : 0), "\(duration)")
            }
        },
        InputCase(
            "LoadOptions.init timeout",
            "LoadOptions.timeout",
            "LoadOptions.init loadTimeout",
            "LoadOptions.loadTimeout",
            of: HostileInput.durations,
            throwing: { $0 <= .zero ? .loadTimedOut : nil }
        ) { duration in
            // A positive one is long enough for a loader that returns.
            let timeout = duration > .zero ? max(duration, .seconds(3600)) : duration
            for options in [LoadOptions(loadTimeout: timeout), LoadOptions(timeout: timeout)] {
                _ = try await store().value(forKey: "new", options: options) {
                    if duration <= .zero { try await Task.sleep(for: .seconds(3600)) }
                    return Item(id: "new")
                }
            }
        },
        InputCase(
            "LoadOptions.init refreshAhead",
            "LoadOptions.refreshAhead",
            "ArchiveStore.value options",
            "ArchiveStore.load options",
            "LoadOptions.init expiration",
            "LoadOptions.expiration",
            of: HostileInput.seconds + [0.5, 1],
            throwing: { $0 > 0 && $0 < 1 ? nil : .invalidDuration }
        ) { part in
            let options = LoadOptions(expiration: .after(.seconds(60)), refreshAhead: part)
            _ = try await store().value(forKey: "new", options: options) { Item(id: "new") }
        },
        InputCase(
            "ArchiveManager.deleteAllInvalidateArchives invalidateTimeInterval",
            "Archivist.deleteAllInvalidateArchives invalidateTimeInterval",
            "ArchiveStore.deleteAll lastUsedBefore",
            of: HostileInput.seconds,
            throwing: HostileInput.isValid
        ) { seconds in
            let clock = TestClock()
            let store = try ArchivesFactory.inMemory(clock: clock.wallClock).store(for: Item.self)
            try store.record(Item(id: "a"))
            clock.advance(bySeconds: 10)
            let manager: ArchiveManager<Item> = try store.factory.archives()
            // A mistake must not delete: it is reported to `failures`.
            manager.deleteAllInvalidateArchives(invalidateTimeInterval: seconds)
            try expect(
                store.count() == (seconds == 0 || seconds == .leastNonzeroMagnitude ? 0 : 1),
                "deleteAllInvalidateArchives"
            )
            try store.record(Item(id: "a"))
            let deleted = try store.deleteAll(lastUsedBefore: Date(timeIntervalSince1970: seconds))
            try expect(deleted == (seconds > 1e10 ? 1 : 0), "deleteAll(lastUsedBefore:)")
        },
    ]
}
