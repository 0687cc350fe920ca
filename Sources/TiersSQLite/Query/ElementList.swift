internal import Foundation
internal import Tiers

/// The elements of a collection in one value, so that they can be found in their table again without a second index there.
///
/// For each element its kind in one byte, then an integer in eight, or a length in eight and so many bytes.
enum ElementList {
    static func encode(_ elements: [IndexValue]) -> Data {
        var data = Data()
        for element in elements {
            switch element {
            case .null:
                data.append(0)
            case .integer(let value):
                data.append(1)
                data.append(littleEndian: UInt64(bitPattern: value))
            case .text(let text):
                data.append(2)
                data.append(littleEndian: UInt64(text.utf8.count))
                data.append(contentsOf: text.utf8)
            case .bytes(let bytes):
                data.append(3)
                data.append(littleEndian: UInt64(bytes.count))
                data.append(bytes)
            }
        }
        return data
    }

    /// The elements; nothing if the bytes are no such list.
    static func decode(_ bytes: UnsafeRawBufferPointer) -> [IndexValue]? {
        var rest = bytes[...]
        var elements: [IndexValue] = []
        while let kind = rest.popFirst() {
            switch kind {
            case 0: elements.append(.null)
            case 1:
                guard let number = rest.popNumber() else { return nil }
                elements.append(.integer(Int64(bitPattern: number)))
            case 2, 3:
                guard let count = rest.popNumber(), count <= rest.count else { return nil }
                let content = rest.prefix(Int(count))
                rest = rest.dropFirst(Int(count))
                elements.append(kind == 2 ? .text(String(decoding: content, as: UTF8.self)) : .bytes(Data(content)))
            default: return nil
            }
        }
        return elements
    }
}

extension Data {
    fileprivate mutating func append(littleEndian number: UInt64) {
        Swift.withUnsafeBytes(of: number.littleEndian) { append(contentsOf: $0) }
    }
}

extension Slice<UnsafeRawBufferPointer> {
    fileprivate mutating func popNumber() -> UInt64? {
        guard count >= 8 else { return nil }
        defer { self = dropFirst(8) }
        return UInt64(littleEndian: UnsafeRawBufferPointer(rebasing: prefix(8)).loadUnaligned(as: UInt64.self))
    }
}

// MARK: Index values in statements

extension Statement {
    func bind(_ value: IndexValue, at index: Int32) {
        switch value {
        case .null: bind(Int64?.none, at: index)
        case .integer(let integer): bind(integer, at: index)
        case .text(let text): bind(text, at: index)
        case .bytes(let data): bind(copying: data, at: index)
        }
    }

    /// A row of the table of columns.
    func indexedValues(columns: Int, collections: Int) -> IndexedValues? {
        var values = IndexedValues(columns: (0..<columns).map { indexValue(Int32($0)) })
        for collection in 0..<collections {
            guard let elements = ElementList.decode(bytes(Int32(columns + collection))) else { return nil }
            values.elements.append(elements)
        }
        return values
    }
}
