import Foundation
import Testing
import VellumCore
import VellumEngine
import VellumTestSupport

/// C11: permissions do not prevent root from writing, but a read-only volume does.
@Suite(.timeLimit(.minutes(60)))
struct ReadOnlyVolumeTests {
    private func open(_ volume: SmallVolume) throws -> Store<Data> {
        try DatabaseFile.open(at: volume.file("Archives.sqlite"))
            .store(named: "data", codec: IdentityCodec(), memory: Capacity(1.byte), disk: .unlimited)
    }

    @Test func aReadOnlyVolumeIsReportedAndLosesNothing() throws {
        guard let volume = try SmallVolume(megabytes: 4) else { return }
        do {
            let store = try open(volume)
            for number in 0..<50 { try store.record(Data(repeating: 1, count: 1000), forKey: EntryKey("\(number)")) }
            try DatabaseFile.open(at: volume.file("Archives.sqlite")).close()
        }
        #expect(volume.allowWriting(false, megabytes: 4))
        let before = try FileManager.default.contentsOfDirectory(atPath: volume.url.path)
        do {
            let store = try open(volume)
            #expect(try store.value(forKey: "7") == Data(repeating: 1, count: 1000))
            let error = #expect(throws: VellumError.self) { try store.record(Data(count: 10), forKey: "x") }
            #expect(error?.code == .readOnly)
        } catch let error as VellumError {
            #expect([.readOnly, .cannotOpen].contains(error.code), "\(String(reflecting: error))")
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: volume.url.path) == before)
        #expect(volume.allowWriting(true, megabytes: 4))
        let store = try open(volume)
        #expect(try store.count() == 50)
        try store.record(Data(count: 10), forKey: "x")
        #expect(try store.value(forKey: "x") == Data(count: 10))
    }

    @Test func aNewArchiveOnAReadOnlyVolumeIsAnError() throws {
        guard let volume = try SmallVolume(megabytes: 4) else { return }
        #expect(volume.allowWriting(false, megabytes: 4))
        let error = #expect(throws: VellumError.self) { try DatabaseFile.open(at: volume.file("Archives.sqlite")) }
        #expect(error?.code == .cannotOpen)
        #expect(volume.allowWriting(true, megabytes: 4))
        #expect(try open(volume).count() == 0)
    }
}
