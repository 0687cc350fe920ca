/// Exact conversion between the bits of floating-point formats. Values are never rounded, and NaN
/// payloads are preserved.
enum FloatBits {
    /// Returns the bits of the same number or NaN in single precision, or `nil` if it cannot be
    /// represented.
    static func single(exactly double: UInt64) -> UInt32? {
        let sign = UInt32(truncatingIfNeeded: double >> 32) & 0x8000_0000
        let exponent = Int(double >> 52 & 0x7FF)
        let fraction = double & 0xF_FFFF_FFFF_FFFF
        switch exponent {
        case 0x7FF, 897...1150:
            guard fraction & 0x1FFF_FFFF == 0 else { return nil }
            let narrow = exponent == 0x7FF ? 0xFF : UInt32(exponent - 896)
            return sign | narrow << 23 | UInt32(truncatingIfNeeded: fraction >> 29)
        case 0:
            return fraction == 0 ? sign : nil
        case 874...896:
            // Subnormal in the narrower format, where the leading bit is explicit.
            let shift = UInt64(926 - exponent)
            let whole = fraction | 1 << 52
            guard whole & (1 << shift - 1) == 0 else { return nil }
            return sign | UInt32(truncatingIfNeeded: whole >> shift)
        default:
            return nil
        }
    }

    /// Returns the bits of the same number or NaN in half precision, or `nil` if it cannot be
    /// represented.
    static func half(exactly single: UInt32) -> UInt16? {
        let sign = UInt16(truncatingIfNeeded: single >> 16) & 0x8000
        let exponent = Int(single >> 23 & 0xFF)
        let fraction = single & 0x7F_FFFF
        switch exponent {
        case 0xFF, 113...142:
            guard fraction & 0x1FFF == 0 else { return nil }
            let narrow = exponent == 0xFF ? 0x1F : UInt16(exponent - 112)
            return sign | narrow << 10 | UInt16(truncatingIfNeeded: fraction >> 13)
        case 0:
            return fraction == 0 ? sign : nil
        case 103...112:
            let shift = UInt32(126 - exponent)
            let whole = fraction | 1 << 23
            guard whole & (1 << shift - 1) == 0 else { return nil }
            return sign | UInt16(truncatingIfNeeded: whole >> shift)
        default:
            return nil
        }
    }

    /// Returns the bits of the same number or NaN in double precision.
    static func double(_ single: UInt32) -> UInt64 {
        let sign = UInt64(single & 0x8000_0000) << 32
        let exponent = UInt64(single >> 23 & 0xFF)
        let fraction = UInt64(single & 0x7F_FFFF)
        switch exponent {
        case 0xFF: return sign | 0x7FF << 52 | fraction << 29
        case 0:
            return sign | Double(fraction).bitPattern &- (fraction == 0 ? 0 : 149 << 52)
        default: return sign | (exponent + 896) << 52 | fraction << 29
        }
    }

    /// Returns the bits of the same number or NaN in single precision.
    static func single(_ half: UInt16) -> UInt32 {
        let sign = UInt32(half & 0x8000) << 16
        let exponent = UInt32(half >> 10 & 0x1F)
        let fraction = UInt32(half & 0x3FF)
        switch exponent {
        case 0x1F: return sign | 0xFF << 23 | fraction << 13
        case 0:
            return sign | Float(fraction).bitPattern &- (fraction == 0 ? 0 : 24 << 23)
        default: return sign | (exponent + 112) << 23 | fraction << 13
        }
    }
}
