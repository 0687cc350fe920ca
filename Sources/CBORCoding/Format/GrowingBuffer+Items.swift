// Encoding of heads, strings and numbers, each in its shortest form.

extension GrowingBuffer<UInt8> {
    @inline(__always)
    mutating func appendHead(_ type: MajorType, _ argument: UInt64) {
        if argument < UInt64(AdditionalInformation.oneByte) {
            append(type.bits | UInt8(truncatingIfNeeded: argument))
        } else {
            appendLongHead(type, argument)
        }
    }

    @inline(never)
    private mutating func appendLongHead(_ type: MajorType, _ argument: UInt64) {
        switch argument {
        case ...0xFF:
            append(type.bits | AdditionalInformation.oneByte)
            append(UInt8(truncatingIfNeeded: argument))
        case ...0xFFFF:
            append(type.bits | AdditionalInformation.twoBytes)
            appendBigEndian(UInt16(truncatingIfNeeded: argument))
        case ...0xFFFF_FFFF:
            append(type.bits | AdditionalInformation.fourBytes)
            appendBigEndian(UInt32(truncatingIfNeeded: argument))
        default:
            append(type.bits | AdditionalInformation.eightBytes)
            appendBigEndian(argument)
        }
    }

    /// Appends a text string as its UTF-8 bytes.
    @inline(__always)
    mutating func append(_ text: String) {
        guard text.utf8.withContiguousStorageIfAvailable({ utf8 in append(utf8, as: .text) }) == nil
        else { return }
        var native = text
        native.withUTF8 { append($0, as: .text) }
    }

    @inline(__always)
    mutating func append(_ bytes: UnsafeBufferPointer<UInt8>, as type: MajorType) {
        appendHead(type, UInt64(bytes.count))
        if let start = bytes.baseAddress { append(start, count: bytes.count) }
    }

    @inline(__always)
    mutating func append<Number: FixedWidthInteger>(integer: Number) {
        if integer >= 0, let value = UInt64(exactly: integer) {
            appendHead(.unsigned, value)
        } else if integer < 0, let value = UInt64(exactly: ~integer) {
            appendHead(.negative, value)
        } else {
            append(
                argument: UInt128(truncatingIfNeeded: integer < 0 ? ~integer : integer),
                isNegative: integer < 0
            )
        }
    }

    /// Appends the integer `argument`, or `-1 - argument` if negative. An argument beyond 64 bits
    /// is written as a bignum: its bytes without leading zeros (RFC 8949, 3.4.3).
    mutating func append(argument: UInt128, isNegative: Bool) {
        if let argument = UInt64(exactly: argument) {
            return appendHead(isNegative ? .negative : .unsigned, argument)
        }
        appendHead(.tag, isNegative ? Tag.negativeBignum : Tag.positiveBignum)
        let size = (UInt128.bitWidth - argument.leadingZeroBitCount + 7) / 8
        appendHead(.bytes, UInt64(size))
        for index in (0..<size).reversed() {
            append(UInt8(truncatingIfNeeded: argument >> (index * 8)))
        }
    }

    /// Appends a floating-point number in its shortest form (RFC 8949, 4.2.2).
    @inline(__always)
    mutating func append(doubleBits bits: UInt64) {
        if let single = FloatBits.single(exactly: bits) {
            append(singleBits: single)
        } else {
            append(SimpleByte.double)
            appendBigEndian(bits)
        }
    }

    mutating func append(singleBits bits: UInt32) {
        if let half = FloatBits.half(exactly: bits) {
            append(SimpleByte.half)
            appendBigEndian(half)
        } else {
            append(SimpleByte.single)
            appendBigEndian(bits)
        }
    }

    @inline(__always)
    mutating func append(_ value: Bool) { append(value ? SimpleByte.true : SimpleByte.false) }
}
