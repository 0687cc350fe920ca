import Foundation
import Testing
import VellumCore
import VellumEngine

@testable import Shallows

/// A folder of its own for a test, removed with it.
final class Scratch: Sendable {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appendingPathComponent(
            "shallows-\(UUID().uuidString)"
        )
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit {
        do { try FileManager.default.removeItem(at: url) } catch {
            print("A test's folder could not be removed.", error)
        }
    }

    /// A folder inside, which is not there yet.
    var folder: URL { url.appendingPathComponent("folder") }

    /// Everything inside the scratch folder but itself: paths, in order.
    func contents() throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: url.path).sorted()
    }

    /// The files of ``folder``: paths, in order.
    func files() throws -> [String] {
        try contents().filter { path in
            var isFolder: ObjCBool = false
            return FileManager.default.fileExists(
                atPath: url.path + "/" + path,
                isDirectory: &isFolder
            ) && !isFolder.boolValue
        }.map { String($0.dropFirst("folder/".count)) }
    }

    /// Writes a file as the original, or somebody else, would.
    func plant(_ value: String, at path: String) throws {
        let file = folder.path + "/" + path
        let end = try #require(file.utf8.lastIndex(of: UInt8(ascii: "/")))
        let folder = String(file[..<end])
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        #expect(FileManager.default.createFile(atPath: file, contents: Data(value.utf8)))
    }

    /// The file of the original: what the encoder said, appended to the folder's URL.
    func plantOriginal(_ value: String, for key: Filename, _ encoder: Filename.Encoder) throws {
        let file = folder.appendingPathComponent(encoder.encodedString(representing: key))
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(),
            withIntermediateDirectories: true
        )
        #expect(FileManager.default.createFile(atPath: file.path, contents: Data(value.utf8)))
    }
}

extension FolderFiles {
    func string(_ key: Filename) throws -> String? {
        try read(key).map { String(decoding: $0, as: UTF8.self) }
    }

    func write(_ string: String, for key: Filename) throws {
        try write(Data(string.utf8), for: key)
    }
}

/// Says yes so many times, then no.
final class Countdown: Sendable {
    private let left: Locked<Int>

    init(_ count: Int) { left = Locked(count) }

    func next() -> Bool {
        left.withLock { left in
            left -= 1
            return left >= 0
        }
    }
}

/// What was called, in order.
final class Recorder: Sendable {
    private let calls = Locked<[String]>([])

    var all: [String] { calls.withLock { $0 } }

    func add(_ call: String) { calls.withLock { $0.append(call) } }

    func clear() { calls.withLock { $0 = [] } }
}
