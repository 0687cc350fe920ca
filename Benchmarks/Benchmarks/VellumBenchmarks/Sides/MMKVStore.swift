#if HAS_MMKV
    import CMMKV
    import Foundation

    /// MMKV through its C interface, with its default settings: a mapped file to which records are
    /// appended.
    final class MMKVStore: ByteStore {
        private var handle: MMKVHandle_t?

        init(_ folder: URL) throws {
            mmkv_initialize(folder.path, 4)  // No log.
            var configuration = MMKVConfig_t()
            configuration.mode = 1  // One process.
            (configuration.enableKeyExpire, configuration.recover) = (-1, -1)
            handle = folder.path.withCString { path in
                configuration.rootPath = path
                return mmkv_with_id("records", configuration)
            }
            guard handle != nil else { throw CocoaError(.fileReadUnknown) }
        }

        func record(_ entries: [(key: String, bytes: Data)]) throws {
            for (key, bytes) in entries {
                let isRecorded = bytes.withUnsafeBytes {
                    mmkv_encode_bytes(handle, key, $0.baseAddress, Int64($0.count))
                }
                guard isRecorded else { throw CocoaError(.fileWriteUnknown) }
            }
        }

        func bytes(_ key: String) -> Data? {
            var count: UInt64 = 0
            guard let start = mmkv_decode_bytes(handle, key, &count) else { return nil }
            return Data(bytesNoCopy: start, count: Int(count), deallocator: .free)
        }

        func close() { mmkv_close_handle(&handle) }
    }
#endif
