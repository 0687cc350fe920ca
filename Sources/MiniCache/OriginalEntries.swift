internal import Foundation
internal import VellumCore
internal import VellumEngine

extension OriginalCache {
    /// What becomes of an entry of the original MiniCache: its key and value are JSON texts, its version the text of today.
    static let miniCache = OriginalCache { entry in
        guard let key = CacheKey.of(json: entry.key), CanonicalNode(json: entry.value) != nil else { return nil }
        let place = CachePlace(name: entry.cache, version: entry.version)
        return OriginalCache.Placed(archive: place.archiveName, inVersionGroup: place.name, key: key, bytes: Data(entry.value.utf8))
    }
}
