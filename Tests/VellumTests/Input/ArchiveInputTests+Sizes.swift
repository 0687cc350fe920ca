import Foundation
import MiniCache
import TestThreads
import Testing
import Vellum
import VellumTesting
import VellumCore
import VellumEngine
import VellumTestSupport

extension ArchiveInputTests {
    private static let sizes: [InputCase] = [
        InputCase(
            "ArchivesFactory.store memoryLimit",
            "ArchivesFactory.store diskLimit",
            "ArchiveManager.init maxMemorySize",
            "ArchiveManager.init maxDiskSize",
            "ArchivesFactory.init defaultMaxMemorySize",
            "ArchivesFactory.init defaultMaxDiskSize",
            "ArchivesFactory.defaultMaxMemorySize",
            "ArchivesFactory.defaultMaxDiskSize",
            of: HostileInput.sizes,
            throwing: HostileInput.isValid
        ) { size in
            try inFolder { folder in
                let opened: [() throws -> Void] = [
                    {
                        _ = try ArchivesFactory(directory: folder).store(
                            for: Item.self,
                            memoryLimit: size
                        )
                    },
                    {
                        _ = try ArchivesFactory(directory: folder).store(
                            for: Item.self,
                            diskLimit: size
                        )
                    },
                    {
                        _ = try ArchivesFactory(directory: folder, defaultMaxMemorySize: size)
                            .store(for: Item.self)
                    },
                    {
                        _ = try ArchivesFactory(directory: folder, defaultMaxDiskSize: size).store(
                            for: Item.self
                        )
                    },
                    {
                        let factory = ArchivesFactory(directory: folder)
                        (factory.defaultMaxMemorySize, factory.defaultMaxDiskSize) = (size, size)
                        _ = try factory.store(for: Item.self)
                    },
                    // In the archives of the program: nothing may be left there.
                    {
                        if HostileInput.isValid(size) != nil {
                            _ = try ArchiveManager<Item>(maxMemorySize: size, maxDiskSize: size)
                        }
                    },
                ]
                var errors: [any Error] = []
                for open in opened { do { try open() } catch { errors.append(error) } }
                try expect(errors.isEmpty || errors.count == opened.count, "\(errors)")
                if let error = errors.first { throw error }
            }
        },
        InputCase(
            "ArchivesFactory.archives trySetMaxMemorySize",
            "ArchivesFactory.archives trySetMaxDiskSize",
            "Archived.init memoryLimit",
            "Archived.init diskLimit",
            "ArchiveStore.trimMemory to",
            of: HostileInput.sizes
        ) { size in
            // Zero or less stood for the default in version 1.
            let factory = ArchivesFactory.inMemory()
            let manager: ArchiveManager<Item> = try factory.archives(
                trySetMaxMemorySize: size,
                trySetMaxDiskSize: size
            )
            manager.record(Item(id: "a"))
            try expect(manager.access(archiveWithKey: "a") != nil || size.bytes == 1, "archives")
            manager.store.trimMemory(to: size)
            let archived = Archived<Other>(
                initialPrimaryKey: "other",
                memoryLimit: size,
                diskLimit: size,
                in: factory
            )
            archived.wrappedValue = Other()
            _ = archived.wrappedValue
        },
    ]

    static let names: [InputCase] = [
        InputCase(
            "ArchiveStore.access archiveWithKey",
            "ArchiveStore.contains archiveWithKey",
            "ArchiveStore.delete archiveWithKey",
            "ArchiveStore.metadata forKey",
            "ArchiveStore.encodedData forKey",
            "ArchiveStore.cborValue forKey",
            "ArchiveStore.keys prefix",
            "ArchiveStore.deleteAll prefix",
            "ArchiveManager.access archiveWithKey",
            "ArchiveManager.delete archiveWithKey",
            "ArchiveManager.delete allKeys",
            "ArchiveManager.latestAccessedTime for",
            "ArchiveTransaction.access archiveWithKey",
            "ArchiveTransaction.delete archiveWithKey",
            "Archivist.access archiveWithKey",
            "Archivist.delete archiveWithKey",
            "Archivist.delete allKeys",
            "Archivist.latestAccessedTime for",
            "Archived.init initialPrimaryKey",
            of: HostileInput.names
        ) { key in
            let store = try store()
            _ = (
                try store.access(archiveWithKey: key), try store.contains(archiveWithKey: key),
                try store.metadata(forKey: key)
            )
            _ = (
                try store.encodedData(forKey: key), try store.cborValue(forKey: key),
                try store.keys(prefix: key)
            )
            let manager: ArchiveManager<Item> = try store.factory.archives()
            _ = (manager.access(archiveWithKey: key), manager.latestAccessedTime(for: key))
            manager.delete(allKeys: [key])
            manager.delete(archiveWithKey: key)
            try store.transaction {
                _ = try $0.access(archiveWithKey: key, in: store)
                $0.delete(archiveWithKey: key, in: store)
            }
            _ = Archived<Item>(initialPrimaryKey: key, in: store.factory).wrappedValue
            try store.delete(archiveWithKey: key)
            try store.deleteAll(prefix: key)
        },
        InputCase(
            "ArchiveStore.update archiveWithKey",
            "ArchiveStore.value forKey",
            "ArchiveStore.load _",
            "ArchiveStore.observe archiveWithKey",
            of: HostileInput.names,
            throwing: HostileInput.isValid
        ) { key in
            let store = try store()
            for try await found in store.observe(archiveWithKey: key) {
                try expect(found == nil, "observe")
                break
            }
            try expect(
                try await store.value(forKey: key) { Item(id: key) } == Item(id: key),
                "value"
            )
            try store.update(archiveWithKey: key) { $0 = Item(id: key) }
            try expect(store.access(archiveWithKey: key) == Item(id: key), "access")
        },
        InputCase("ArchivesFactory.drop archiveNamed", of: HostileInput.names) { name in
            try expect(try !store().factory.drop(archiveNamed: name), "drop")
        },
    ]

    private static let urls: [InputCase] = [
        InputCase(
            "ArchivesFactory.init directory",
            of: ["a\0b", "/dev/null/a", "/proc/a", "x/" + String(repeating: "n", count: 300)],
            throwing: { $0 == "a\0b" ? nil : .cannotOpen }
        ) { path in
            try inFolder { folder in
                let url = URL(
                    fileURLWithPath: path,
                    isDirectory: true,
                    relativeTo: path.hasPrefix("/") ? nil : folder
                )
                _ = try ArchivesFactory(directory: url).store(for: Item.self)
            }
        },
        InputCase(
            "ArchivesFactory.init directory",
            of: ["https://example.com/a", "data:,", "a"],
            throwing: { _ in .cannotOpen }
        ) { text in
            guard let url = URL(string: text) else { return }
            _ = try ArchivesFactory(directory: url).store(for: Item.self)
        },
    ]

    static let table = counts + queries + durations + sizes + names + urls

    @Test(arguments: table) func aParameterTakesAnyValue(_ row: InputCase) async {
        let problems = await row.problems()
        #expect(problems.isEmpty, "\(problems.joined(separator: "\n"))")
    }
}
