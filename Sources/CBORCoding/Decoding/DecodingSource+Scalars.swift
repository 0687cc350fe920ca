extension DecodingSource {
    // MARK: Integers

    @inline(__always)
    func integer<Number: FixedWidthInteger>(
        _ type: Number.Type,
        at offset: Int
    ) throws -> Number {
        try checkIsOpen()
        let head = reader.head(at: offset)
        guard head.type == .unsigned, let number = Number(exactly: head.argument) else {
            return try otherInteger(type, at: offset)
        }
        finish(offset, at: head.next)
        return number
    }

    @inline(never)
    private func otherInteger<Number: FixedWidthInteger>(
        _ type: Number.Type,
        at offset: Int
    ) throws -> Number {
        let content = reader.content(at: offset)
        let head = reader.head(at: content)
        if let (argument, isNegative) = integerParts(at: offset) {
            let isBeyond = argument > UInt128(Int128.max)
            let number =
                isNegative
                ? (isBeyond ? nil : Number(exactly: ~Int128(argument)))
                : Number(exactly: argument)
            guard let number else { throw doesNotFit(type, at: offset) }
            return number
        }
        if isBignum(at: offset) { throw doesNotFit(type, at: offset) }
        guard head.type == .simple, let number = floatingPoint(head) else {
            throw typeMismatch(type, at: offset)
        }
        guard let whole = Number(exactly: number) else { throw doesNotFit(type, at: offset) }
        finish(offset, at: head.next)
        return whole
    }

    /// Returns the argument of an integer of up to 128 bits, or `nil` for other items. A negative
    /// integer is `-1 - argument`.
    func integerParts(at offset: Int) -> (argument: UInt128, isNegative: Bool)? {
        let (head, tag) = contentAndTag(at: offset)
        switch head.type {
        case .unsigned, .negative:
            finish(offset, at: head.next)
            return (UInt128(head.argument), head.type == .negative)
        case .bytes where tag == Tag.positiveBignum || tag == Tag.negativeBignum:
            let argument: UInt128? = reader.withBytes(head) { bytes in
                let digits = bytes.drop { $0 == 0 }
                return digits.count > 16
                    ? nil
                    : digits.reduce(0) {
                        $0 << 8 | UInt128($1)
                    }
            }
            return argument.map { ($0, tag == Tag.negativeBignum) }
        case .bytes, .text, .array, .map, .tag, .simple:
            return nil
        }
    }

    func isBignum(at offset: Int) -> Bool {
        let (head, tag) = contentAndTag(at: offset)
        return head.type == .bytes && (tag == Tag.positiveBignum || tag == Tag.negativeBignum)
    }

    /// Returns the head of an item without its tags, and the innermost tag.
    @inline(__always)
    func contentAndTag(at offset: Int) -> (head: ItemReader.Head, tag: UInt64?) {
        var head = reader.head(at: offset)
        var tag: UInt64?
        while head.type == .tag {
            tag = head.argument
            head = reader.head(at: head.next)
        }
        return (head, tag)
    }

    // MARK: Floating-point numbers

    @inline(__always)
    func double(at offset: Int) throws -> Double {
        try checkIsOpen()
        let head = reader.head(at: offset)
        guard head.type == .simple, let number = floatingPoint(head) else {
            return try integerAsDouble(at: offset)
        }
        finish(offset, at: head.next)
        return number
    }

    private func integerAsDouble(at offset: Int) throws -> Double {
        let (head, _) = contentAndTag(at: offset)
        if head.type == .simple, let number = floatingPoint(head) { return number }
        guard let (argument, isNegative) = integerParts(at: offset) else {
            return try bignumAsDouble(at: offset)
        }
        guard isNegative else { return Double(argument) }
        let (magnitude, overflows) = argument.addingReportingOverflow(1)
        return overflows ? -0x1p128 : -Double(magnitude)
    }

    /// Returns the number nearest to a bignum of more than 128 bits.
    private func bignumAsDouble(at offset: Int) throws -> Double {
        guard isBignum(at: offset) else { throw typeMismatch(Double.self, at: offset) }
        let (head, tag) = contentAndTag(at: offset)
        let isNegative = tag == Tag.negativeBignum
        let number = reader.withBytes(head) { bytes in
            let digits = bytes.drop { $0 == 0 }
            let first = digits.prefix(15).reduce(0 as UInt128) {
                $0 << 8 | UInt128($1)
            }
            let rest = digits.dropFirst(15)
            // The magnitude of a negative number is one more: either that carries into `first`, or
            // something remains behind it.
            let isWhole = rest.allSatisfy { $0 == (isNegative ? 0xFF : 0) }
            let significand = isWhole ? first + (isNegative ? 1 : 0) : first | 1
            return Double(
                sign: isNegative ? .minus : .plus,
                exponent: rest.count * 8,
                significand: Double(significand)
            )
        }
        guard number.isFinite else { throw doesNotFit(Double.self, at: offset) }
        return number
    }

    /// Returns the nearest `Float`. Exact values, including NaN payloads, are preserved bit for
    /// bit.
    func float(at offset: Int) throws -> Float {
        let double = try double(at: offset)
        if let bits = FloatBits.single(exactly: double.bitPattern) {
            return Float(bitPattern: bits)
        }
        let float = Float(double)
        guard float.isFinite || !double.isFinite else { throw doesNotFit(Float.self, at: offset) }
        return float
    }

    /// Returns the floating-point number of a simple item, or `nil` for other simple items.
    @inline(__always)
    func floatingPoint(_ head: ItemReader.Head) -> Double? {
        switch head.information {
        case AdditionalInformation.eightBytes: Double(bitPattern: head.argument)
        case AdditionalInformation.fourBytes:
            Double(bitPattern: FloatBits.double(UInt32(truncatingIfNeeded: head.argument)))
        case AdditionalInformation.twoBytes:
            Double(
                bitPattern: FloatBits.double(
                    FloatBits.single(UInt16(truncatingIfNeeded: head.argument))
                )
            )
        default: nil
        }
    }

    // MARK: Booleans and texts

    @inline(__always)
    func bool(at offset: Int) throws -> Bool {
        try checkIsOpen()
        switch reader.base[reader.content(at: offset)] {
        case SimpleByte.true: return true
        case SimpleByte.false: return false
        default: throw typeMismatch(Bool.self, at: offset)
        }
    }

    @inline(__always)
    func string(at offset: Int) throws -> String {
        let head = try contentHead(at: offset)
        guard head.type == .text else { throw typeMismatch(String.self, at: offset) }
        guard let text = reader.text(head) else {
            throw dataCorrupted("The text is not valid UTF-8.", at: offset)
        }
        if !head.isIndefinite {
            finish(offset, at: head.next + Int(head.argument))
        }
        return text
    }
}
