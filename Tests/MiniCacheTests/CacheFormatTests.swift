import Foundation
import MiniCache
import TestThreads
import Testing
import VellumTestSupport

@Suite("The format of stored values", .ownThreads)
struct CacheFormatTests {
    private struct Rate: Codable, Equatable {
        var name = "EUR"
        var value = 1.0625
        var bytes = Data([0, 255, 217])
    }

    private let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    private func manager(_ format: CodableFormat) -> MiniCacheManager {
        MiniCacheManager(name: "rates", directory: folder.url, format: format)
    }

    private func cache(_ manager: MiniCacheManager) -> MiniCache<String, Rate> {
        manager.cache(cacheName: "rates", cacheVersion: .custom("1"), maxAge: .forever)
    }

    @Test(arguments: [(CodableFormat.json, CodableFormat.cbor), (.cbor, .json)])
    func valuesOfEveryFormatAreRead(_ written: CodableFormat, _ read: CodableFormat) throws {
        let first = manager(written)
        try cache(first).set(Rate(), forKey: "a")
        try first.close()
        let second = manager(read)
        #expect(second.format == read)
        #expect(try cache(second).value(forKey: "a") == Rate())
        try cache(second).set(Rate(value: 2), forKey: "a")
        try second.close()
        #expect(try cache(manager(written)).value(forKey: "a")?.value == 2)
    }

    @Test func CBORIsTheDefaultAndSmallerThanJSONThanJSON() throws {
        let (binary, text) = (MiniCacheManager(name: "b", directory: folder.url), manager(.json))
        #expect(binary.format == .cbor)
        try cache(binary).set(Rate(), forKey: "a")
        try cache(text).set(Rate(), forKey: "a")
        let sizes = try (
            #require(try cache(binary).metadata(forKey: "a")).size,
            #require(try cache(text).metadata(forKey: "a")).size
        )
        #expect(sizes.0 < sizes.1)
    }
}
