internal import Foundation
internal import VellumEngine

/// The index of an archive as its file describes it: what of it is known without the type, which
/// alone knows the fields that have its values (decision 79).
struct RawIndex {
    private var shape = IndexShape()

    /// Reads a definition (``IndexShape/definition``); `nil` if it is none that this version
    /// writes.
    init?(definition: String) {
        var parts = definition.components(separatedBy: ";")[...]
        guard parts.popFirst() == "1", let each = parts.lastIndex(of: "each"),
            each > parts.startIndex
        else { return nil }
        shape.columns = Self.columns(parts[..<(each - 1)])
        for index in parts[each - 1].dropFirst().dropLast().components(separatedBy: ")(")
        where !index.isEmpty {
            shape.indexes.append(index.split(separator: ",").compactMap { Int($0) })
        }
        parts = parts[(each + 1)...]
        if parts.last == "as recorded" {
            shape.rewrites = false
            parts.removeLast()
        }
        if let last = parts.last,
            last.hasPrefix("version "),
            let version = Int64(last.dropFirst(8))
        {
            shape.version = version
            parts.removeLast()
        }
        shape.collections = Self.columns(parts)
        guard shape.definition == definition,
            shape.indexes.joined().allSatisfy(shape.columns.indices.contains)
        else { return nil }
    }

    private static func columns(_ parts: ArraySlice<String>) -> [IndexShape.Column] {
        parts.compactMap { part in
            guard let colon = part.lastIndex(of: ":") else { return nil }
            return IndexShape.Column(
                name: String(part[..<colon]),
                encoding: String(part[part.index(after: colon)...])
            )
        }
    }

    func hasColumns(_ columns: Int, collections: Int) -> Bool {
        (shape.columns.count, shape.collections.count) == (columns, collections)
    }

    /// The indexes, as a listing shows them.
    var indexes: [RawArchive.Index] {
        shape.indexes.map {
            .init(properties: $0.map { shape.columns[$0].name }, isOfElements: false)
        }
            + shape.collections.map { .init(properties: [$0.name], isOfElements: true) }
    }

    /// The fields that are dates. `address?.since` is `address.since`.
    var dateFields: Set<String> {
        let dates = (shape.columns + shape.collections).filter {
            ["Date", "Date?"].contains($0.encoding)
        }
        return Set(dates.map { $0.name.filter { !"?!".contains($0) } })
    }
}
