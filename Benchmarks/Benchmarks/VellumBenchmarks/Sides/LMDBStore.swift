#if HAS_LMDB
    import CLMDB
    import Foundation

    /// LMDB as its documentation recommends: one write transaction for each record, and one read
    /// transaction that is renewed for each read.
    final class LMDBStore: ByteStore {
        private var environment: OpaquePointer?
        private var database: MDB_dbi = 0
        private var reading: OpaquePointer?

        /// - Parameter isSynced: Whether each commit waits for the disk, as it does by default;
        ///   otherwise `MDB_NOSYNC`.
        init(_ folder: URL, isSynced: Bool) throws {
            try check(mdb_env_create(&environment))
            // The address space of the map. The file is only as long as what is in it.
            try check(mdb_env_set_mapsize(environment, 64 << 30))
            try check(
                mdb_env_open(
                    environment,
                    folder.path,
                    UInt32(MDB_NOTLS) | (isSynced ? 0 : UInt32(MDB_NOSYNC)),
                    0o600
                )
            )
            var transaction: OpaquePointer?
            try check(mdb_txn_begin(environment, nil, 0, &transaction))
            try check(mdb_dbi_open(transaction, nil, UInt32(MDB_CREATE), &database))
            try check(mdb_txn_commit(transaction))
            try check(mdb_txn_begin(environment, nil, UInt32(MDB_RDONLY), &reading))
            mdb_txn_reset(reading)
        }

        func record(_ entries: [(key: String, bytes: Data)]) throws {
            var transaction: OpaquePointer?
            try check(mdb_txn_begin(environment, nil, 0, &transaction))
            for (key, bytes) in entries {
                try withValue(key) { key in
                    try bytes.withUnsafeBytes { bytes in
                        var value = MDB_val(
                            mv_size: bytes.count,
                            mv_data: UnsafeMutableRawPointer(mutating: bytes.baseAddress)
                        )
                        try check(mdb_put(transaction, database, &key, &value, 0))
                    }
                }
            }
            try check(mdb_txn_commit(transaction))
        }

        func bytes(_ key: String) throws -> Data? {
            try check(mdb_txn_renew(reading))
            defer { mdb_txn_reset(reading) }
            return try withValue(key) { key in
                var value = MDB_val()
                let code = mdb_get(reading, database, &key, &value)
                guard code != MDB_NOTFOUND else { return nil }
                try check(code)
                return Data(UnsafeRawBufferPointer(start: value.mv_data, count: value.mv_size))
            }
        }

        func close() {
            mdb_txn_abort(reading)
            mdb_env_close(environment)
        }

        private func withValue<Result>(
            _ key: String,
            _ body: (inout MDB_val) throws -> Result
        ) rethrows -> Result {
            var key = key
            return try key.withUTF8 { bytes in
                var value = MDB_val(
                    mv_size: bytes.count,
                    mv_data: UnsafeMutableRawPointer(mutating: bytes.baseAddress)
                )
                return try body(&value)
            }
        }

        private func check(_ code: Int32) throws {
            guard code == MDB_SUCCESS else {
                throw LMDBError(message: String(cString: mdb_strerror(code)))
            }
        }

        private struct LMDBError: Error { let message: String }
    }
#endif
