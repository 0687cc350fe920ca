// A cache that keeps its values when the program ends, in the place of an NSCache.

import Foundation
import MiniCache

// snippet.hide
let url = URL(fileURLWithPath: "/photo.jpg")
let pixels = Data()
// snippet.show

struct Thumbnail: Codable {
    var pixels: Data
    var width: Int
}

let manager = MiniCacheManager(name: "Thumbnails")
let thumbnails: MiniCache<URL, Thumbnail> = manager.cache(
    cacheName: "thumbnails",
    cacheVersion: .custom("1"),
    maxAge: .days(30),
    memoryLimit: 50.megaBytes,
    diskLimit: 500.megaBytes
)

thumbnails[url] = Thumbnail(pixels: pixels, width: 80)
let thumbnail = thumbnails[url]
thumbnails[url] = nil
try thumbnails.removeAll()

let loaded = try await thumbnails.value(forKey: url) {
    try await makeThumbnail()
}
// snippet.hide

print(thumbnail?.width ?? 0, loaded.width)
func makeThumbnail() async throws -> Thumbnail { Thumbnail(pixels: Data(), width: 80) }
