public import Foundation

/// Sizes from numbers: `10.megaByte`, `1.5.kiloBytes`, `3.bits`.
extension Int {
    public var bits: DataSize { .bits(self) }
    public var nibbles: DataSize { .nibbles(self) }
    public var bytes: DataSize { .bytes(self) }
    public var byte: DataSize { .bytes(self) }
    public var kiloBytes: DataSize { .kiloBytes(self) }
    public var kiloByte: DataSize { .kiloBytes(self) }
    public var megaBytes: DataSize { .megaBytes(self) }
    public var megaByte: DataSize { .megaBytes(self) }
    public var gigaBytes: DataSize { .gigaBytes(self) }
    public var gigaByte: DataSize { .gigaBytes(self) }
}

/// Sizes from fractions; what is less than a byte rounds up.
extension Double {
    public var bits: DataSize { .bits(self) }
    public var nibbles: DataSize { .nibbles(self) }
    public var bytes: DataSize { .bytes(self) }
    public var byte: DataSize { .bytes(self) }
    public var kiloBytes: DataSize { .kiloBytes(self) }
    public var kiloByte: DataSize { .kiloBytes(self) }
    public var megaBytes: DataSize { .megaBytes(self) }
    public var megaByte: DataSize { .megaBytes(self) }
    public var gigaBytes: DataSize { .gigaBytes(self) }
    public var gigaByte: DataSize { .gigaBytes(self) }
}

extension Data {
    /// How many bytes there are.
    public var dataSize: DataSize { DataSize(bytes: count) }
}
