// The data cache of an image loader.

import Foundation
import MiniCache

final class ImageData: DataCaching {
    private let cache: MiniCache<String, Data>

    init(name: String) {
        cache = MiniCacheManager(name: name).cache(
            cacheName: "images",
            cacheVersion: .custom("1"),
            maxAge: .days(30),
            memoryLimit: 1.megaByte,
            diskLimit: 300.megaBytes
        )
    }

    func cachedData(for key: String) -> Data? { cache[key] }
    func storeData(_ data: Data, for key: String) { cache[key] = data }
    func removeData(for key: String) { cache[key] = nil }
    func removeAll() { reporting { try cache.removeAll() } }

    func containsData(for key: String) -> Bool {
        var isThere = false
        reporting { isThere = try cache.contains(key) }
        return isThere
    }

    private func reporting(_ body: () throws -> Void) {
        do { try body() } catch { print(error) }
    }
}

struct CachedImage: ImageDataProvider {
    let url: URL
    let cache: MiniCache<String, Data>
    var cacheKey: String { url.absoluteString }

    func data(
        handler: @escaping @Sendable (Result<Data, any Error>) -> Void
    ) {
        Task {
            do {
                let data = try await cache.value(forKey: cacheKey) {
                    try await download(url)
                }
                handler(.success(data))
            } catch {
                handler(.failure(error))
            }
        }
    }
}
// snippet.hide

/// As Nuke declares it.
protocol DataCaching: Sendable {
    func cachedData(for key: String) -> Data?
    func containsData(for key: String) -> Bool
    func storeData(_ data: Data, for key: String)
    func removeData(for key: String)
    func removeAll()
}

/// As Kingfisher declares it.
protocol ImageDataProvider: Sendable {
    var cacheKey: String { get }
    func data(handler: @escaping @Sendable (Result<Data, any Error>) -> Void)
}

func download(_ url: URL) async throws -> Data { Data() }
