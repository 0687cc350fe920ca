import Benchmark
import Foundation
import Samples
import Shallows

/// A folder of files, beside the calls of the system that it cannot do without, and beside Foundation.
///
/// Reads are answered by the system's cache of files. No set of ours waits for the disk; those of Foundation do.
enum ShallowsFolderComparison<Value: Blob> {
    static func make(_ work: Work, _ scale: Scale, rounds: Int) -> Comparison {
        Comparison(
            work: work, subject: Value.title, scale: scale,
            sides: [
                ("folder, sync", nil), ("folder, async", nil), ("bare calls", work == .shallowsFolderHit ? 1.3 : 1.5), ("Foundation", nil),
            ], rounds: rounds, seconds: 5
        ) { desk in
            let desk = try desk.folder("scratch/\(work.rawValue)-\(Value.size)-\(UUID().uuidString)")
            // Those of new keys stay: files that were just removed make the system search long for room for the next.
            let isNew = work == .shallowsFolderSetNew
            let folders = try Folders<Value>(desk, count: scale.rawValue, fresh: isNew ? rounds + 50 : 0)
            var index = 0
            return Course(turns: work == .shallowsFolderHit ? folders.reads { index } : folders.writes { index }) { round in
                // A stride that shares no factor with the count meets every file before any a second time.
                index = isNew ? scale.rawValue + round : round * 7_919 % scale.rawValue
            } end: {
                try FileManager.default.removeItem(at: desk)
            }
        }
    }
}

/// The same files in a folder for each side: one that is replaced while the system still writes it is waited for.
private struct Folders<Value: Blob> {
    private let value = Data(Array(Value.contents))
    private let keys: [Filename]
    private let sync: SyncStorage<Filename, Data>
    private let awaited: DiskFolderStorage
    private let bare: BareFiles
    /// The files of Foundation.
    private let urls: [URL]

    /// - Parameters:
    ///   - count: How many keys have a file.
    ///   - fresh: How many have none.
    init(_ desk: URL, count: Int, fresh: Int) throws {
        keys = (0..<count + fresh).map { Filename(rawValue: Value.key($0)) }
        let storage = DiskFolderStorage(folderURL: desk.appendingPathComponent("sync"))
        sync = storage.makeSyncStorage()
        awaited = DiskFolderStorage(folderURL: desk.appendingPathComponent("task"))
        let names = keys.map { storage.fileURL(forFilename: $0).lastPathComponent }
        func folder(_ name: String) throws -> URL {
            let folder = desk.appendingPathComponent(name, isDirectory: true)
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            return folder
        }
        let (own, foundation) = (try folder("bare"), try folder("data"))
        bare = BareFiles(names.map { own.appendingPathComponent($0) }, temporary: own.appendingPathComponent("~written"))
        urls = names.map { foundation.appendingPathComponent($0) }

        let others = awaited.makeSyncStorage()
        for index in 0..<count {
            try sync.set(value, forKey: keys[index])
            try others.set(value, forKey: keys[index])
            try bare.write(value, index)
            try value.write(to: urls[index])
            let found = try [sync.retrieve(forKey: keys[index]), others.retrieve(forKey: keys[index])]
            guard found == [value, value], try bare.read(index) == value.count else { throw CocoaError(.fileReadCorruptFile) }
        }
    }

    func reads(_ index: @escaping () -> Int) -> [Turn] {
        [
            Turn { blackHole(try sync.retrieve(forKey: keys[index()])) },
            Turn.inTask {
                let (key, storage) = (keys[index()], awaited)
                return { blackHole(try await storage.retrieve(forKey: key)) }
            },
            Turn { blackHole(try bare.read(index())) },
            Turn { blackHole(try Data(contentsOf: urls[index()])) },
        ]
    }

    func writes(_ index: @escaping () -> Int) -> [Turn] {
        [
            Turn { try sync.set(value, forKey: keys[index()]) },
            Turn.inTask {
                let (key, value, storage) = (keys[index()], value, awaited)
                return { try await storage.set(value, forKey: key) }
            },
            Turn { try bare.write(value, index()) },
            Turn { try value.write(to: urls[index()], options: .atomic) }.once(in: 10),
        ]
    }
}
