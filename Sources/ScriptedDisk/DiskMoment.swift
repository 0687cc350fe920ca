package import Foundation

/// What a disk certainly holds at one moment of a recording, and what it may hold in addition.
///
/// ```swift
/// var moment = DiskMoment()
/// for operation in script.operations { moment.add(operation) }
/// let files = moment.image { _ in .kept }
/// ```
package struct DiskMoment: Sendable {
    /// A change that was not synced.
    package enum Change: Sendable {
        case write(offset: Int, bytes: Data)
        case truncate(size: Int)
        case created(name: String, file: Int)
        case deleted(name: String)

        /// Whether a folder is changed and not a file.
        package var isOfNames: Bool {
            switch self {
            case .created, .deleted: true
            case .write, .truncate: false
            }
        }

        /// The folder of the name that changed.
        fileprivate var folder: Substring? {
            switch self {
            case .created(let name, _), .deleted(let name):
                Self.folder(of: name)
            case .write, .truncate: nil
            }
        }

        fileprivate static func folder(of name: String) -> Substring {
            name.lastIndex(of: "/").map { name[..<$0] } ?? ""
        }
    }

    /// The fate of an unsynced change.
    package enum Fate: Sendable {
        case kept
        case lost
        /// The file has grown, but the bytes are missing.
        case grownWithoutBytes
        /// Of the written sectors only those are kept for which the closure returns `true`.
        case torn(@Sendable (_ sector: Int) -> Bool)
    }

    /// Unsynced changes in the order in which they happened; `file` is `nil` for names.
    package private(set) var unsynced: [(file: Int?, change: Change)] =
        []
    private var files: [Int: Data] = [:]
    private var names: [String: Int] = [:]

    /// A moment before every operation: an empty disk.
    package init() {}

    /// Adds what an operation writes, or what it makes certain.
    package mutating func add(_ operation: DiskOperation) {
        switch operation {
        case .create(let file, let name, let contents):
            files[file] = contents
            unsynced.append((nil, .created(name: name, file: file)))
        case .write(let file, let offset, let bytes):
            unsynced.append((file, .write(offset: offset, bytes: bytes)))
        case .truncate(let file, let size):
            unsynced.append((file, .truncate(size: size)))
        case .delete(let name):
            unsynced.append((nil, .deleted(name: name)))
        case .sync(let file): settle { changed, _ in changed == file }
        case .syncFolder(let name):
            settle { changed, change in
                changed == nil && change.folder == Change.folder(of: name)
            }
        case .mark: break
        }
    }

    private mutating func settle(_ isSynced: (Int?, Change) -> Bool) {
        for (file, change) in unsynced where isSynced(file, change) {
            Self.apply(change, .kept, file, &files, &names)
        }
        unsynced.removeAll { isSynced($0.file, $0.change) }
    }

    /// Returns the files by name, given the fate of each unsynced change by its index. Changes of
    /// names are kept or lost.
    package func image(_ fate: (Int) -> Fate) -> [String: Data] {
        var files = files
        var names = names
        for (index, entry) in unsynced.enumerated() {
            Self.apply(
                entry.change,
                fate(index),
                entry.file,
                &files,
                &names
            )
        }
        return names.compactMapValues { files[$0] }
    }

    /// The number of bytes that a disk writes atomically.
    package static let sector = 512

    private static func apply(
        _ change: Change,
        _ fate: Fate,
        _ file: Int?,
        _ files: inout [Int: Data],
        _ names: inout [String: Int]
    ) {
        if case .lost = fate { return }
        switch change {
        case .created(let name, let number): names[name] = number
        case .deleted(let name): names[name] = nil
        case .truncate(let size):
            if let file { files[file, default: Data()].resize(to: size) }
        case .write(let offset, let bytes):
            guard let file else { return }
            let end = offset + bytes.count
            if files[file, default: Data()].count < end {
                files[file, default: Data()].resize(to: end)
            }
            switch fate {
            case .kept:
                files[file, default: Data()].replaceSubrange(offset..<end, with: bytes)
            case .torn(let isThere):
                for number in offset / sector...max(offset, end - 1) / sector where isThere(number)
                {
                    let part =
                        max(
                            offset,
                            number * sector
                        )..<min(
                            end,
                            (number + 1) * sector
                        )
                    files[file, default: Data()].replaceSubrange(
                        part,
                        with: bytes[part.lowerBound - offset..<part.upperBound - offset]
                    )
                }
            case .grownWithoutBytes, .lost: break
            }
        }
    }
}

extension Data {
    fileprivate mutating func resize(to size: Int) {
        if size < count {
            removeSubrange(size...)
        } else {
            append(Data(count: size - count))
        }
    }
}
