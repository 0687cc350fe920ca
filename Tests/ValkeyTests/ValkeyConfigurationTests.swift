#if Valkey
    import Testing
    import VellumCore
    import VellumRemote
    import VellumValkey

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

        @Test func noDescriptionShowsThePassword() throws {
            let configuration = try ValkeyConfiguration(url: "valkey://user:secret@cache")
            #expect(!"\(configuration)\(String(reflecting: configuration))".contains("secret"))
            var text = ""
            dump(configuration, to: &text)
            #expect(!text.contains("secret"))
        }
    }
#endif
