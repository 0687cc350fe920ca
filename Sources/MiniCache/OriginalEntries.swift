internal import Foundation
internal import VellumCore
internal import VellumEngine

extension OriginalCache {
    /// Takes an entry of the original MiniCache over into the cache of its name and version. Its value stays JSON; its key waits
    /// for a cache of its type.
    static let miniCache = OriginalCache { entry in
        guard JSONText.isValid(entry.key), JSONText.isValid(entry.value), let key = CacheKey.undecoded(originalJSON: entry.key)
        else { return nil }
        return OriginalCache.Placed(archive: entry.cache, version: entry.version, key: key, bytes: Data(entry.value.utf8))
    }
}

/// Any JSON text, of which only the syntax is checked.
private struct JSONText: Decodable {
    init(from decoder: any Decoder) {}

    static func isValid(_ text: String) -> Bool {
        do {
            _ = try JSONCoders.decoder.decode(JSONText.self, from: Data(text.utf8))
            return true
        } catch {
            return false
        }
    }
}
