package import Foundation
package import VellumCore

/// The keys of a cache on a server. An entry has two, in one slot of a cluster
/// (redis.io/docs/latest/operate/oss_and_stack/reference/cluster-spec):
///
/// | | |
/// | --- | --- |
/// | its value | `v1:{kNAME\0KEY}` |
/// | the lease of its loader | `v1:{kNAME\0KEY}l` |
///
/// Under `v1:{gNAME\0GROUP}` is the epoch of a group: eight bytes, at random. What was recorded
/// under another one, or when there is none, is not valid. So an epoch that is evicted or lost
/// removes its group, none is ever used again, and no clocks are compared.
package struct RemoteKeys: Hashable, Sendable {
    /// How every key of the cache begins.
    package let beginning: String

    /// - Parameter name: The name of the cache, without U+0000, which ends it.
    package init(cacheName name: String, areOfGroups: Bool = false) {
        precondition(!name.utf8.contains(0), "The name of a cache contains U+0000.")
        beginning = "v1:{\(areOfGroups ? "g" : "k")\(EntryKey(name).normalized)\0"
    }

    package func value(of key: EntryKey) -> String { "\(beginning)\(key.normalized)}" }

    package func lease(of key: EntryKey) -> String { "\(beginning)\(key.normalized)}l" }

    /// Matches all keys of the cache (redis.io/docs/latest/commands/keys).
    package var pattern: String {
        beginning.reduce(into: "") { pattern, character in
            if "*?[]\\^-".contains(character) { pattern.append("\\") }
            pattern.append(character)
        } + "*"
    }

    /// Returns the key of the entry whose value or lease has this key on the server; `nil` if it
    /// belongs to no entry of this cache.
    package func entryKey(of remote: Data) -> (key: EntryKey, isLease: Bool)? {
        guard remote.starts(with: beginning.utf8),
            let end = remote.lastIndex(of: UInt8(ascii: "}"))
        else { return nil }
        let key = remote.index(remote.startIndex, offsetBy: beginning.utf8.count)
        let suffix = Array(remote[(end + 1)...])
        guard end >= key,
            [[], [UInt8(ascii: "l")]].contains(suffix)
        else { return nil }
        return String(bytes: remote[key..<end], encoding: .utf8).map {
            (EntryKey($0), !suffix.isEmpty)
        }
    }
}
