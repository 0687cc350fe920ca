import Benchmark
import Foundation
import Samples
import Shallows

/// A folder of files, compared with the system calls that it needs at least, and with Foundation.
///
/// Reads are answered by the page cache. Our sets do not wait for the disk; those of Foundation do.
enum ShallowsFolderComparison<Value: Blob> {
    static func make(_ work: Work, _ scale: Scale, rounds: Int) -> Comparison {
        Comparison(
            work: work,
            subject: Value.title,
            scale: scale,
            sides: [
                ("folder, sync", nil), ("folder, async", nil),
                ("bare calls", work == .shallowsFolderHit ? 1.3 : 1.5), ("Foundation", nil),
            ],
            durability: work == .shallowsFolderHit ? [:] : ["Foundation": "synced file"],
            rounds: rounds,
            seconds: 5
        ) { workspace in
            let workspace = try workspace.folder(
                "scratch/\(work.rawValue)-\(Value.size)-\(UUID().uuidString)"
            )
            // Files of new keys are not removed: the file system allocates slowly after removals.
            let isNew = work == .shallowsFolderSetNew
            let folders = try Folders<Value>(
                workspace,
                count: scale.rawValue,
                fresh: isNew ? rounds + 50 : 0
            )
            var index = 0
            return Course(
                turns: work == .shallowsFolderHit
                    ? folders.reads { index } : folders.writes { index }
            ) { round in
                // A stride that is coprime to the count visits every file once before it repeats.
                index = isNew ? scale.rawValue + round : round * 7_919 % scale.rawValue
            } end: {
                try FileManager.default.removeItem(at: workspace)
            }
        }
    }
}

/// The same files in a folder for each side: replacing a file waits until the system has written
/// the old one.
private struct Folders<Value: Blob> {
    private let value = Data(Array(Value.contents))
    private let keys: [Filename]
    private let sync: SyncStorage<Filename, Data>
    private let awaited: DiskFolderStorage
    private let bare: BareFiles
    /// The files of Foundation.
    private let urls: [URL]

    /// - Parameters:
    ///   - count: The number of keys with a file.
    ///   - fresh: The number of keys without one.
    init(_ workspace: URL, count: Int, fresh: Int) throws {
        keys = (0..<count + fresh).map { Filename(rawValue: Value.key($0)) }
        let storage = DiskFolderStorage(folderURL: workspace.appendingPathComponent("sync"))
        sync = storage.makeSyncStorage()
        awaited = DiskFolderStorage(folderURL: workspace.appendingPathComponent("task"))
        let names = keys.map { storage.fileURL(forFilename: $0).lastPathComponent }
        func folder(_ name: String) throws -> URL {
            let folder = workspace.appendingPathComponent(name, isDirectory: true)
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            return folder
        }
        let (own, foundation) = (try folder("bare"), try folder("data"))
        bare = BareFiles(
            names.map { own.appendingPathComponent($0) },
            temporary: own.appendingPathComponent("~written")
        )
        urls = names.map { foundation.appendingPathComponent($0) }

        let others = awaited.makeSyncStorage()
        for index in 0..<count {
            try sync.set(value, forKey: keys[index])
            try others.set(value, forKey: keys[index])
            try bare.write(value, index)
            try value.write(to: urls[index])
            let found = try [
                sync.retrieve(forKey: keys[index]), others.retrieve(forKey: keys[index]),
            ]
            guard found == [value, value], try bare.read(index) == value.count else {
                throw CocoaError(.fileReadCorruptFile)
            }
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
