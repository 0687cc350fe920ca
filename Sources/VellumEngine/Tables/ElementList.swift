internal import Foundation
internal import VellumCore

/// The elements of a collection encoded in one value, so that their rows can be found in
/// `elements_N_M` without a second index there.
///
/// Each element is one byte for its kind, then either an integer in eight bytes, or a length and
/// that many bytes. A length takes one byte per seven bits (LEB128).
enum ElementList {
    static func encode(_ elements: [IndexValue]) -> Data {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(elements.count * 16)
        for element in elements {
            switch element {
            case .null:
                bytes.append(0)
            case .integer(let value):
                bytes.append(1)
                withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
            case .text(let text):
                bytes.append(2)
                bytes.append(length: text.utf8.count)
                bytes.append(contentsOf: text.utf8)
            case .bytes(let data):
                bytes.append(3)
                bytes.append(length: data.count)
                bytes.append(contentsOf: data)
            }
        }
        return Data(bytes)
    }

    /// The elements, or `nil` if the bytes are not a valid list.
    static func decode(_ bytes: UnsafeRawBufferPointer) -> [IndexValue]? {
        var rest = bytes[...]
        var elements: [IndexValue] = []
        while let kind = rest.popFirst() {
            switch kind {
            case 0: elements.append(.null)
            case 1:
                guard rest.count >= 8 else { return nil }
                let number = UnsafeRawBufferPointer(rebasing: rest.prefix(8)).loadUnaligned(
                    as: Int64.self
                )
                rest = rest.dropFirst(8)
                elements.append(.integer(Int64(littleEndian: number)))
            case 2, 3:
                guard let count = rest.popLength(), count <= rest.count else { return nil }
                let content = rest.prefix(count)
                rest = rest.dropFirst(count)
                elements.append(
                    kind == 2
                        ? .text(String(decoding: content, as: UTF8.self))
                        : .bytes(Data(content))
                )
            default: return nil
            }
        }
        return elements
    }
}

extension [UInt8] {
    fileprivate mutating func append(length: Int) {
        var left = UInt64(length)
        while left >= 0x80 {
            append(UInt8(left & 0x7F) | 0x80)
            left >>= 7
        }
        append(UInt8(left))
    }
}

extension Slice<UnsafeRawBufferPointer> {
    fileprivate mutating func popLength() -> Int? {
        var length: UInt64 = 0
        for shift in stride(from: 0 as UInt64, to: 56, by: 7) {
            guard let byte = popFirst() else { return nil }
            length |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { return Int(length) }
        }
        return nil
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
}
