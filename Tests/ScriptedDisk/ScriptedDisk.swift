internal import Foundation
internal import VellumCore
internal import VellumEngine

#if canImport(SQLite3)
    internal import SQLite3
#else
    internal import CSQLite
#endif

/// A VFS of SQLite that wraps the system's (sqlite.org/vfs.html): files of a folder with a ``DiskScript`` go through it. All others are
/// opened by the system's VFS directly.
enum ScriptedDisk {
    private static let scripts = Locked<[String: DiskScript]>([:])

    static func add(_ script: DiskScript, for folder: String) {
        precondition(isInstalled)
        scripts.withLock { $0[folder] = script }
    }

    static func remove(_ folder: String) { scripts.withLock { $0[folder] = nil } }

    /// The path in SQLite's spelling.
    static func resolved(_ path: String) -> String {
        guard let pointer = realpath(path, nil) else { return path }
        defer { free(pointer) }
        return String(cString: pointer)
    }

    static func script(for path: UnsafePointer<CChar>?) -> (script: DiskScript, name: String)? {
        guard let path else { return nil }
        let text = String(cString: path)
        guard var slash = text.lastIndex(of: "/") else { return nil }
        // The files of values are in a folder of their own, which belongs to the script as well.
        if text[..<slash].hasSuffix("-values"), let other = text[..<slash].lastIndex(of: "/") { slash = other }
        guard let script = scripts.withLock({ $0[String(text[..<slash])] }) else { return nil }
        return (script, String(text[text.index(after: slash)...]))
    }

    // MARK: The VFS

    // Unsafe because these pointers are written once, in `isInstalled`, before they are read.
    nonisolated(unsafe) private(set) static var system: UnsafeMutablePointer<sqlite3_vfs> = sqlite3_vfs_find(nil)
    nonisolated(unsafe) private static let vfs = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)

    /// Makes it the default, once in a process. Open connections keep the system's VFS.
    static let isInstalled: Bool = {
        // All other functions are the system's: none of them uses the VFS that it is called with.
        vfs.initialize(to: system.pointee)
        vfs.pointee.pNext = nil
        vfs.pointee.zName = UnsafePointer(strdup("scripted"))
        vfs.pointee.szOsFile = Int32(ScriptedFile.offset) + system.pointee.szOsFile
        vfs.pointee.xOpen = { _, path, file, flags, outFlags in
            guard let file else { return SQLITE_MISUSE }
            guard let (script, name) = ScriptedDisk.script(for: path) else {
                return ScriptedDisk.system.pointee.xOpen(ScriptedDisk.system, path, file, flags, outFlags)
            }
            file.pointee.pMethods = nil
            if let (_, code) = script.nextFault(.open, name) { return code }
            return ScriptedFile.open(path, name, script, at: file, flags, outFlags)
        }
        vfs.pointee.xDelete = { _, path, syncsFolder in
            let found = ScriptedDisk.script(for: path)
            if let (script, name) = found, let (_, code) = script.nextFault(.delete, name) { return code }
            let code = ScriptedDisk.system.pointee.xDelete(ScriptedDisk.system, path, syncsFolder)
            if let (script, name) = found, code == SQLITE_OK { script.deleted(name, syncingFolder: syncsFolder != 0) }
            return code
        }
        vfs.pointee.xAccess = { _, path, flags, answer in
            if let (script, name) = ScriptedDisk.script(for: path), let (_, code) = script.nextFault(.access, name) { return code }
            return ScriptedDisk.system.pointee.xAccess(ScriptedDisk.system, path, flags, answer)
        }
        return sqlite3_vfs_register(vfs, 1) == SQLITE_OK
    }()
}
