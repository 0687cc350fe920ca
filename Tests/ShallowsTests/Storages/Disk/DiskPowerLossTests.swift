import Foundation
import TestThreads
import Testing
import VellumCore
import VellumEngine
import VellumTestSupport

@testable import Shallows

/// What ``FileSync`` promises, on every disk that may be found when the power is back.
/// `VELLUM_IMAGES=all` looks at many more.
@Suite(.ownThreads(.longSuite))
struct DiskPowerLossTests {
    private static let long = Filename(rawValue: String(repeating: "k", count: 1000))
    private static let keys: [Filename] = ["key", "a/b", long]

    /// A value that is like no other, without a zero in it.
    private static func value(_ number: Int) -> Data {
        Data(repeating: UInt8(number + 1), count: [3, 700, 9000][number % 3])
    }

    /// A write or a removal, and how many operations there were before and after it.
    private struct Step {
        var key: Filename
        var value: Data?
        var begin: Int
        var end: Int
    }

    private static func record(
        _ sync: FileSync
    ) throws -> (operations: [RecordedFiles.Operation], steps: [Step]) {
        let scratch = try Scratch()
        let recorded = RecordedFiles(scratch.url)
        let files = FolderFiles(
            .init(
                folder: scratch.folder.appendingPathComponent("inner"),
                sync: sync,
                fileSystem: recorded.calls
            )
        )
        var steps: [Step] = []
        for number in 0..<14 {
            let (key, begin) = (keys[number % 3], recorded.operations.count)
            let value = number % 5 == 4 ? nil : Self.value(number)
            if let value { try files.write(value, for: key) } else { _ = try files.remove(key) }
            steps.append(Step(key: key, value: value, begin: begin, end: recorded.operations.count))
        }
        return (recorded.operations, steps)
    }

    private static var seeds: Int {
        let isUsual = ProcessInfo.processInfo.environment["VELLUM_IMAGES"] == nil
        return isUsual ? LongRun.number(4, usually: 3) : 150
    }

    /// Everything lost, everything there, and so many mixtures.
    private static func fates(_ seed: Int, keepsAllBytes: Bool) -> RecordedFiles.Fates {
        if seed < 2 {
            return .init(
                keepsName: { seed == 1 },
                keepsBytes: { seed == 1 || keepsAllBytes },
                cuts: { true }
            )
        }
        var random = SeededGenerator(seed: UInt64(seed))
        return .init(
            keepsName: { Bool.random(using: &random) },
            keepsBytes: { keepsAllBytes || Bool.random(using: &random) },
            cuts: { Bool.random(using: &random) }
        )
    }

    private func eachImage(
        _ sync: FileSync,
        keepsAllBytes: Bool = false,
        _ check: (_ key: Filename, Result<Data?, any Error>, _ may: Set<Data?>, String) -> Void
    ) throws -> Int {
        let (operations, steps) = try Self.record(sync)
        var images = 0
        for point in 0...operations.count {
            for seed in 0..<Self.seeds {
                let scratch = try Scratch()
                try RecordedFiles.image(
                    of: operations[..<point],
                    Self.fates(seed << 8 | (seed < 2 ? 0 : point), keepsAllBytes: keepsAllBytes),
                    in: scratch.url
                )
                images += 1
                let files = FolderFiles(
                    .init(folder: scratch.folder.appendingPathComponent("inner"))
                )
                for key in Self.keys {
                    let own = steps.filter { $0.key == key }
                    let last = own.last { $0.end <= point }
                    let underWay = own.filter { $0.begin < point && $0.end > point }.map(\.value)
                    let may: Set<Data?> =
                        sync == .complete
                        ? Set([last.map(\.value) ?? nil] + underWay)
                        : Set([nil] + own.filter { $0.begin < point }.map(\.value))
                    check(
                        key,
                        Result { try files.read(key) },
                        may,
                        "after \(point) operations, seed \(seed)"
                    )
                }
                // And it goes on.
                try files.write("again", for: "key")
                #expect(try files.string("key") == "again")
            }
        }
        return images
    }

    private func tell(_ images: Int, _ name: String) {
        if ProcessInfo.processInfo.environment["VELLUM_IMAGES"] != nil {
            print("FIGURES power loss, folder, \(name): \(images) images")
        }
    }

    @Test func aCompleteWriteIsThereAfterPowerLossAndARemovedValueIsNot() throws {
        let images = try eachImage(.complete) { key, found, may, moment in
            switch found {
            case .success(let value):
                #expect(
                    may.contains(value),
                    "\(key.rawValue.prefix(5)) \(moment): \(value?.count ?? -1) bytes"
                )
            case .failure(let error): Issue.record("\(moment): \(String(reflecting: error))")
            }
        }
        tell(images, "complete")
    }

    /// Where the file system brings bytes to the disk before the names that lead to them.
    @Test func withoutSyncAValueIsOldOrNewOrAbsentWhereBytesComeBeforeNames() throws {
        let images = try eachImage(.none, keepsAllBytes: true) { key, found, may, moment in
            switch found {
            case .success(let value):
                #expect(
                    may.contains(value),
                    "\(key.rawValue.prefix(5)) \(moment): \(value?.count ?? -1) bytes"
                )
            case .failure(let error): Issue.record("\(moment): \(String(reflecting: error))")
            }
        }
        tell(images, "none, bytes first")
    }

    /// As it is documented: a file keeps no checksum. What is there is of this key, with zeros or
    /// an early end where bytes are missing.
    @Test func withoutSyncBytesMayBeMissingWhereAFileSystemGivesNamesFirst() throws {
        var torn = 0
        let images = try eachImage(.none) { key, found, may, moment in
            guard case .success(let value?) = found, !may.contains(value) else { return }
            torn += 1
            let isOfThisKey = may.contains { whole in
                guard let whole, value.count <= whole.count else { return false }
                return zip(value, whole).allSatisfy { $0 == 0 || $0 == $1 }
            }
            #expect(isOfThisKey, "\(key.rawValue.prefix(5)) \(moment)")
        }
        #expect(torn > 0, "Nothing is ever torn: the documentation may promise more.")
        tell(images, "none, names first")
    }
}
