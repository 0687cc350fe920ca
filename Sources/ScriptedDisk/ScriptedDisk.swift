internal import Foundation
internal import VellumCore

#if canImport(SQLite3)
    internal import SQLite3
#else
    internal import CSQLite
#endif

/// A VFS of SQLite that wraps the system's (sqlite.org/vfs.html): files of a folder with a
/// ``DiskScript`` go through it. All others are opened by the system's VFS directly.
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

    static func script(
        for path: UnsafePointer<CChar>?
    ) -> (script: DiskScript, name: String)? {
        guard let path else { return nil }
        let text = String(cString: path)
        guard let slash = text.lastIndex(of: "/") else { return nil }
        guard
            let script = scripts.withLock(
                { $0[String(text[..<slash])] }
            )
        else { return nil }
        return (script, String(text[text.index(after: slash)...]))
    }

    // MARK: The VFS

    typealias VFS = UnsafeMutablePointer<sqlite3_vfs>

    /// Makes it the default, once in a process. Open connections keep the system's VFS.
    static let isInstalled: Bool = {
        guard let system = sqlite3_vfs_find(nil) else { return false }
        // All other functions are the system's: none of them uses the VFS that it is called with.
        let vfs = VFS.allocate(capacity: 1)
        vfs.initialize(to: system.pointee)
        vfs.pointee.pNext = nil
        vfs.pointee.pAppData = UnsafeMutableRawPointer(system)
        vfs.pointee.zName = UnsafePointer(strdup("scripted"))
        vfs.pointee.szOsFile = Int32(ScriptedFile.offset) + system.pointee.szOsFile
        vfs.pointee.xOpen = { vfs, path, file, flags, outFlags in
            guard let file, let system = ScriptedDisk.wrapped(vfs) else { return SQLITE_MISUSE }
            guard let (script, name) = ScriptedDisk.script(for: path) else {
                return system.pointee.xOpen(system, path, file, flags, outFlags)
            }
            file.pointee.pMethods = nil
            if let (_, code) = script.nextFault(.open, name) { return code }
            return ScriptedFile.open(
                path,
                (script, name),
                at: file,
                by: system,
                flags,
                outFlags
            )
        }
        vfs.pointee.xDelete = { vfs, path, syncsFolder in
            guard let system = ScriptedDisk.wrapped(vfs) else { return SQLITE_MISUSE }
            let found = ScriptedDisk.script(for: path)
            if let (script, name) = found,
                let (_, code) = script.nextFault(.delete, name)
            {
                return code
            }
            let code = system.pointee.xDelete(system, path, syncsFolder)
            if let (script, name) = found, code == SQLITE_OK {
                script.deleted(name, syncingFolder: syncsFolder != 0)
            }
            return code
        }
        vfs.pointee.xAccess = { vfs, path, flags, answer in
            guard let system = ScriptedDisk.wrapped(vfs) else { return SQLITE_MISUSE }
            if let (script, name) = ScriptedDisk.script(for: path),
                let (_, code) = script.nextFault(.access, name)
            {
                return code
            }
            return system.pointee.xAccess(system, path, flags, answer)
        }
        return sqlite3_vfs_register(vfs, 1) == SQLITE_OK
    }()

    private static func wrapped(_ vfs: VFS?) -> VFS? {
        vfs?.pointee.pAppData.map { $0.assumingMemoryBound(to: sqlite3_vfs.self) }
    }
}
