internal import Foundation

/// A decimal as the mantissa and the exponent of a decimal fraction (RFC 8949, 3.4.4).
struct DecimalParts {
    var mantissa: UInt128
    var exponent: Int
    /// Never of zero.
    var isNegative: Bool

    /// `nil` of what is no number.
    init?(_ decimal: Decimal) {
        guard decimal.isFinite, let mantissa = UInt128(decimal.significand.magnitude.description) else { return nil }
        self.mantissa = mantissa
        exponent = mantissa == 0 ? 0 : decimal.exponent
        isNegative = decimal.isSignMinus && mantissa != 0
    }

    /// Of an integer in the way of CBOR, which says -1 less a negative one. `nil` if there is no room for it.
    init?(argument: UInt128, isNegative: Bool, exponent: Int) {
        let (mantissa, overflows) = argument.addingReportingOverflow(isNegative ? 1 : 0)
        guard !overflows else { return nil }
        self.mantissa = mantissa
        self.exponent = exponent
        self.isNegative = isNegative
    }

    /// `nil` of what a decimal cannot hold.
    var decimal: Decimal? {
        guard mantissa != 0 else { return 0 }
        var (mantissa, exponent) = (mantissa, exponent)
        // Its exponent has eight bits; what is beyond these may have room in the mantissa.
        while exponent < -128, mantissa.isMultiple(of: 10) { (mantissa, exponent) = (mantissa / 10, exponent + 1) }
        while exponent > 127 {
            let (product, overflows) = mantissa.multipliedReportingOverflow(by: 10)
            guard !overflows else { return nil }
            (mantissa, exponent) = (product, exponent - 1)
        }
        guard exponent >= -128, let significand = Decimal(string: mantissa.description) else { return nil }
        let whole = Decimal(sign: isNegative ? .minus : .plus, exponent: exponent, significand: significand)
        return whole.isFinite ? whole : nil
    }
}
