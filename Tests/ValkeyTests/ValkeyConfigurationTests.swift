#if Valkey
    import Testing
    import VellumCore
    import VellumRemote

    @testable import VellumValkey

    @Suite(.timeLimit(.minutes(1)))
    struct ValkeyConfigurationTests {
        @Test func aURLNamesServerUserPasswordAndDatabase() throws {
            let configuration = try ValkeyConfiguration(url: "valkey://shop:s%40cret@cache.internal:7000/3")
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
            ("s1:26380", "s1", 26380), ("s1", "s1", 26379), ("[::1]:7", "::1", 7), ("[::1]", "::1", 26379), ("s1:-1", "s1", -1),
            ("s1:65536", "s1", 65536), ("s1:99999999999999999999", "s1:99999999999999999999", 26379), ("", "", 26379), (":", ":", 26379),
        ])
        func anAddressIsAHostAndAPort(_ text: String, host: String, port: Int) {
            var configuration = ValkeyConfiguration(sentinels: [text], primaryName: "main", user: "shop", password: "secret")
            (configuration.sentinelUser, configuration.sentinelPassword) = ("watcher", "other")
            let sentinel = configuration.link.sentinels[0]
            #expect((sentinel.host, sentinel.port) == (host, port))
            #expect((sentinel.user, sentinel.password) == ("watcher", "other"))
            #expect((configuration.link.user, configuration.link.password) == ("shop", "secret"))
            configuration.otherAddresses = ["s1"]
            #expect(configuration.link.places.map(\.port) == [6379, 6379])
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
