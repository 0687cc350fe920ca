internal import Foundation

#if canImport(SQLite3)
    internal import SQLite3
#else
    internal import CSQLite
#endif

/// A file of SQLite that consults its script before each call. The system's file follows it in the
/// same allocation.
struct ScriptedFile {
    /// SQLite's part, which must come first.
    var base = sqlite3_file()
    let script: Unmanaged<DiskScript>
    let name: Unmanaged<NSString>
    let number: Int
    /// Whether the first sync also syncs the folder, as the system's VFS does for a log and a
    /// journal.
    var syncsFolder: Bool

    /// The offset of the system's file.
    static let offset = (MemoryLayout<ScriptedFile>.size + 15) & ~15

    static func of(_ file: UnsafeMutablePointer<sqlite3_file>) -> UnsafeMutablePointer<ScriptedFile>
    {
        UnsafeMutableRawPointer(file).assumingMemoryBound(to: ScriptedFile.self)
    }

    static func system(
        _ file: UnsafeMutablePointer<sqlite3_file>
    ) -> UnsafeMutablePointer<sqlite3_file> {
        (UnsafeMutableRawPointer(file) + offset).assumingMemoryBound(to: sqlite3_file.self)
    }

    /// The methods of the system's file.
    static func io(_ file: UnsafeMutablePointer<sqlite3_file>) -> sqlite3_io_methods {
        system(file).pointee.pMethods.pointee
    }

    static func open(
        _ path: UnsafePointer<CChar>?,
        _ scripted: (script: DiskScript, name: String),
        at file: UnsafeMutablePointer<sqlite3_file>,
        by vfs: ScriptedDisk.VFS,
        _ flags: Int32,
        _ outFlags: UnsafeMutablePointer<Int32>?
    ) -> Int32 {
        let (script, name) = scripted
        let place = system(file)
        let fullPath = path.map { String(cString: $0) } ?? ""
        let wasThere = access(fullPath, F_OK) == 0
        place.pointee.pMethods = nil
        let code = vfs.pointee.xOpen(vfs, path, place, flags, outFlags)
        guard code == SQLITE_OK, place.pointee.pMethods != nil else { return code }
        // Reads through the open file, because opening and closing it again would drop its locks.
        let number = script.opened(name, wasThere: wasThere) { contents(of: place) }
        let kinds = SQLITE_OPEN_MAIN_JOURNAL | SQLITE_OPEN_SUPER_JOURNAL | SQLITE_OPEN_WAL
        of(file).initialize(
            to: ScriptedFile(
                script: .passRetained(script),
                name: .passRetained(name as NSString),
                number: number,
                syncsFolder: flags & kinds != 0 && flags & SQLITE_OPEN_CREATE != 0
            )
        )
        file.pointee.pMethods = UnsafePointer(ScriptedMethods.table)
        return code
    }

    private static func contents(of file: UnsafeMutablePointer<sqlite3_file>) -> Data {
        guard let methods = file.pointee.pMethods else { return Data() }
        var size: sqlite3_int64 = 0
        guard methods.pointee.xFileSize(file, &size) == SQLITE_OK, size > 0 else {
            return Data()
        }
        var data = Data(count: Int(size))
        let code = data.withUnsafeMutableBytes {
            methods.pointee.xRead(file, $0.baseAddress, Int32(size), 0)
        }
        precondition(code == SQLITE_OK, "A file could not be read for the record.")
        return data
    }

    // MARK: Helpers of the methods

    static func script(of file: UnsafeMutablePointer<sqlite3_file>) -> DiskScript {
        of(file).pointee.script.takeUnretainedValue()
    }

    private static func name(of file: UnsafeMutablePointer<sqlite3_file>) -> String {
        of(file).pointee.name.takeUnretainedValue() as String
    }

    static func nextFault(
        _ file: UnsafeMutablePointer<sqlite3_file>,
        _ call: DiskCall
    ) -> (fault: DiskFault, code: Int32)? {
        script(of: file).nextFault(call, name(of: file))
    }

    static func record(
        _ file: UnsafeMutablePointer<sqlite3_file>,
        _ operation: (Int) -> DiskOperation
    ) {
        script(of: file).record(operation(of(file).pointee.number))
    }

    static func recordFolderSync(_ file: UnsafeMutablePointer<sqlite3_file>) {
        script(of: file).record(.syncFolder(of: name(of: file)))
    }

    static func write(
        _ file: UnsafeMutablePointer<sqlite3_file>,
        _ bytes: UnsafeRawPointer,
        _ count: Int32,
        _ offset: sqlite3_int64
    ) -> Int32 {
        var size: sqlite3_int64 = 0
        let end = offset + Int64(count)
        if !name(of: file).hasSuffix("-wal"),
            io(file).xFileSize(system(file), &size) != SQLITE_OK || end > size,
            script(of: file).refusesGrowth()
        {
            return SQLITE_FULL
        }
        let code = io(file).xWrite(system(file), bytes, count, offset)
        if code == SQLITE_OK {
            record(file) {
                .write(
                    file: $0,
                    offset: Int(offset),
                    bytes: Data(bytes: bytes, count: Int(count))
                )
            }
        }
        return code
    }
}
