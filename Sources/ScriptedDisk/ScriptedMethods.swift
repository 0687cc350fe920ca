internal import Foundation
internal import VellumCore

#if canImport(SQLite3)
    internal import SQLite3
#else
    internal import CSQLite
#endif

/// The methods of a ``ScriptedFile`` that SQLite calls.
enum ScriptedMethods {
    // Unsafe because it is protected by `static let`: written once, before it is read.
    nonisolated(unsafe) static let table: UnsafeMutablePointer<sqlite3_io_methods> = {
        let methods = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
        methods.initialize(to: sqlite3_io_methods())
        methods.pointee.iVersion = 3
        addContents(to: &methods.pointee)
        addLocks(to: &methods.pointee)
        addShared(to: &methods.pointee)
        return methods
    }()

    private static func addContents(to methods: inout sqlite3_io_methods) {
        methods.xClose = { file in
            guard let file else { return SQLITE_MISUSE }
            let code = ScriptedFile.io(file).xClose(ScriptedFile.system(file))
            let this = ScriptedFile.of(file).move()
            this.script.release()
            this.name.release()
            file.pointee.pMethods = nil
            return code
        }
        methods.xRead = { file, bytes, count, offset in
            guard let file, let bytes else { return SQLITE_MISUSE }
            guard let (fault, code) = ScriptedFile.nextFault(file, .read) else {
                return ScriptedFile.io(file).xRead(
                    ScriptedFile.system(file),
                    bytes,
                    count,
                    offset
                )
            }
            if fault == .shortRead {
                _ = ScriptedFile.io(file).xRead(
                    ScriptedFile.system(file),
                    bytes,
                    count / 2,
                    offset
                )
            }
            return code
        }
        methods.xWrite = { file, bytes, count, offset in
            guard let file, let bytes else { return SQLITE_MISUSE }
            guard let (fault, code) = ScriptedFile.nextFault(file, .write) else {
                return ScriptedFile.write(file, bytes, count, offset)
            }
            if fault == .shortWrite {
                _ = ScriptedFile.write(file, bytes, count / 2, offset)
            }
            return code
        }
        methods.xTruncate = { file, size in
            guard let file else { return SQLITE_MISUSE }
            if let (_, code) = ScriptedFile.nextFault(file, .truncate) { return code }
            let code = ScriptedFile.io(file).xTruncate(ScriptedFile.system(file), size)
            if code == SQLITE_OK {
                ScriptedFile.record(file) { .truncate(file: $0, size: Int(size)) }
            }
            return code
        }
        methods.xSync = { file, flags in
            guard let file else { return SQLITE_MISUSE }
            if let (_, code) = ScriptedFile.nextFault(file, .sync) { return code }
            let code = ScriptedFile.io(file).xSync(ScriptedFile.system(file), flags)
            guard code == SQLITE_OK else { return code }
            ScriptedFile.record(file) { .sync(file: $0) }
            if ScriptedFile.of(file).pointee.syncsFolder {
                ScriptedFile.of(file).pointee.syncsFolder = false
                ScriptedFile.recordFolderSync(file)
            }
            return code
        }
        methods.xFileSize = { file, size in
            guard let file else { return SQLITE_MISUSE }
            if let (_, code) = ScriptedFile.nextFault(file, .size) { return code }
            return ScriptedFile.io(file).xFileSize(ScriptedFile.system(file), size)
        }
        methods.xFileControl = { file, operation, argument in
            guard let file else { return SQLITE_MISUSE }
            if operation == RoomControl.code {
                return ScriptedFile.script(of: file).refusesGrowth() ? SQLITE_FULL : SQLITE_OK
            }
            return ScriptedFile.io(file).xFileControl(
                ScriptedFile.system(file),
                operation,
                argument
            )
        }
        methods.xSectorSize = { file in
            guard let file else { return 0 }
            return ScriptedFile.io(file).xSectorSize(ScriptedFile.system(file))
        }
        methods.xDeviceCharacteristics = { file in
            guard let file else { return 0 }
            return ScriptedFile.io(file).xDeviceCharacteristics(ScriptedFile.system(file))
        }
    }

    private static func addLocks(to methods: inout sqlite3_io_methods) {
        methods.xLock = { file, level in
            guard let file else { return SQLITE_MISUSE }
            if let (_, code) = ScriptedFile.nextFault(file, .lock) { return code }
            return ScriptedFile.io(file).xLock(ScriptedFile.system(file), level)
        }
        methods.xUnlock = { file, level in
            guard let file else { return SQLITE_MISUSE }
            return ScriptedFile.io(file).xUnlock(ScriptedFile.system(file), level)
        }
        methods.xCheckReservedLock = { file, answer in
            guard let file else { return SQLITE_MISUSE }
            if let (_, code) = ScriptedFile.nextFault(file, .checkLock) { return code }
            return ScriptedFile.io(file).xCheckReservedLock(ScriptedFile.system(file), answer)
        }
    }

    private static func addShared(to methods: inout sqlite3_io_methods) {
        methods.xShmMap = { file, page, size, extends, region in
            guard let file else { return SQLITE_MISUSE }
            if let (_, code) = ScriptedFile.nextFault(
                file,
                extends == 0 ? .mapShared : .extendShared
            ) {
                region?.pointee = nil
                return code
            }
            return ScriptedFile.io(file).xShmMap(
                ScriptedFile.system(file),
                page,
                size,
                extends,
                region
            )
        }
        methods.xShmLock = { file, offset, count, flags in
            guard let file else { return SQLITE_MISUSE }
            // The first of the locks is that of writers (sqlite.org/walformat.html, 2.3).
            let call =
                offset == 0 && flags & SQLITE_SHM_EXCLUSIVE != 0
                ? DiskCall.lockForWriting : .lockShared
            if flags & SQLITE_SHM_LOCK != 0,
                let (_, code) = ScriptedFile.nextFault(file, call)
            {
                return code
            }
            return ScriptedFile.io(file).xShmLock(
                ScriptedFile.system(file),
                offset,
                count,
                flags
            )
        }
        methods.xShmBarrier = { file in
            guard let file else { return }
            ScriptedFile.io(file).xShmBarrier(ScriptedFile.system(file))
        }
        methods.xShmUnmap = { file, deletes in
            guard let file else { return SQLITE_MISUSE }
            return ScriptedFile.io(file).xShmUnmap(ScriptedFile.system(file), deletes)
        }
        methods.xFetch = { file, offset, count, place in
            guard let file else { return SQLITE_MISUSE }
            return ScriptedFile.io(file).xFetch(
                ScriptedFile.system(file),
                offset,
                count,
                place
            )
        }
        methods.xUnfetch = { file, offset, place in
            guard let file else { return SQLITE_MISUSE }
            return ScriptedFile.io(file).xUnfetch(ScriptedFile.system(file), offset, place)
        }
    }
}
