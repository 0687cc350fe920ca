#if Valkey
    import FleetSupport
    import Foundation
    import ShallowsValkey
    import TestThreads
    import Testing

    @Suite(.ownThreads)
    struct ValkeyStorageTests {
        private let redis: RedisServer

        init() throws { redis = try RedisServer() }

        private func server() -> ValkeyServer {
            var configuration = ValkeyConfiguration(host: "127.0.0.1", port: redis.port)
            (configuration.connectTimeout, configuration.readTimeout) = (
                .seconds(600), .seconds(600)
            )
            (configuration.writeTimeout, configuration.trust) = (.seconds(600), .seconds(60))
            return ValkeyServer(configuration)
        }

        private func isMiss(_ error: (any Error)?) -> Bool {
            (error as? any StorageMiss)?.isMiss == true
        }

        @Test func whatOneStorageSetsAnotherRetrieves() async throws {
            let one = try ValkeyStorage<[String]>(server(), name: "texts")
            let other = try ValkeyStorage<[String]>(server(), name: "texts")
            try await one.set(["a", "b"], forKey: "key")
            #expect(try await other.retrieve(forKey: "key") == ["a", "b"])
            try await other.remove(forKey: "key")
            let error = await #expect(throws: (any Error).self) {
                try await other.retrieve(forKey: "key")
            }
            #expect(isMiss(error))
        }

        @Test func dataIsStoredAsItIs() async throws {
            let storage = try ValkeyStorage<Data>(server(), name: "bytes")
            let bytes = Data((0...255).map { UInt8($0) })
            try await storage.set(bytes, forKey: "key")
            #expect(try await storage.retrieve(forKey: "key") == bytes)
        }

        @Test func removingAllLeavesOtherNamesAlone() async throws {
            let server = server()
            // The pattern of the first name would match the second one, if it were not escaped.
            let one = try ValkeyStorage<Int>(server, name: "a*")
            let other = try ValkeyStorage<Int>(server, name: "ab")
            for number in 0..<2500 {
                try await one.set(number, forKey: Filename(rawValue: "\(number)"))
            }
            try await other.set(1, forKey: "key")
            try await one.removeAll()
            for key in ["0", "1234", "2499"] as [Filename] {
                let error = await #expect(throws: (any Error).self) {
                    try await one.retrieve(forKey: key)
                }
                #expect(isMiss(error))
            }
            #expect(try await other.retrieve(forKey: "key") == 1)
        }

        @Test func itIsComposedLikeOtherStorages() async throws {
            let lengths: Storage<Int, Int> = try ValkeyStorage<String>(server(), name: "texts")
                .asStorage()
                .mapKeys { Filename(rawValue: "\($0)") }
                .mapValues(
                    to: Int.self,
                    transformIn: { $0.count },
                    transformOut: { String(repeating: "x", count: $0) }
                )
            try await lengths.set(3, forKey: 1)
            #expect(try await lengths.retrieve(forKey: 1) == 3)
        }
    }
#endif
