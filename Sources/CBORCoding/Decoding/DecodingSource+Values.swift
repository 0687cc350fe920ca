internal import Foundation

extension DecodingSource {
    /// Decodes the item at the offset, which has `depth` enclosing containers.
    @inline(__always)
    func decode<Value: Decodable>(
        _ type: Value.Type,
        at offset: Int,
        depth: Int
    ) throws -> Value {
        guard let known = KnownType.of(type) else {
            decodedItem = offset
            decodedType = type
            return try Value(from: ItemDecoder(source: self, offset: offset, depth: depth))
        }
        return try decodeKnown(type, known, at: offset, depth: depth)
    }

    /// Decodes a value of a known type. The bit casts are safe because `KnownType.of` compared the
    /// types by identity.
    private func decodeKnown<Value: Decodable>(
        _ type: Value.Type,
        _ known: KnownType,
        at offset: Int,
        depth: Int
    ) throws -> Value {
        @inline(__always)
        func this<Known>(_ value: Known) -> Value {
            unsafeBitCast(value, to: Value.self)
        }
        switch known {
        case .bool: return this(try bool(at: offset))
        case .string: return this(try string(at: offset))
        case .double: return this(try double(at: offset))
        case .float: return this(try float(at: offset))
        case .int: return this(try integer(Int.self, at: offset))
        case .int8: return this(try integer(Int8.self, at: offset))
        case .int16: return this(try integer(Int16.self, at: offset))
        case .int32: return this(try integer(Int32.self, at: offset))
        case .int64: return this(try integer(Int64.self, at: offset))
        case .int128: return this(try integer(Int128.self, at: offset))
        case .uint: return this(try integer(UInt.self, at: offset))
        case .uint8: return this(try integer(UInt8.self, at: offset))
        case .uint16: return this(try integer(UInt16.self, at: offset))
        case .uint32: return this(try integer(UInt32.self, at: offset))
        case .uint64: return this(try integer(UInt64.self, at: offset))
        case .uint128: return this(try integer(UInt128.self, at: offset))
        case .ints:
            return this(
                try elements(at: offset, depth: depth) {
                    try integer(Int.self, at: $0)
                }
            )
        case .doubles:
            return this(
                try elements(at: offset, depth: depth) { try double(at: $0) }
            )
        case .floats:
            return this(
                try elements(at: offset, depth: depth) { try float(at: $0) }
            )
        case .strings:
            return this(
                try elements(at: offset, depth: depth) { try string(at: $0) }
            )
        case .byteArray: return this(try byteArray(at: offset, depth: depth))
        case .date: return this(try date(at: offset, depth: depth))
        case .data: return this(try data(at: offset, depth: depth))
        case .url: return this(try url(at: offset, depth: depth))
        case .uuid: return this(try uuid(at: offset))
        case .decimal: return this(try decimal(at: offset))
        }
    }

    // MARK: Arrays

    @inline(__always)
    private func elements<Element>(
        at offset: Int,
        depth: Int,
        _ read: (Int) throws -> Element
    ) throws -> [Element] {
        let head = try contentHead(at: offset)
        guard head.type == .array else { throw typeMismatch([Element].self, at: offset) }
        let count = elements(of: head)
        var elements: [Element] = []
        elements.reserveCapacity(count)
        var next = head.next
        for _ in 0..<count {
            elements.append(try read(next))
            next = end(of: next, depth: depth + 1)
        }
        finish(offset, at: head.isIndefinite ? next + 1 : next)
        return elements
    }

    /// Decodes an array of numbers, or a byte string.
    private func byteArray(at offset: Int, depth: Int) throws -> [UInt8] {
        let head = try contentHead(at: offset)
        if head.type == .bytes, !isBignum(at: offset) {
            return reader.withBytes(head) { Array($0) }
        }
        return try elements(at: offset, depth: depth) {
            try integer(UInt8.self, at: $0)
        }
    }

    // MARK: Foundation types

    private func date(at offset: Int, depth: Int) throws -> Date {
        let decoder = ItemDecoder(source: self, offset: offset, depth: depth)
        if case .custom(let decode) = options.dateDecodingStrategy { return try decode(decoder) }
        try checkIsOpen()
        let (head, tag) = contentAndTag(at: offset)
        func parsed(_ parse: (String) -> Date?) throws -> Date {
            if let date = parse(try string(at: offset)) { return date }
            throw dataCorrupted(
                """
                The text is not a date that exists: 2013-03-21T20:04:00Z, or 2013-03-21 with tag \
                1004 (RFC 3339).
                """,
                at: offset
            )
        }
        func seconds() throws -> Double {
            guard head.type != .text else { throw typeMismatch(Date.self, at: offset) }
            return try double(at: offset)
        }
        switch (tag, options.dateDecodingStrategy) {
        case (Tag.dayText, _): return try parsed(RFC3339.fullDate)
        case (Tag.epochDay, _):
            return Date(timeIntervalSince1970: Double(try integer(Int.self, at: offset)) * 86400)
        case (Tag.epochDate, _): return Date(timeIntervalSince1970: try seconds())
        case (Tag.dateText, _), (_, .iso8601):
            return try parsed(RFC3339.date)
        case (_, .secondsSince1970): return Date(timeIntervalSince1970: try seconds())
        case (_, .millisecondsSince1970): return Date(timeIntervalSince1970: try seconds() / 1000)
        case (_, .deferredToDate), (_, .custom):
            return Date(timeIntervalSinceReferenceDate: try seconds())
        }
    }

