/// A number of bytes, with units.
///
/// ```swift
/// let limit: DataSize = 10.megaByte      // 10 × 1024 × 1024 bytes
/// let small = 1.5.kiloBytes + 24         // literals are bytes
/// ```
///
/// Units are binary, also where a size is printed: a kilobyte is 1024 bytes, a megabyte 1024
/// kilobytes, a gigabyte 1024 megabytes.
///
/// Fractions of a byte round up. Arithmetic saturates at the largest and smallest value instead of
/// overflowing, and NaN counts as zero bytes.
@frozen
public struct DataSize: Hashable, Sendable {
    /// The size in whole bytes.
    public var bytes: Int

    /// Creates a size of a number of bytes.
    @inlinable
    public init(bytes: Int) {
        self.bytes = bytes
    }

    /// Creates a size of `count` units of `unit` bytes each, rounded up to whole bytes.
    private init(_ count: Double, unit: Double) {
        let exact = (count * unit).rounded(.up)
        self.bytes =
            exact.isNaN
            ? 0
            : Int(exactly: exact) ?? (exact < 0 ? .min : .max)
    }

    private init(_ count: Int, unit: Int) {
        let (product, overflow) = count.multipliedReportingOverflow(by: unit)
        self.bytes = overflow ? (count < 0 ? .min : .max) : product
    }

    private init(_ count: Int, perByte: Int) {
        let (quotient, remainder) = count.quotientAndRemainder(dividingBy: perByte)
        self.bytes = remainder > 0 ? quotient + 1 : quotient
    }
}

// MARK: Making a size

extension DataSize {
    /// The largest size, which stands for no limit.
    public static let unlimited = DataSize(bytes: .max)

    /// Returns a size of a number of bits, rounded up to whole bytes.
    public static func bits(_ count: Int) -> DataSize { DataSize(count, perByte: 8) }
    /// Returns a size of a number of half bytes, rounded up to whole bytes.
    public static func nibbles(_ count: Int) -> DataSize { DataSize(count, perByte: 2) }
    /// Returns a size of a number of bytes.
    public static func bytes(_ count: Int) -> DataSize { DataSize(bytes: count) }
    /// Returns a size of a number of kilobytes of 1024 bytes.
    public static func kiloBytes(_ count: Int) -> DataSize { DataSize(count, unit: kilo) }
    /// Returns a size of a number of megabytes of 1024 kilobytes.
    public static func megaBytes(_ count: Int) -> DataSize { DataSize(count, unit: mega) }
    /// Returns a size of a number of gigabytes of 1024 megabytes.
    public static func gigaBytes(_ count: Int) -> DataSize { DataSize(count, unit: giga) }

    /// Returns a size of a number of bits, rounded up to whole bytes.
    public static func bits(_ count: Double) -> DataSize { DataSize(count, unit: 0.125) }
    /// Returns a size of a number of half bytes, rounded up to whole bytes.
    public static func nibbles(_ count: Double) -> DataSize { DataSize(count, unit: 0.5) }
    /// Returns a size of a number of bytes, rounded up to whole bytes.
    public static func bytes(_ count: Double) -> DataSize { DataSize(count, unit: 1) }
    /// Returns a size of a number of kilobytes of 1024 bytes, rounded up to whole bytes.
    public static func kiloBytes(_ count: Double) -> DataSize {
        DataSize(count, unit: Double(kilo))
    }
    /// Returns a size of a number of megabytes of 1024 kilobytes, rounded up to whole bytes.
    public static func megaBytes(_ count: Double) -> DataSize {
        DataSize(count, unit: Double(mega))
    }
    /// Returns a size of a number of gigabytes of 1024 megabytes, rounded up to whole bytes.
    public static func gigaBytes(_ count: Double) -> DataSize {
        DataSize(count, unit: Double(giga))
    }

    private static let kilo = 1024
    private static let mega = 1024 * 1024
    private static let giga = 1024 * 1024 * 1024
}

// MARK: Reading a size

extension DataSize {
    /// The size in bits. Saturates instead of overflowing.
    public var bits: Int { DataSize(bytes, unit: 8).bytes }
    /// The size in half bytes. Saturates instead of overflowing.
    public var nibbles: Int { DataSize(bytes, unit: 2).bytes }
    /// The size in kilobytes of 1024 bytes.
    public var kiloBytes: Double { Double(bytes) / Double(Self.kilo) }
    /// The size in megabytes of 1024 kilobytes.
    public var megaBytes: Double { Double(bytes) / Double(Self.mega) }
    /// The size in gigabytes of 1024 megabytes.
    public var gigaBytes: Double { Double(bytes) / Double(Self.giga) }
}

// MARK: Protocols

extension DataSize: Comparable {
    /// Compares two sizes by their bytes.
    @inlinable
    public static func < (left: DataSize, right: DataSize) -> Bool { left.bytes < right.bytes }
}

extension DataSize: AdditiveArithmetic {
    /// No bytes.
    public static var zero: DataSize { DataSize(bytes: 0) }

    /// Returns the sum, which saturates instead of overflowing.
    public static func + (left: DataSize, right: DataSize) -> DataSize {
        let (sum, overflow) = left.bytes.addingReportingOverflow(right.bytes)
        return DataSize(bytes: overflow ? (left.bytes < 0 ? .min : .max) : sum)
    }

    /// Returns the difference, which saturates instead of overflowing.
    public static func - (left: DataSize, right: DataSize) -> DataSize {
        let (difference, overflow) = left.bytes.subtractingReportingOverflow(right.bytes)
        return DataSize(bytes: overflow ? (left.bytes < 0 ? .min : .max) : difference)
    }
}

extension DataSize: ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral {
    /// Creates a size from a literal number of bytes.
    @inlinable
    public init(integerLiteral value: Int) { self.init(bytes: value) }

    /// Creates a size from a literal number of bytes, rounded up to whole bytes.
    public init(floatLiteral value: Double) { self = .bytes(value) }
}

extension DataSize: Codable {
    /// Decodes a size from an integer number of bytes.
    public init(from decoder: any Decoder) throws {
        bytes = try decoder.singleValueContainer().decode(Int.self)
    }

    /// Encodes the size as an integer number of bytes.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(bytes)
    }
}

extension DataSize: CustomStringConvertible {
    /// The size in the largest unit that fits at least once, such as `"1.5 MB"` or `"12 bytes"`;
    /// `"unlimited"` for ``unlimited``.
    ///
    /// Units are binary: `"1 MB"` is 1,048,576 bytes, and `"1 kB"` is 1024. Rounded to tenths.
    public var description: String {
        guard self != .unlimited else { return "unlimited" }
        let units: [(size: Double, name: String)] = [
            (gigaBytes, "GB"), (megaBytes, "MB"), (kiloBytes, "kB"),
        ]
        for unit in units where abs(unit.size) >= 1 {
            let tenths = (unit.size * 10).rounded() / 10
            return tenths == tenths.rounded()
                ? "\(Int(tenths)) \(unit.name)" : "\(tenths) \(unit.name)"
        }
        return bytes == 1 ? "1 byte" : "\(bytes) bytes"
    }
}
