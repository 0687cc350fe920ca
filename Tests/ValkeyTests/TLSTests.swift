#if Valkey
    import FleetSupport
    import Foundation
    import MiniCacheValkey
    import TestThreads
    import Testing

    @Suite(.ownThreads)
    struct TLSTests {
        private func cache(
            _ port: Int,
            _ tls: ValkeyConfiguration.TLS
        ) throws -> SharedCache<String, Int> {
            var configuration = ValkeyConfiguration(host: "127.0.0.1", port: port)
            configuration.tls = tls
            (configuration.connectTimeout, configuration.readTimeout, configuration.writeTimeout) =
                (
                    .seconds(600), .seconds(600), .seconds(600)
                )
            return try SharedCacheManager(name: "test", server: ValkeyServer(configuration)).cache(
                cacheName: "numbers",
                cacheVersion: .custom("1"),
                maxAge: .hours(1)
            )
        }

        #if ValkeyTLS
            private func tls(_ certificates: Certificates) -> ValkeyConfiguration.TLS {
                var tls = ValkeyConfiguration.TLS()
                tls.trustedCertificates = certificates.authority
                return tls
            }

            @Test(arguments: [nil, "localhost"]) func anEncryptedServerIsReadAndWritten(
                _ name: String?
            ) async throws {
                let certificates = try Certificates()
                let server = try RedisServer(certificates, asksClients: false)
                var tls = tls(certificates)
                tls.serverName = name
                let shared = try cache(server.port, tls)
                try await shared.set(1, forKey: "a")
                #expect(try await shared.value(forKey: "a", freshness: .confirmed) == 1)
            }

            @Test func aServerThatNobodyVouchesForIsNotUsed() async throws {
                let certificates = try Certificates()
                let server = try RedisServer(certificates, asksClients: false)
                let error = await #expect(throws: VellumError.self) {
                    try await cache(server.port, .init()).set(1, forKey: "a")
                }
                #expect(error?.code == .unreachable)
                #expect("\(error.debugDescription)".contains("CERTIFICATE_VERIFY_FAILED"))
            }

            @Test func aCertificateOfAnotherNameIsNotAccepted() async throws {
                let certificates = try Certificates(for: "DNS:localhost")
                let server = try RedisServer(certificates, asksClients: false)
                var tls = tls(certificates)
                tls.serverName = "cache.example"
                let error = await #expect(throws: VellumError.self) {
                    try await cache(server.port, tls).set(1, forKey: "a")
                }
                #expect(error?.code == .unreachable)
                tls.serverName = "localhost"
                try await cache(server.port, tls).set(1, forKey: "a")
            }

            @Test func aServerMayAskForACertificate() async throws {
                let certificates = try Certificates()
                let server = try RedisServer(certificates, asksClients: true)
                var tls = tls(certificates)
                let error = await #expect(throws: VellumError.self) {
                    try await cache(server.port, tls).set(1, forKey: "a")
                }
                #expect(error?.code == .unreachable)
                (tls.certificateChain, tls.privateKey) = (
                    certificates.certificate, certificates.key
                )
                let shared = try cache(server.port, tls)
                try await shared.set(1, forKey: "a")
                #expect(try await shared.value(forKey: "a", freshness: .confirmed) == 1)
            }
            @Test func certificatesThatCannotBeReadAreRefused() async throws {
                var tls = ValkeyConfiguration.TLS()
                tls.certificateChain = URL(fileURLWithPath: "/nowhere/client.pem")
                let error = await #expect(throws: VellumError.self) {
                    try await cache(1, tls).set(1, forKey: "a")
                }
                #expect(error?.code == .refused)
            }
        #else
            @Test func withoutItsTraitTLSIsRefused() async throws {
                let server = try RedisServer()
                let error = await #expect(throws: VellumError.self) {
                    try await cache(server.port, .init()).set(1, forKey: "a")
                }
                #expect(error?.code == .refused)
            }
        #endif
    }
#endif
