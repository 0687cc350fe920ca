/// A number of bytes, written as people say it.
///
/// ```swift
/// let limit: DataSize = 10.megaByte      // 10 × 1024 × 1024 bytes
/// let small = 1.5.kiloBytes + 24         // literals are bytes
/// ```
///
/// One kilobyte is 1024 bytes. Fractions of a byte round up. Arithmetic stops at the largest and smallest
/// value instead of overflowing, and a size that is not a number counts as zero bytes.
@frozen
public struct DataSize: Hashable, Sendable {
    /// The size in whole bytes.
    public var bytes: Int

    /// A size of so many bytes.
    @inlinable
    public init(bytes: Int) {
        self.bytes = bytes
    }

    /// A size of so many units of `unit` bytes each, rounded up to whole bytes.
    private init(_ count: Double, unit: Double) {
        let exact = (count * unit).rounded(.up)
        guard !exact.isNaN else {
            self.bytes = 0
            return
        }
        self.bytes = Int(exactly: exact) ?? (exact < 0 ? .min : .max)
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
    /// No limit: the largest size that there is.
    public static let unlimited = DataSize(bytes: .max)

    public static func bits(_ count: Int) -> DataSize { DataSize(count, perByte: 8) }
    public static func nibbles(_ count: Int) -> DataSize { DataSize(count, perByte: 2) }
    public static func bytes(_ count: Int) -> DataSize { DataSize(bytes: count) }
    public static func kiloBytes(_ count: Int) -> DataSize { DataSize(count, unit: kilo) }
    public static func megaBytes(_ count: Int) -> DataSize { DataSize(count, unit: mega) }
    public static func gigaBytes(_ count: Int) -> DataSize { DataSize(count, unit: giga) }

    public static func bits(_ count: Double) -> DataSize { DataSize(count, unit: 0.125) }
    public static func nibbles(_ count: Double) -> DataSize { DataSize(count, unit: 0.5) }
    public static func bytes(_ count: Double) -> DataSize { DataSize(count, unit: 1) }
    public static func kiloBytes(_ count: Double) -> DataSize { DataSize(count, unit: Double(kilo)) }
    public static func megaBytes(_ count: Double) -> DataSize { DataSize(count, unit: Double(mega)) }
    public static func gigaBytes(_ count: Double) -> DataSize { DataSize(count, unit: Double(giga)) }

    private static let kilo = 1024
    private static let mega = 1024 * 1024
    private static let giga = 1024 * 1024 * 1024
}

// MARK: Reading a size

extension DataSize {
    public var bits: Double { Double(bytes) * 8 }
    public var nibbles: Double { Double(bytes) * 2 }
    public var kiloBytes: Double { Double(bytes) / Double(Self.kilo) }
    public var megaBytes: Double { Double(bytes) / Double(Self.mega) }
    public var gigaBytes: Double { Double(bytes) / Double(Self.giga) }
}

// MARK: Protocols

extension DataSize: Comparable {
    @inlinable
    public static func < (left: DataSize, right: DataSize) -> Bool { left.bytes < right.bytes }
}

extension DataSize: AdditiveArithmetic {
    public static var zero: DataSize { DataSize(bytes: 0) }

    public static func + (left: DataSize, right: DataSize) -> DataSize {
        let (sum, overflow) = left.bytes.addingReportingOverflow(right.bytes)
        return DataSize(bytes: overflow ? (left.bytes < 0 ? .min : .max) : sum)
    }

    public static func - (left: DataSize, right: DataSize) -> DataSize {
        let (difference, overflow) = left.bytes.subtractingReportingOverflow(right.bytes)
        return DataSize(bytes: overflow ? (left.bytes < 0 ? .min : .max) : difference)
    }
}

extension DataSize: ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral {
    @inlinable
    public init(integerLiteral value: Int) { self.init(bytes: value) }

    public init(floatLiteral value: Double) { self = .bytes(value) }
}

extension DataSize: Codable {
    public init(from decoder: any Decoder) throws {
        bytes = try decoder.singleValueContainer().decode(Int.self)
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(bytes)
    }
}

extension DataSize: CustomStringConvertible {
    /// The size in the largest unit of which it holds at least one: `"1.5 MB"`, `"12 bytes"`; `"unlimited"` for ``unlimited``.
    public var description: String {
        guard self != .unlimited else { return "unlimited" }
        let units: [(size: Double, name: String)] = [(gigaBytes, "GB"), (megaBytes, "MB"), (kiloBytes, "kB")]
        for unit in units where abs(unit.size) >= 1 {
            let tenths = (unit.size * 10).rounded() / 10
            return tenths == tenths.rounded() ? "\(Int(tenths)) \(unit.name)" : "\(tenths) \(unit.name)"
        }
        return bytes == 1 ? "1 byte" : "\(bytes) bytes"
    }
}
