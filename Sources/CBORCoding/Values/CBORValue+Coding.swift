internal import Foundation

extension EncodingBuffer {
    /// Encodes the value as the item.
    func add(_ value: CBORValue, as item: Int) throws {
        try openScalar(item)
        try add(value, as: item, level: items[item].depth)
    }

    private func add(_ value: CBORValue, as item: Int, level: Int) throws {
        switch value {
        case .integer(let integer): bytes.append(integer: integer)
        case .float(let number): bytes.append(doubleBits: number.bitPattern)
        case .bytes(let data):
            data.withUnsafeBytes {
                bytes.append($0.assumingMemoryBound(to: UInt8.self), as: .bytes)
            }
        case .text(let text): bytes.append(text)
        case .bool(let value): bytes.append(value)
        case .null: bytes.append(SimpleByte.null)
        case .undefined: bytes.append(SimpleByte.undefined)
        case .simple(let number):
            // 20 to 23 have their own cases; 24 to 31 are reserved (RFC 8949, 3.3).
            guard !(20..<32).contains(number) else {
                throw error(
                    item,
                    """
                    The simple values 20 to 31 are assigned or reserved. Use .bool, .null or \
                    .undefined.
                    """
                )
            }
            bytes.appendHead(.simple, UInt64(number))
        case .array(let elements):
            guard level < options.nestingLimit else { throw tooDeep(item) }
            bytes.appendHead(.array, UInt64(elements.count))
            for element in elements { try add(element, as: item, level: level + 1) }
        case .map(let pairs):
            guard level < options.nestingLimit else { throw tooDeep(item) }
            bytes.appendHead(.map, UInt64(pairs.count))
            let sorted = try pairs.map {
                (
                    key: try encodedKey($0.key, as: item, level: level + 1),
                    value: $0.value
                )
            }
            .sorted { $0.key.lexicographicallyPrecedes($1.key) }
            for (key, value) in sorted {
                key.withUnsafeBufferPointer {
                    bytes.append($0.baseAddress.unsafelyUnwrapped, count: $0.count)
                }
                try add(value, as: item, level: level + 1)
            }
        case .tagged(let tag, let value):
            guard level < options.nestingLimit else { throw tooDeep(item) }
            bytes.appendHead(.tag, tag)
            try add(value, as: item, level: level + 1)
        }
    }

    private func encodedKey(
        _ key: CBORValue,
        as item: Int,
        level: Int
    ) throws -> [UInt8] {
        let start = bytes.count
        try add(key, as: item, level: level)
        defer { bytes.truncate(to: start) }
        return Array(UnsafeBufferPointer(start: bytes.base + start, count: bytes.count - start))
    }
}

extension DecodingSource {
    /// Decodes the item at the offset, of any kind.
    func value(at offset: Int) throws -> CBORValue {
        try checkIsOpen()
        let head = reader.head(at: offset)
        switch head.type {
        case .unsigned: return .integer(Int128(head.argument))
        case .negative: return .integer(~Int128(head.argument))
        case .bytes: return .bytes(reader.withBytes(head) { Data($0) })
        case .text: return .text(try string(at: offset))
        case .array:
            var elements: [CBORValue] = []
            var next = head.next
            for _ in 0..<self.elements(of: head) {
                elements.append(try value(at: next))
                next = reader.end(of: next)
            }
            return .array(elements)
        case .map:
            var pairs: [CBORValue: CBORValue] = [:]
            for entry in entries(of: offset) {
                let key = try value(at: entry)
                // Keys that are distinct as bytes may be equal as values, for example an integer
                // and a bignum.
                let next = try value(at: reader.end(of: entry))
                guard pairs.updateValue(next, forKey: key) == nil else {
                    throw dataCorrupted("The map has duplicate keys.", at: offset)
                }
            }
            return .map(pairs)
        case .tag:
            let isBignum =
                head.argument == Tag.positiveBignum || head.argument == Tag.negativeBignum
            if isBignum, let (argument, isNegative) = integerParts(at: offset),
                argument <= UInt128(Int128.max)
            {
                return .integer(isNegative ? ~Int128(argument) : Int128(argument))
            }
            return .tagged(head.argument, try value(at: head.next))
        case .simple:
            if let number = floatingPoint(head) { return .float(number) }
            switch reader.base[offset] {
            case SimpleByte.false: return .bool(false)
            case SimpleByte.true: return .bool(true)
            case SimpleByte.null: return .null
            case SimpleByte.undefined: return .undefined
            default: return .simple(UInt8(truncatingIfNeeded: head.argument))
            }
        }
    }
}
