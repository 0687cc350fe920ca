#if Valkey
    import FleetSupport
    import TestThreads
    import Testing
    import VellumRemote
    import VellumValkey

    @Suite(.ownThreads)
    struct BadNetworkTests {
        @Test func aNetworkWithoutFaultsPassesEverything() async throws {
            let redis = try RedisServer()
            let network = try BadNetwork(to: redis.port)
            var server = redis.configuration
            (server.port, server.connectTimeout) = (network.port, 600_000)
            let link = Link(
                to: server,
                observer: Link.Observer(
                    onConnected: { _ in },
                    onLost: {},
                    onInvalidated: { _ in },
                    onReply: { _ in }
                )
            )
            for number in 0..<100 {
                #expect(
                    try await link.call(RESPCommand("ECHO", "\(number)"), within: 600_000).text
                        == "\(number)"
                )
            }
        }
    }
#endif
