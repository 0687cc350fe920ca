import Foundation
import TestThreads
import Testing
import Vellum

/// Each write encodes once, and each hit decodes at most once. (C1)
@Suite(.ownThreads)
struct ArchiveStoreWorkTests {
    let temporary = TemporaryArchives()
    let key = UUID().uuidString

    init() throws { try WorkLog.warmUp() }

    private var work: WorkLog.Work { WorkLog.shared.of(key) }

    @Test func recordingEncodesOnce() throws {
        let structs = try temporary.factory.store(for: CountedStruct.self)

        try structs.record(CountedStruct(primaryKey: key))
        #expect(work == .init(encodes: 1, decodes: 0))

        try structs.record(contentsOf: [CountedStruct(primaryKey: key)])
        #expect(work == .init(encodes: 2, decodes: 0))

        try temporary.factory.transaction {
            try $0.record(CountedStruct(primaryKey: key), in: structs)
        }
        #expect(work == .init(encodes: 3, decodes: 0))

        try temporary.factory.archives(for: CountedStruct.self).update(
            CountedStruct(primaryKey: key)
        )
        #expect(work == .init(encodes: 4, decodes: 0))
    }

    @Test func aStructIsDecodedForDiskHitsAndNotForMemoryHits() throws {
        let structs = try temporary.factory.store(for: CountedStruct.self)
        try structs.record(CountedStruct(primaryKey: key))

        _ = try structs.access(archiveWithKey: key)
        _ = try structs.accessAll()
        #expect(work == .init(encodes: 1, decodes: 0))

        structs.trimMemory(to: .zero)
        _ = try structs.access(archiveWithKey: key)
        #expect(work == .init(encodes: 1, decodes: 1))

        _ = try structs.access(archiveWithKey: key)
        _ = try structs.accessAll()
        #expect(work == .init(encodes: 1, decodes: 1))
    }

    @Test func aClassIsDecodedForEachMemoryHit() throws {
        let classes = try temporary.factory.store(for: CountedClass.self)
        try classes.record(CountedClass(key))

        for _ in 0..<3 { _ = try classes.access(archiveWithKey: key) }

        #expect(work == .init(encodes: 1, decodes: 3))
        #expect(try classes.statistics().memoryHits == 3)
        #expect(try classes.statistics().diskHits == 0)
    }

    @Test func aSendableClassIsDecodedForEachHit() throws {
        let classes = try temporary.factory.store(for: CountedSendableClass.self)
        try classes.record(CountedSendableClass(key))

        let (first, second) = (
            try classes.access(archiveWithKey: key), try classes.access(archiveWithKey: key)
        )

        #expect(first !== second)
        #expect(work == .init(encodes: 1, decodes: 2))
    }

    @Test func aNonSendableStructIsDecodedForEachHit() throws {
        let structs = try temporary.factory.store(for: CountedUnsendable.self)
        try structs.record(CountedUnsendable(note: Note(key)))

        for _ in 0..<3 { _ = try structs.access(archiveWithKey: key) }
        #expect(work == .init(encodes: 1, decodes: 3))
        #expect(try structs.statistics().diskHits == 0)

        structs.trimMemory(to: .zero)
        _ = try structs.access(archiveWithKey: key)
        #expect(work == .init(encodes: 1, decodes: 4))
    }

    @Test func containsAndMetadataDecodeNothing() throws {
        let classes = try temporary.factory.store(for: CountedClass.self)
        try classes.record(CountedClass(key))
        classes.trimMemory(to: .zero)

        _ = try classes.contains(archiveWithKey: key)
        _ = try classes.metadata(forKey: key)
        _ = try classes.keys()
        _ = try classes.count()
        _ = try classes.statistics()
        try classes.delete(archiveWithKey: key)

        #expect(work == .init(encodes: 1, decodes: 0))
    }

    @Test func aMissDecodesNothing() throws {
        let structs = try temporary.factory.store(for: CountedStruct.self)

        #expect(try structs.access(archiveWithKey: key) == nil)
        #expect(work == .init())
    }
}
