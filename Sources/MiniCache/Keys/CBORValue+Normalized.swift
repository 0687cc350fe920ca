internal import CBORCoding
internal import Foundation
internal import VellumCore

extension CBORValue {
    /// Returns the form that all values share that are equal as keys: strings in normal form NFC,
    /// and whole numbers as integers.
    ///
    /// - Throws: ``VellumError/Code/invalidKey`` for a number that is infinite or NaN, and for a
    ///   map with two names of one normal form.
    func normalized() throws(MiniCacheError) -> CBORValue {
        switch self {
        case .integer, .bytes, .bool, .null, .undefined, .simple: return self
        case .text(let text): return .text(EntryKey(text).normalized)
        case .float(let number):
            guard number.isFinite else {
                throw MiniCacheError(
                    .invalidKey,
                    """
                    A key cannot contain a number that is infinite or NaN. Use a text or a finite \
                    number.
                    """
                )
            }
            return Int128(exactly: number).map(CBORValue.integer) ?? self
        case .array(let elements):
            return .array(
                try elements.map { element throws(MiniCacheError) in try element.normalized() }
            )
        case .map(let pairs): return .map(try Self.normalized(pairs))
        // A bignum that does not fit `Int128`.
        case .tagged(2, _), .tagged(3, _): return self
        case .tagged(Self.decimalFraction, let value):
            return value.wholeDecimal ?? .tagged(Self.decimalFraction, value.reducedDecimal)
        case .tagged(let tag, let value): return .tagged(tag, try value.normalized())
        }
    }

    private static func normalized(
        _ pairs: [CBORValue: CBORValue]
    ) throws(MiniCacheError) -> [CBORValue: CBORValue] {
        var normalized: [CBORValue: CBORValue] = [:]
        normalized.reserveCapacity(pairs.count)
        for (name, value) in pairs {
            guard
                normalized.updateValue(try value.normalized(), forKey: try name.normalized()) == nil
            else {
                throw MiniCacheError(
                    .invalidKey,
                    """
                    A key cannot contain two names that are canonically equivalent. Use names of \
                    one Unicode normal form.
                    """
                )
            }
        }
        return normalized
    }

    // MARK: Decimal fractions (RFC 8949, 3.4.4): an exponent of ten and a mantissa

    private static let decimalFraction: UInt64 = 4

    /// The decimal fraction with the smallest mantissa, so that 1.5 and 1.50 are one key.
    private var reducedDecimal: CBORValue {
        guard case .array(let parts) = self, parts.count == 2,
            case .integer(var exponent) = parts[0],
            case .integer(var mantissa) = parts[1],
            mantissa != 0
        else { return self }
        while mantissa.isMultiple(of: 10), exponent < .max {
            exponent += 1
            mantissa /= 10
        }
        return .array([.integer(exponent), .integer(mantissa)])
    }

    /// The decimal fraction as an integer, if it is a whole number of at most 127 bits.
    private var wholeDecimal: CBORValue? {
        guard case .array(let parts) = reducedDecimal, parts.count == 2,
            case .integer(var exponent) = parts[0],
            case .integer(var mantissa) = parts[1]
        else { return nil }
        if mantissa == 0 { return .integer(0) }
        guard 0...38 ~= exponent else { return nil }
        while exponent > 0 {
            let (product, overflows) = mantissa.multipliedReportingOverflow(by: 10)
            guard !overflows else { return nil }
            exponent -= 1
            mantissa = product
        }
        return .integer(mantissa)
    }
}
