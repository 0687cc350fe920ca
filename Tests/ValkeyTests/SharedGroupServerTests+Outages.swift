#if Valkey
    import FleetSupport
    import Foundation
    import MiniCacheValkey
    import TestThreads
    import Testing
    import VellumTestSupport

    import struct VellumCore.Locked

    extension SharedGroupServerTests {
        @Test func aRemovalThatCouldNotBeSentIsSentLater() async throws {
            let (one, other) = (try Program(redis.port), try Program(redis.port))
            try await one.cache.set(1, forKey: "a", groups: ["g"])
            try await until("a removal fails of a value that is there") {
                do throws(VellumError) {
                    try await other.cache.set(1, forKey: "a", groups: ["g"])
                } catch { return false }
                try await command("CLIENT", "KILL", "TYPE", "normal")
                do throws(VellumError) { try await one.cache.removeAll(group: "g") } catch {
                    return true
                }
                return false
            }
            // Nobody asks for the removal again.
            await until("the removal has arrived") {
                do throws(VellumError) {
                    return try await other.cache.value(forKey: "a", freshness: .confirmed) == nil
                } catch {
                    return false
                }
            }
        }

        @Test func nearValuesOfAGroupEndWhenTheServerIsSilent() async throws {
            // When a read has waited in vain, whatever the server had said before it was silent is
            // trusted no longer.
            let program = try Program(redis.port) {
                ($0.trust, $0.readTimeout) = (.milliseconds(200), .milliseconds(400))
            }
            await until("the value can be set") {
                do throws(VellumError) {
                    try await program.cache.set(1, forKey: "a", groups: ["g"])
                    return true
                } catch {
                    #expect([.outcomeUnknown, .unreachable].contains(error.code))
                    return false
                }
            }
            redis.stop()
            defer { redis.resume() }
            var code: VellumError.Code?
            await until("memory answers no more") {
                do throws(VellumError) { _ = try await program.cache.value(forKey: "a") } catch {
                    code = error.code
                }
                return code != nil
            }
            #expect(code == .outcomeUnknown || code == .unreachable)
            let nearHits = program.cache.statistics.nearHits
            await #expect(throws: VellumError.self) { try await program.cache.value(forKey: "a") }
            #expect(program.cache.statistics.nearHits == nearHits)
        }

        /// After a removal has returned, no confirmed read of any program returns what was recorded
        /// before, nor does a near read of the remover. Near reads of the other end by what the
        /// server says.
        @Test(arguments: 0..<6 as Range<UInt64>) func readsAreThoseOfAModel(
            _ seed: UInt64
        ) async throws {
            var random = SeededGenerator(seed: seed)
            let programs = [try Program(redis.port), try Program(redis.port)]
            var model: [String: (value: Int, groups: Set<String>)] = [:]
            let (keys, names) = (["a", "b", "c", "g"], ["g", "h", "i"])
            for number in 0..<250 {
                let (program, key) = (random.element(of: programs), random.element(of: keys))
                let groups = Set(names.randomSome(&random))
                switch Int.random(in: 0..<9, using: &random) {
                case 0...1:
                    try await program.cache.set(number, forKey: key, groups: groups)
                    model[key] = (number, groups)
                case 2:
                    try await program.cache.removeValue(forKey: key)
                    model[key] = nil
                case 3...4:
                    let group = random.element(of: names)
                    if number % 7 == 0 {
                        try await command("DEL", epoch(of: group))
                        // Each has heard it before the next answer.
                        for program in programs {
                            _ = try await program.cache.value(
                                forKey: "nothing",
                                freshness: .confirmed
                            )
                        }
                    } else {
                        try await program.cache.removeAll(group: group)
                    }
                    model = model.filter { !$0.value.groups.contains(group) }
                    let near = try await program.cache.values(forKeys: keys)
                    #expect(near == model.mapValues(\.value), "\(number)")
                case 5:
                    // Near values of the other one would be an answer.
                    guard try await program.cache.value(forKey: key, freshness: .confirmed) == nil
                    else { continue }
                    let loaded = try await program.cache.loading(into: groups).load(key) { number }
                    #expect(loaded == Loaded(number, .loaded), "\(number)")
                    // A load that hears of an epoch that it has made itself stores nothing.
                    if try await program.cache.value(forKey: key, freshness: .confirmed) == number {
                        model[key] = (number, groups)
                    }
                case 6:
                    #expect(
                        try await program.cache.setIfAbsent(number, forKey: key)
                            == (model[key] == nil),
                        "\(number)"
                    )
                    if model[key] == nil { model[key] = (number, []) }
                case 7:
                    try await until("a near read is that of the model") {
                        try await program.cache.value(forKey: key) == model[key]?.value
                    }
                default:
                    #expect(
                        try await program.cache.value(forKey: key, freshness: .confirmed)
                            == model[key]?.value,
                        "\(number)"
                    )
                    #expect(
                        try await program.cache.values(forKeys: keys, freshness: .confirmed)
                            == model.mapValues(\.value),
                        "\(number)"
                    )
                }
            }
        }
    }
#endif
