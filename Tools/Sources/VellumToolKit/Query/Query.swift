internal import Foundation
internal import VellumFiles

/// A question about the fields of objects, as `Tools/README.md` describes it.
struct Query {
    /// The text is not a query: where, and why.
    struct SyntaxError: Error {
        /// The place in scalars.
        let offset: Int
        /// What was expected.
        let message: String
    }

    /// One criterion of a sort.
    struct Sort {
        var field: FieldPath
        var isDescending: Bool
    }

    typealias Condition = (CBORValue) -> Bool

    var condition: Condition = { _ in true }
    var sorts: [Sort] = []
    var offset = 0
    var limit: Int?

    /// Reads a query; an empty text finds every object.
    init(_ text: String) throws(SyntaxError) {
        var parser = QueryParser(text)
        self = try parser.query()
    }

    init() {}

    /// The limit is reached.
    private struct Enough: Error {}

    /// Calls `body` with the objects that match, and holds few of them in memory unless they are
    /// sorted.
    func find(in archive: RawArchive, _ body: (RawArchive.Object) throws -> Void) throws {
        guard sorts.isEmpty else {
            return try sorted(in: archive).forEach(body)
        }
        var position = 0
        let end = limit.map { Numbers.sum($0, offset) }
        guard limit != 0 else { return }
        do {
            try archive.find(where: condition) { object in
                position += 1
                if position > offset {
                    try body(object)
                }
                if position == end { throw Enough() }
            }
        } catch is Enough {}  // The rest is not read.
    }

    private func sorted(in archive: RawArchive) throws -> ArraySlice<RawArchive.Object> {
        typealias Found = (keys: [Scalar?], object: RawArchive.Object)
        func isBefore(_ left: Found, _ right: Found) -> Bool {
            for (number, sort) in sorts.enumerated() {
                let order = Scalar.sortOrder(left.keys[number], right.keys[number])
                if order != 0 {
                    return sort.isDescending ? order > 0 : order < 0
                }
            }
            return false
        }
        let most = limit.map { Numbers.sum($0, offset) } ?? .max
        var found: [Found] = []
        try archive.find(where: condition) { object in
            found.append((sorts.map { Scalar(object.value[$0.field]) }, object))
            guard found.count / 2 > most, found.count > 1000 else {
                return
            }
            found.sort(by: isBefore)
            found.removeLast(found.count - most)
        }
        found.sort(by: isBefore)
        return found.prefix(most).dropFirst(offset).map(\.object)[...]
    }
}

/// The way to a field of an object: `address.city`, `tags.0`.
typealias FieldPath = [String]

extension CBORValue {
    /// The field of an object by its name in JSON, or the element of a list by its number.
    func member(_ name: String) -> CBORValue? {
        switch self {
        case .map(let pairs):
            if let value = pairs[.text(name)] {
                return value
            }
            return pairs.first { key, _ in
                if case .text = key { false } else { key.plainText == name }
            }?.value
        case .array: return Int(name).flatMap { self[$0] }
        case .tagged(_, let inner):
            return inner.member(name)
        default: return nil
        }
    }

    /// The field at a path; `nil` if there is none.
    subscript(path: FieldPath) -> CBORValue? {
        path.reduce(self as CBORValue?) { $0?.member($1) }
    }
}