    private func data(at offset: Int, depth: Int) throws -> Data {
        let decoder = ItemDecoder(source: self, offset: offset, depth: depth)
        if case .custom(let decode) = options.dataDecodingStrategy { return try decode(decoder) }
        let head = try contentHead(at: offset)
        if head.type == .bytes { return reader.withBytes(head) { Data($0) } }
        switch (options.dataDecodingStrategy, head.type) {
        case (.deferredToData, .array): return try Data(from: decoder)
        case (.base64, .text):
            guard let data = Data(base64Encoded: try string(at: offset)) else {
                throw dataCorrupted("The text is not valid Base64.", at: offset)
            }
            return data
        default: throw typeMismatch(Data.self, at: offset)
        }
    }

    /// Decodes a text, or the two texts of a URL with a base URL.
    private func url(at offset: Int, depth: Int) throws -> URL {
        let type = try contentHead(at: offset).type
        if type == .map {
            return try URL(from: ItemDecoder(source: self, offset: offset, depth: depth))
        }
        guard type == .text else { throw typeMismatch(URL.self, at: offset) }
        guard let url = URL(string: try string(at: offset)) else {
            throw dataCorrupted("The text is not a URL.", at: offset)
        }
        return url
    }

    /// Decodes 16 bytes or a text.
    private func uuid(at offset: Int) throws -> UUID {
        let head = try contentHead(at: offset)
        switch head.type {
        case .bytes:
            let uuid: UUID? = reader.withBytes(head) { bytes in
                guard bytes.count == 16 else { return nil }
                return UUID(uuid: UnsafeRawBufferPointer(bytes).loadUnaligned(as: uuid_t.self))
            }
            guard let uuid else { throw dataCorrupted("A UUID must have 16 bytes.", at: offset) }
            return uuid
        case .text:
            guard let uuid = UUID(uuidString: try string(at: offset)) else {
                throw dataCorrupted("The text is not a UUID.", at: offset)
            }
            return uuid
        case .unsigned, .negative, .array, .map, .tag, .simple:
            throw typeMismatch(UUID.self, at: offset)
        }
    }

    /// Decodes a decimal fraction, an integer, a floating-point number or a text.
    private func decimal(at offset: Int) throws -> Decimal {
        try checkIsOpen()
        let (head, tag) = contentAndTag(at: offset)
        let decimal: Decimal?
        if tag == Tag.decimalFraction, head.type == .array {
            decimal = try fraction(head, at: offset).decimal
        } else if let parts = integerParts(at: offset) {
            decimal =
                DecimalParts(argument: parts.argument, isNegative: parts.isNegative, exponent: 0)?
                .decimal
        } else if head.type == .simple, let number = floatingPoint(head) {
            // Converted by way of text, because the conversion from `Double` adds digits that are
            // not in the number.
            decimal = number.isNaN ? .nan : Decimal(string: "\(number)", locale: nil)
        } else if head.type == .text {
            guard let parts = DecimalParts(try string(at: offset)) else {
                throw dataCorrupted(
                    """
                    The text is not a number that fits in Decimal. Write it without spaces and \
                    separators: -1234.5.
                    """,
                    at: offset
                )
            }
            decimal = parts.decimal
        } else {
            guard isBignum(at: offset) else { throw typeMismatch(Decimal.self, at: offset) }
            decimal = nil
        }
        guard let decimal else { throw doesNotFit(Decimal.self, at: offset) }
        return decimal
    }

    private func fraction(_ head: ItemReader.Head, at offset: Int) throws -> DecimalParts {
        guard elements(of: head) == 2 else {
            throw dataCorrupted(
                "A decimal fraction must have an exponent and a mantissa.",
                at: offset
            )
        }
        let exponent = try integer(Int.self, at: head.next)
        guard let mantissa = integerParts(at: reader.end(of: head.next)),
            let parts = DecimalParts(
                argument: mantissa.argument,
                isNegative: mantissa.isNegative,
                exponent: exponent
            )
        else { throw doesNotFit(Decimal.self, at: offset) }
        return parts
    }
}
