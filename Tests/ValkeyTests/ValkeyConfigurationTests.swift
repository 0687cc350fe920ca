#if Valkey
    import TestThreads
    import Testing
    import VellumCore
    import VellumRemote

    @testable import VellumValkey

    @Suite(.ownThreads)
    struct ValkeyConfigurationTests {
        @Test func aURLNamesServerUserPasswordAndDatabase() throws {
            let configuration = try ValkeyConfiguration(
                url: "valkey://shop:s%40cret@cache.internal:7000/3"
            )
            #expect(configuration.host == "cache.internal")
            #expect(configuration.port == 7000)
            #expect(configuration.user == "shop")
            #expect(configuration.password == "s@cret")
            #expect(configuration.database == 3)
        }

        @Test func whatAURLDoesNotNameIsTheDefault() throws {
            let configuration = try ValkeyConfiguration(url: "redis://:secret@[::1]")
            #expect(configuration.host == "::1")
            #expect(configuration.port == 6379)
            #expect(configuration.user == nil)
            #expect(configuration.password == "secret")
            #expect(configuration.database == 0)
        }

        @Test(arguments: [
            "", "cache:6379", "http://cache", "valkey://user:secret@cache/x", "valkey://:secret@",
        ])
        func anInvalidURLIsRefusedWithoutRepeatingIt(url: String) {
            let error = #expect(throws: VellumError.self) { try ValkeyConfiguration(url: url) }
            #expect(error?.code == .refused)
            #expect(error.map { String(reflecting: $0).contains("secret") } == false)
        }

        @Test(arguments: [
            ("s1:26380", "s1", 26380), ("s1", "s1", 26379), ("[::1]:7", "::1", 7),
            ("[::1]", "::1", 26379), ("s1:-1", "s1", -1),
            ("s1:65536", "s1", 65536),
            ("s1:99999999999999999999", "s1:99999999999999999999", 26379), ("", "", 26379),
            (":", ":", 26379),
        ])
        func anAddressIsAHostAndAPort(_ text: String, host: String, port: Int) {
            var configuration = ValkeyConfiguration(
                sentinels: [text],
                primaryName: "main",
                user: "shop",
                password: "secret"
            )
            (configuration.sentinelUser, configuration.sentinelPassword) = ("watcher", "other")
            let sentinel = configuration.link.sentinels[0]
            #expect((sentinel.host, sentinel.port) == (host, port))
            #expect((sentinel.user, sentinel.password) == ("watcher", "other"))
            #expect((configuration.link.user, configuration.link.password) == ("shop", "secret"))
            configuration.otherAddresses = ["s1"]
            #expect(configuration.link.places.map(\.port) == [6379, 6379])
        }

        @Test func aURLOfAClusterNamesSomeOfItsNodes() throws {
            let configuration = try ValkeyConfiguration(
                url: "valkeys-cluster://shop:secret@c1:7000?node=c2&node=[::1]:7"
            )
            #expect(
                configuration.clusterNodes == ["c1:7000", "c2", "[::1]:7"]
                    && configuration.tls != nil
            )
            let link = configuration.link
            #expect(
                link.seeds.map { "\($0)" } == ["c1:7000", "c2:6379", "::1:7"]
                    && link.seeds.allSatisfy { $0.password == "secret" }
            )
            #expect(link.isInCluster && (link.host, link.port) == ("c1", 7000))
            #expect(
                try ValkeyConfiguration(url: "redis-cluster://[::1]").link.seeds.map(\.host) == [
                    "::1"
                ]
            )
            let made = ValkeyConfiguration(
                cluster: ["c1", "c2:7"],
                user: "shop",
                password: "secret"
            ).link
            #expect(
                made.seeds.map(\.port) == [6379, 7]
                    && (made.host, made.port, made.user) == ("c1", 6379, "shop")
            )
            // It is not one server by mistake.
            #expect(ValkeyConfiguration(cluster: []).link.isInCluster)
        }

        @Test(arguments: [
            "valkey-cluster://:secret@c1/1", "valkey-cluster://:secret@c1?x=c2",
            "valkey-cluster://:secret@c1?node=",
            "http-cluster://:secret@c1",
        ])
        func anInvalidURLOfAClusterIsRefused(_ url: String) {
            let error = #expect(throws: VellumError.self) { try ValkeyConfiguration(url: url) }
            #expect(
                error?.code == .refused
                    && error.map { String(reflecting: $0).contains("secret") } == false
            )
        }

        @Test func noDescriptionShowsThePassword() throws {
            let configuration = try ValkeyConfiguration(url: "valkey://user:secret@cache")
            #expect(!"\(configuration)\(String(reflecting: configuration))".contains("secret"))
            var text = ""
            dump(configuration, to: &text)
            #expect(!text.contains("secret"))
        }
    }
#endif
