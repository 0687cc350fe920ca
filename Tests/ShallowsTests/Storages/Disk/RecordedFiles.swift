import Foundation
import VellumCore
import VellumEngine
import VellumTestSupport

@testable import Shallows

/// What is done to files, in order, so that the disk of any moment after power loss can be made
/// from it.
final class RecordedFiles: Sendable {
    enum Operation: Sendable {
        case makeFolder(String)
        case removeFolder(String)
        case create(String, file: Int)
        case write(file: Int, Data)
        case sync(file: Int)
        case syncFolder(String)
        case rename(String, to: String, file: Int)
        case unlink(String)
    }

    private struct State {
        var operations: [Operation] = []
        var open: [Int32: Int] = [:]
        var folders: [Int32: String] = [:]
        var names: [String: Int] = [:]
        var next = 0
    }

    private let state = Locked(State())
    private let root: String

    init(_ root: URL) { self.root = root.path }

    var operations: [Operation] { state.withLock { $0.operations } }

    private func name(_ path: UnsafePointer<CChar>) -> String {
        let text = String(cString: path).replacing(root, with: "")
        return text.count > 1 && text.hasSuffix("/") ? String(text.dropLast()) : text
    }

    /// The calls of the system, written down where they succeed.
    var calls: FileSystem {
        FileSystem {
            $0.open = { path, purpose in
                let file = SystemCalls.open(path, purpose)
                guard file >= 0 else { return file }
                let name = self.name(path)
                self.state.withLock { state in
                    switch purpose {
                    case .reading: break
                    case .syncingFolder: state.folders[file] = name
                    case .creating:
                        state.open[file] = state.next
                        state.names[name] = state.next
                        state.operations.append(.create(name, file: state.next))
                        state.next += 1
                    }
                }
                return file
            }
            $0.write = { file, bytes, count in
                let written = SystemCalls.write(file, bytes, count)
                if written > 0 {
                    let data = Data(bytes: bytes, count: written)
                    self.state.withLock { state in
                        if let number = state.open[file] {
                            state.operations.append(.write(file: number, data))
                        }
                    }
                }
                return written
            }
            $0.sync = { file, _ in
                self.state.withLock { state in
                    if let number = state.open[file] {
                        state.operations.append(.sync(file: number))
                    }
                    if let folder = state.folders[file] {
                        state.operations.append(.syncFolder(folder))
                    }
                }
                return 0
            }
            $0.close = { file in
                self.state.withLock { (state: inout State) in
                    (state.open[file], state.folders[file]) = (nil, nil)
                }
                return SystemCalls.close(file)
            }
            $0.rename = { path, target in
                let answer = SystemCalls.rename(path, target)
                let (from, to) = (self.name(path), self.name(target))
                self.state.withLock { state in
                    guard answer == 0, let file = state.names.removeValue(forKey: from) else {
                        return
                    }
                    state.names[to] = file
                    state.operations.append(.rename(from, to: to, file: file))
                }
                return answer
            }
            $0.unlink = { path in
                let answer = SystemCalls.unlink(path)
                let name = self.name(path)
                self.state.withLock { state in
                    if answer == 0, state.names.removeValue(forKey: name) != nil {
                        state.operations.append(.unlink(name))
                    }
                }
                return answer
            }
            $0.makeFolder = { path in
                let answer = SystemCalls.makeFolder(path)
                let name = self.name(path)
                if answer == 0 { self.state.withLock { $0.operations.append(.makeFolder(name)) } }
                return answer
            }
            $0.removeFolder = { path in
                let answer = SystemCalls.removeFolder(path)
                let name = self.name(path)
                if answer == 0 { self.state.withLock { $0.operations.append(.removeFolder(name)) } }
                return answer
            }
        }
    }

    /// What a disk does with what was not synced.
    struct Fates {
        /// Whether names that were given and taken are there; asked for each, in order.
        var keepsName: () -> Bool
        /// Whether written bytes are there; asked for each piece. Zeros are in their place, or the
        /// file ends, as `cuts` says.
        var keepsBytes: () -> Bool
        var cuts: () -> Bool
    }

    /// Makes the files as they may be found in `folder` after so many operations.
    static func image(of operations: ArraySlice<Operation>, _ fates: Fates, in folder: URL) throws {
        var contents: [Int: Data] = [:]
        var names: [String: Int] = [:]
        var folders: Set<String> = [""]
        for (index, operation) in operations.enumerated() {
            let later = operations.dropFirst(index + 1)
            func isSynced(_ name: String) -> Bool {
                let above = String(name[..<(name.lastIndex(of: "/") ?? name.startIndex)])
                return later.contains {
                    if case .syncFolder(let synced) = $0 {
                        synced == above || (synced == "/" && above.isEmpty)
                    } else {
                        false
                    }
                }
            }
            switch operation {
            case .create(let name, let file):
                contents[file] = contents[file] ?? Data()
                if isSynced(name) || fates.keepsName() { names[name] = file }
            case .write(let file, let data):
                let isSafe = later.contains { if case .sync(file) = $0 { true } else { false } }
                if isSafe || fates.keepsBytes() {
                    contents[file, default: Data()] += data
                } else if !fates.cuts() {
                    contents[file, default: Data()] += Data(count: data.count)
                }
            case .rename(let name, let target, let file):
                if isSynced(target) || fates.keepsName() {
                    names[name] = nil
                    names[target] = file
                }
            case .unlink(let name): if isSynced(name) || fates.keepsName() { names[name] = nil }
            case .makeFolder(let name):
                if isSynced(name) || fates.keepsName() { folders.insert(name) }
            case .removeFolder(let name):
                if isSynced(name) || fates.keepsName() {
                    folders.remove(name)
                    names = names.filter { !$0.key.hasPrefix(name + "/") }
                }
            case .sync, .syncFolder: break
            }
        }
        for name in folders.sorted() {
            var above = name
            var isThere = true
            while let slash = above.lastIndex(of: "/") {
                isThere = isThere && folders.contains(above)
                above = String(above[..<slash])
            }
            guard isThere else { continue }
            try FileManager.default.createDirectory(
                atPath: folder.path + name,
                withIntermediateDirectories: true
            )
            for (path, file) in names
            where path.hasPrefix(name + "/") && !path.dropFirst(name.count + 1).contains("/") {
                try (contents[file] ?? Data()).write(to: URL(fileURLWithPath: folder.path + path))
            }
        }
    }
}
