internal import Foundation

/// The mantissa and exponent of a decimal fraction (RFC 8949, 3.4.4).
struct DecimalParts {
    var mantissa: UInt128
    var exponent: Int
    /// False for zero.
    var isNegative: Bool

    /// Returns `nil` for NaN.
    init?(_ decimal: Decimal) {
        guard decimal.isFinite, let mantissa = UInt128(decimal.significand.magnitude.description)
        else { return nil }
        self.mantissa = mantissa
        exponent = mantissa == 0 ? 0 : decimal.exponent
        isNegative = decimal.isSignMinus && mantissa != 0
    }

    /// Creates the parts from a CBOR integer; a negative one is `-1 - argument`. Returns `nil` on
    /// overflow.
    init?(argument: UInt128, isNegative: Bool, exponent: Int) {
        let (mantissa, overflows) = argument.addingReportingOverflow(isNegative ? 1 : 0)
        guard !overflows else { return nil }
        self.mantissa = mantissa
        self.exponent = exponent
        self.isNegative = isNegative
    }

    /// Parses digits, which may have a sign, a fraction, and an exponent after `e` or `E`. Returns
    /// `nil` for other texts, and on overflow.
    init?(_ text: String) {
        let number = #/([+-]?)([0-9]+)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?/#
        guard
            let (
                _, sign, whole, fraction, power
            ) = text.wholeMatch(of: number)?.output
        else {
            return nil
        }
        let digits = (whole + (fraction ?? "")).drop { $0 == "0" }
        let zeros = digits.reversed().prefix { $0 == "0" }.count
        guard let mantissa = UInt128("0" + digits.dropLast(zeros)),
            let exponent = Int32(power ?? "0")
        else { return nil }
        self.mantissa = mantissa
        self.exponent = Int(exponent) + zeros - (fraction?.count ?? 0)
        isNegative = sign == "-"
    }

    /// The value as a `Decimal`, or `nil` if it cannot be represented.
    var decimal: Decimal? {
        guard mantissa != 0 else { return 0 }
        var mantissa = mantissa
        var exponent = exponent
        // The exponent of `Decimal` has eight bits. A larger one may fit after scaling the
        // mantissa.
        while exponent < -128, mantissa.isMultiple(of: 10) {
            mantissa /= 10
            exponent += 1
        }
        while exponent > 127 {
            let (product, overflows) = mantissa.multipliedReportingOverflow(by: 10)
            guard !overflows else { return nil }
            mantissa = product
            exponent -= 1
        }
        guard exponent >= -128, let significand = Decimal(string: mantissa.description) else {
            return nil
        }
        let whole = Decimal(
            sign: isNegative ? .minus : .plus,
            exponent: exponent,
            significand: significand
        )
        return whole.isFinite ? whole : nil
    }
}
