package import Foundation
package import VellumCore
package import VellumEngine

/// A value that contains its own location: its archive, its key, the number of the operation that
/// wrote it, and a filling derived from these. Torn, mixed or misplaced bytes are not a valid item.
package struct Item: Hashable, Sendable {
    package var archive: ScriptArchive
    package var key: String
    package var version: Int
    /// The length of the filling in bytes.
    package var filling: Int

    package init(archive: ScriptArchive, key: String, version: Int, filling: Int) {
        (self.archive, self.key, self.version, self.filling) = (archive, key, version, filling)
    }

    // The indexed properties.
    package var group: Int { version % 7 }
    package var name: String { "\(key) \(version)" }
    package var tags: [String] { ["all", "mod\(version % 5)"] }

    /// The group of an item in an archive with groups (``ScriptArchive/hasGroups``).
    package var groupName: String { Self.groups[version % Self.groups.count] }
    package static let groups = ["g0", "g1", "g2"]

    private var header: String { "\(archive.rawValue)|\(key)|\(version)|\(filling)\n" }

    /// The encoded item.
    package var bytes: Data {
        var bytes = Data(header.utf8)
        var block: [UInt8] = []
        var state = UInt64(truncatingIfNeeded: version) &* 0x9E37_79B9_7F4A_7C15
        for byte in key.utf8 { state = (state ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
        for _ in 0..<min(filling, 251) {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            block.append(UInt8(truncatingIfNeeded: state >> 56))
        }
        var left = filling
        while left > 0 {
            bytes.append(contentsOf: block.prefix(left))
            left -= min(left, block.count)
        }
        return bytes
    }

    package var size: Int { header.utf8.count + filling }
}

package struct TornItem: Error {
    package var found: String
}

/// Rejects all bytes except the exact encoding of an item.
package struct ItemCodec: Codec {
    private let archive: ScriptArchive
    /// The bytes of every version are the same.
    package let version: Int64

    /// - Parameter version: The version of the type: `.max` to read every other.
    package init(_ archive: ScriptArchive, version: Int64 = 0) {
        self.archive = archive
        self.version = version
    }

    package func migrate(_ bytes: Data, from old: Int64, of key: EntryKey) throws -> Migration<Item>
    {
        guard old < version else { throw VellumError.newerVersion(old, than: version) }
        let item = try decode(bytes)
        guard item.key == key.normalized else { throw TornItem(found: item.key) }
        return .value(item)
    }

    package func encode(_ value: Item) -> Data { value.bytes }

    package func decode(_ bytes: Data) throws -> Item {
        let header = String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
        let parts = header.split(separator: "|", omittingEmptySubsequences: false)
        guard parts.count == 4, parts[0] == archive.rawValue, let version = Int(parts[2]),
            let filling = Int(parts[3]),
            filling <= bytes.count
        else { throw TornItem(found: header) }
        let item = Item(archive: archive, key: String(parts[1]), version: version, filling: filling)
        guard item.bytes == bytes else { throw TornItem(found: header) }
        return item
    }
}

extension Item {
    /// The properties in the nth index of the safe archive; none for 0.
    package static func catalog(_ number: Int, version: Int64 = 0) -> IndexCatalog<Item> {
        var catalog = IndexCatalog<Item>()
        catalog.version = version
        guard number > 0 else { return catalog }
        let group = catalog.addColumn(\.group, name: "group")
        catalog.addIndex([group])
        guard number > 1 else { return catalog }
        let name = catalog.addColumn(\.name, name: "name")
        catalog.addIndex([group, name])
        guard number > 2 else { return catalog }
        catalog.addCollection(\Item.tags, name: "tags", of: String.self) { $0.tags }
        return catalog
    }

    package static let catalogs = 4

    package static func inGroup(_ group: Int) -> QueryDescription<Item> {
        QueryDescription([.filter(.test(Test(\Item.group, .isEqual(group)) { $0.group == group }))])
    }

    package static func tagged(_ tag: String) -> QueryDescription<Item> {
        QueryDescription([
            .filter(.test(Test(\Item.tags, .hasElement([tag])) { $0.tags.contains(tag) }))
        ])
    }
}
