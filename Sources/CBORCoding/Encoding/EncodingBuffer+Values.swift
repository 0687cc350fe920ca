internal import Foundation

extension EncodingBuffer {
    /// Encodes an entry of the container, which must be current.
    @inline(__always)
    func add<Value: Encodable>(
        _ value: Value,
        to container: Int,
        keyStart: Int
    ) throws {
        if let known = known(value) { return writeKnown(value, known) }
        guard items[container].depth < options.nestingLimit else { throw tooDeep(container) }
        try encode(value, to: beginItem(in: container, keyStart: keyStart))
    }

    /// Encodes the value as the item.
    func encode<Value: Encodable>(_ value: Value, to item: Int) throws {
        if let known = known(value) {
            try openScalar(item)
            return writeKnown(value, known)
        }
        if options.unorderedCollections != .asTheyAre, try encodeSorted(value, to: item) { return }
        let encoder = ItemEncoder(buffer: self, item: item)
        if Value.self == Date.self, case .custom(let encode) = options.dateEncodingStrategy {
            try encode(unsafeBitCast(value, to: Date.self), encoder)
        } else if Value.self == Date.self, case .iso8601 = options.dateEncodingStrategy {
            throw error(
                item,
                """
                RFC 3339 has no text for a date outside the years 0 to 9999. Use another \
                dateEncodingStrategy.
                """
            )
        } else if Value.self == Data.self, case .custom(let encode) = options.dataEncodingStrategy {
            try encode(unsafeBitCast(value, to: Data.self), encoder)
        } else {
            try value.encode(to: encoder)
        }
    }

    /// Encodes a collection whose items must be sorted; returns false for any other value.
    @inline(never)
    private func encodeSorted<Value>(_ value: Value, to item: Int) throws -> Bool {
        guard let items = try options.sortedItems(of: value) else { return false }
        try items.encode(to: ItemEncoder(buffer: self, item: item))
        return true
    }

    /// The known type of the value, if it can be written without its `encode(to:)`.
    @inline(__always)
    private func known<Value>(_ value: Value) -> KnownType? {
        guard let known = KnownType.of(Value.self) else { return nil }
        switch known {
        case .date:
            if case .custom = options.dateEncodingStrategy { return nil }
            if case .iso8601 = options.dateEncodingStrategy,
                !RFC3339.canRepresent(unsafeBitCast(value, to: Date.self))
            {
                return nil
            }
        case .data:
            switch options.dataEncodingStrategy {
            case .byteString, .base64: break
            case .deferredToData, .custom: return nil
            }
        case .url:
            // A URL with a base URL encodes itself as two texts.
            guard unsafeBitCast(value, to: URL.self).baseURL == nil else { return nil }
        default: break
        }
        return known
    }

    /// Writes a value of a known type. The bit casts are safe because `KnownType.of` compared the
    /// types by identity.
    private func writeKnown<Value>(_ value: Value, _ type: KnownType) {
        @inline(__always)
        func `is`<Known>(_: Known.Type) -> Known {
            unsafeBitCast(value, to: Known.self)
        }
        switch type {
        case .bool: bytes.append(`is`(Bool.self))
        case .string: bytes.append(`is`(String.self))
        case .double: bytes.append(doubleBits: `is`(Double.self).bitPattern)
        case .float: bytes.append(singleBits: `is`(Float.self).bitPattern)
        case .int: bytes.append(integer: `is`(Int.self))
        case .int8: bytes.append(integer: `is`(Int8.self))
        case .int16: bytes.append(integer: `is`(Int16.self))
        case .int32: bytes.append(integer: `is`(Int32.self))
        case .int64: bytes.append(integer: `is`(Int64.self))
        case .int128: bytes.append(integer: `is`(Int128.self))
        case .uint: bytes.append(integer: `is`(UInt.self))
        case .uint8: bytes.append(integer: `is`(UInt8.self))
        case .uint16: bytes.append(integer: `is`(UInt16.self))
        case .uint32: bytes.append(integer: `is`(UInt32.self))
        case .uint64: bytes.append(integer: `is`(UInt64.self))
        case .uint128: bytes.append(integer: `is`(UInt128.self))
        case .ints:
            add(all: `is`([Int].self)) { $0.append(integer: $1) }
        case .doubles:
            add(all: `is`([Double].self)) {
                $0.append(doubleBits: $1.bitPattern)
            }
        case .floats:
            add(all: `is`([Float].self)) {
                $0.append(singleBits: $1.bitPattern)
            }
        case .strings:
            add(all: `is`([String].self)) { $0.append($1) }
        case .byteArray:
            add(all: `is`([UInt8].self)) { $0.append(integer: $1) }
        case .date: add(`is`(Date.self))
        case .data: add(`is`(Data.self))
        case .url:
            bytes.appendHead(.tag, Tag.uri)
            bytes.append(`is`(URL.self).absoluteString)
        case .uuid:
            bytes.appendHead(.tag, Tag.uuid)
            withUnsafeBytes(of: `is`(UUID.self).uuid) {
                bytes.append($0.assumingMemoryBound(to: UInt8.self), as: .bytes)
            }
        case .decimal: add(`is`(Decimal.self))
        }
    }

    @inline(__always)
    private func add<Element>(
        all elements: [Element],
        by write: (inout GrowingBuffer<UInt8>, Element) -> Void
    ) {
        beginKnownArray(elements.count)
        for element in elements { write(&bytes, element) }
    }

    /// Writes the head of an array that is an entry of the current container, or the whole current
    /// item.
    private func beginKnownArray(_ count: Int) {
        let isEntry = items[current].kind == .array || items[current].kind == .map
        if items[current].depth + (isEntry ? 1 : 0) >= options.nestingLimit {
            fail(tooDeep(current))
        }
        bytes.appendHead(.array, UInt64(count))
    }

    private func add(_ date: Date) {
        switch options.dateEncodingStrategy {
        case .secondsSince1970:
            let seconds = date.timeIntervalSince1970
            bytes.appendHead(.tag, Tag.epochDate)
            if let whole = Int64(exactly: seconds) {
                bytes.append(integer: whole)
            } else {
                bytes.append(doubleBits: seconds.bitPattern)
            }
        case .millisecondsSince1970:
            bytes.append(doubleBits: (date.timeIntervalSince1970 * 1000).bitPattern)
        case .iso8601:
            bytes.appendHead(.tag, Tag.dateText)
            bytes.append(RFC3339.string(from: date))
        case .deferredToDate, .custom:
            bytes.append(doubleBits: date.timeIntervalSinceReferenceDate.bitPattern)
        }
    }

    private func add(_ data: Data) {
        if case .base64 = options.dataEncodingStrategy {
            bytes.append(data.base64EncodedString())
        } else {
            data.withUnsafeBytes {
                bytes.append($0.assumingMemoryBound(to: UInt8.self), as: .bytes)
            }
        }
    }

    /// Writes a decimal fraction or a NaN.
    private func add(_ decimal: Decimal) {
        guard let parts = DecimalParts(decimal) else {
            return bytes.append(doubleBits: Double.nan.bitPattern)
        }
        bytes.appendHead(.tag, Tag.decimalFraction)
        beginKnownArray(2)
        bytes.append(integer: parts.exponent)
        bytes.append(
            argument: parts.mantissa - (parts.isNegative ? 1 : 0),
            isNegative: parts.isNegative
        )
    }
}
