/// The exact sum of integers or of floating-point numbers, which is rounded once, when it is read
/// (decision 76).
///
/// Does not depend on the order of the numbers, and has no intermediate overflow.
package struct ExactSum: Sendable {
    /// How many numbers were added.
    package private(set) var count = 0
    private var integers = WideInteger()
    private var numbers = FloatingPointSum()
    private var isTooWide = false

    package init() {}

    package mutating func add(_ integer: some FixedWidthInteger) {
        count += 1
        if let integer = Int128(exactly: integer) {
            integers.add(integer)
        } else if let integer = UInt128(exactly: integer) {
            integers.add(integer)
        } else {
            isTooWide = true
        }
    }

    package mutating func add(_ number: some BinaryFloatingPoint) {
        count += 1
        numbers.add(Double(number))
    }

    /// Adds an integer that an index stores; of unsigned ones, 2^63 less than it is, until
    /// ``endOfUnsigned()``.
    package mutating func add(indexed integer: Int64) {
        count += 1
        integers.add(Int128(integer))
    }

    /// Adds the number of a rank.
    package mutating func add(rank: Int64) {
        count += 1
        numbers.add(IndexValue.number(ofRank: rank))
    }

    package mutating func endOfUnsigned() { integers.add(Int128(count) << 63) }

    /// Returns the sum of integers, or `nil` if the type cannot hold it.
    package func integer<Integer: FixedWidthInteger>(_ type: Integer.Type) -> Integer? {
        isTooWide ? nil : integers.exactly()
    }

    /// Returns the sum of floating-point numbers, correctly rounded to a type that is no more
    /// precise than `Double`.
    package func number<Number: BinaryFloatingPoint>(_ type: Number.Type) -> Number {
        // A number that was rounded to odd is rounded again as the exact one would be (Boldo and
        // Melquiond, "Emulation of FMA and correctly rounded sums: proved algorithms using rounding
        // to odd", 2008).
        Number(numbers.rounded(toOdd: Number.significandBitCount < Double.significandBitCount - 1))
    }

    /// The sum divided by ``count``; `nil` if nothing was added.
    package var average: Double? {
        count == 0 ? nil : (integers.double + numbers.rounded()) / Double(count)
    }
}

/// An integer that 2^63 numbers of 128 bits cannot overflow.
private struct WideInteger: Sendable {
    private var high: Int64 = 0
    private var low: UInt128 = 0

    mutating func add(_ integer: Int128) {
        add(UInt128(bitPattern: integer))
        if integer < 0 { high &-= 1 }
    }

    mutating func add(_ integer: UInt128) {
        let (sum, isCarried) = low.addingReportingOverflow(integer)
        low = sum
        if isCarried { high &+= 1 }
    }

    private var signed: Int128? {
        high == (Int128(bitPattern: low) < 0 ? -1 : 0)
            ? Int128(bitPattern: low)
            : nil
    }

    func exactly<Integer: FixedWidthInteger>() -> Integer? {
        if let signed { return Integer(exactly: signed) }
        return high == 0 ? Integer(exactly: low) : nil
    }

    var double: Double {
        signed.map { Double($0) } ?? Double(high) * 0x1p128 + Double(low)
    }
}

/// A sum of `Double`s: an integer of 2,176 bits that counts the smallest one, in digits of 32 bits
/// with room for carries: the small superaccumulator of Neal, "Fast Exact Summation Using Small and
/// Large Superaccumulators", 2015 (arxiv.org/abs/1505.05571).
private struct FloatingPointSum: Sendable {
    private static let digitMask: Int64 = 0xFFFF_FFFF

    /// The last has the sign. Empty until a number is added.
    private var digits: [Int64] = []
    private var additions = 0
    private var hasNaN = false
    private var hasInfinity = false
    private var hasNegativeInfinity = false

    mutating func add(_ number: Double) {
        let exponent = Int(number.bitPattern >> 52 & 0x7FF)
        guard exponent < 0x7FF else {
            if number.isNaN {
                hasNaN = true
            } else if number > 0 {
                hasInfinity = true
            } else {
                hasNegativeInfinity = true
            }
            return
        }
        // Each addition adds less than 2^53 to a digit.
        additions &+= 1
        if additions & 511 == 1 { carry() }
        let significand = number.bitPattern & 0xF_FFFF_FFFF_FFFF | (exponent == 0 ? 0 : 1 << 52)
        let position = max(exponent, 1) - 1
        let digit = position >> 5
        let shift = UInt64(position & 31)
        let low = Int64(bitPattern: significand &<< shift) & Self.digitMask
        let high = Int64(bitPattern: significand &>> (32 - shift))
        let sign: Int64 = number.sign == .minus ? -1 : 1
        digits[digit] &+= sign &* low
        digits[digit + 1] &+= sign &* high
    }

    private mutating func carry() {
        if digits.isEmpty { digits = Array(repeating: 0, count: 69) }
        for digit in 0..<68 {
            digits[digit + 1] &+= digits[digit] >> 32
            digits[digit] &= Self.digitMask
        }
    }

    /// Returns the nearest number, of two the even one; or, unless the sum is exact, the odd one of
    /// the two beside it.
    func rounded(toOdd: Bool = false) -> Double {
        if hasNaN || hasInfinity && hasNegativeInfinity { return .nan }
        if hasInfinity || hasNegativeInfinity { return hasInfinity ? .infinity : -.infinity }
        var sum = self
        sum.carry()
        guard sum.digits[68] < 0 else { return sum.magnitude(toOdd: toOdd) }
        sum.digits = sum.digits.map { 0 &- $0 }
        sum.carry()
        return -sum.magnitude(toOdd: toOdd)
    }

    /// The rounded value of digits that have no carries and no sign.
    private func magnitude(toOdd: Bool) -> Double {
        guard let first = digits.lastIndex(where: { $0 != 0 }) else { return 0 }
        let leading = (0..<3).reduce(UInt128(0)) { bits, next in
            bits << 32 | (first < next ? 0 : UInt128(digits[first - next]))
        }
        let leadingBit = 127 - leading.leadingZeroBitCount
        // Of the bits that count, the smallest number is bit 0.
        let position = 32 * (first - 2) + leadingBit
        // Where a number has this pattern, it is subnormal or has the least exponent, and exact.
        guard position > 52 else {
            return Double(bitPattern: UInt64(truncatingIfNeeded: leading >> (32 * (2 - first))))
        }
        guard position - 51 < 0x7FF else { return toOdd ? .greatestFiniteMagnitude : .infinity }

        let dropped = leadingBit - 52
        let significand = UInt64(truncatingIfNeeded: leading >> dropped)
        let rest = leading & (1 << dropped - 1)
        let half = UInt128(1) << (dropped - 1)
        let hasMore = first > 2 && digits[..<(first - 2)].contains { $0 != 0 }
        let truncated = UInt64(position - 51) << 52 + (significand - 1 << 52)
        if toOdd { return Double(bitPattern: rest > 0 || hasMore ? truncated | 1 : truncated) }
        let isUp = rest > half || rest == half && (hasMore || significand & 1 == 1)
        // A carry out of the significand increments the exponent, up to that of infinity.
        return Double(bitPattern: isUp ? truncated + 1 : truncated)
    }
}
