internal import Foundation
internal import VellumCore

/// The files of large values, in a folder beside the database. Each is written once, synced, and never changed.
///
/// An entry refers to a file only after the file was synced. The file is removed only after the reference is gone from the database as it
/// would be after a power loss, and from every snapshot that is read: after a complete checkpoint. A process that is killed may leave a
/// file without a reference, which is removed when a process next opens the database alone.
///
/// Written through SQLite's VFS, as the log is, with its errors and its faults in tests.
struct ValueFiles {
    static let suffix = "-values"
    /// The size from which on values get files of their own. There, a file that is synced takes as long as the log and the database.
    static let threshold = 1 << 20
    /// No smaller value ever has a file.
    static let smallest: Int64 = 4096
    /// SQLite's limit, so that a value's size does not depend on where it is.
    private static let largest = 1_000_000_000

    let folder: String

    init(of database: String) { folder = database + Self.suffix }

    private func path(_ number: UInt64) -> String {
        let digits = String(number, radix: 16)
        return folder + "/" + String(repeating: "0", count: 16 - digits.count) + digits
    }

    /// Writes a value to a new file, and syncs it. If that fails, nothing is left of it.
    ///
    /// - Parameter willCreate: Called with the file's number before there is one.
    func write(_ value: Data, willCreate: (UInt64) -> Void) throws(SQLiteError) -> ValueReference {
        guard value.count <= Self.largest else { throw .tooLarge }
        if FileIdentity(path: folder) == nil {
            do throws(FileError) {
                try FileSystem.makeFolder(folder)
            } catch {
                throw error.isDiskFull ? .full : .cannotMakeFolder(folder)
            }
        }
        try checkFolder()
        let reference = ValueReference(file: .random(in: 0...(.max)), value: value)
        willCreate(reference.file)
        let file = try VFSFile(path(reference.file), .creating)
        CrashPoint.reached(.valueFileCreated)
        do throws(SQLiteError) {
            let result = value.withUnsafeBytes { bytes in
                Result { () throws(SQLiteError) in
                    try file.write(bytes)
                    try file.sync()
                }
            }
            try result.get()
        } catch {
            do throws(SQLiteError) {
                try remove(reference.file)
            } catch {
                Log.error("A file that was not written completely could not be removed.", error)
            }
            throw error
        }
        CrashPoint.reached(.valueFileSynced)
        return reference
    }

    /// - Returns: `nil` if there is no such file, or if it is damaged.
    func read(_ reference: ValueReference) throws(SQLiteError) -> Data? {
        try checkFolder()
        let path = path(reference.file)
        guard FilePaths.isRegularFile(path), reference.size <= Self.largest else { return nil }
        let file = try VFSFile(path, .reading)
        guard try file.size == reference.size else { return nil }
        let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: reference.size, alignment: 16)
        do throws(SQLiteError) {
            try file.read(into: bytes)
        } catch {
            bytes.deallocate()
            throw error
        }
        guard let start = bytes.baseAddress else { return nil }
        let value = Data(bytesNoCopy: start, count: bytes.count, deallocator: .custom { start, _ in start.deallocate() })
        return reference.matches(value) ? value : nil
    }

    func remove(_ number: UInt64) throws(SQLiteError) { try VFSFile.remove(path(number)) }

    /// The numbers of all files; none if there is no folder.
    func numbers() throws(SQLiteError) -> [UInt64] {
        guard FileIdentity(path: folder) != nil else { return [] }
        try checkFolder()
        do {
            let names = try FileManager.default.contentsOfDirectory(atPath: folder)
            return names.compactMap { $0.utf8.count == 16 ? UInt64($0, radix: 16) : nil }
        } catch {
            throw .cannotList(folder)
        }
    }

    /// The size of all files in bytes.
    func size() throws(SQLiteError) -> Int { try numbers().reduce(0) { $0 + FileSystem.size(path($1)) } }

    /// Gives every file a second name beside another database.
    func link(to other: ValueFiles) throws {
        let numbers = try numbers()
        guard !numbers.isEmpty else { return }
        try FileSystem.makeFolder(other.folder)
        for number in numbers where FileIdentity(path: other.path(number)) == nil {
            try FileManager.default.linkItem(atPath: path(number), toPath: other.path(number))
        }
    }

    /// A link in place of the folder would lead to files of others.
    private func checkFolder() throws(SQLiteError) {
        guard !FileSystem.isLink(folder) else { throw .unsafePath(folder, "is a symbolic link") }
    }
}

extension SQLiteError {
    fileprivate static func cannotMakeFolder(_ path: String) -> SQLiteError {
        SQLiteError(code: cannotOpenCode, message: "The folder \(path) could not be created.")
    }

    fileprivate static func cannotList(_ path: String) -> SQLiteError {
        SQLiteError(code: cannotOpenCode, message: "The folder \(path) could not be read.")
    }
}
