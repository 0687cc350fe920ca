public import Foundation

/// Sizes from numbers: `10.megaByte`, `1.5.kiloBytes`, `3.bits`.
extension Int {
    /// A size of this many bits, rounded up to whole bytes.
    public var bits: DataSize { .bits(self) }
    /// A size of this many half bytes, rounded up to whole bytes.
    public var nibbles: DataSize { .nibbles(self) }
    /// A size of this many bytes.
    public var bytes: DataSize { .bytes(self) }
    /// A size of this many bytes.
    public var byte: DataSize { .bytes(self) }
    /// A size of this many kilobytes of 1024 bytes.
    public var kiloBytes: DataSize { .kiloBytes(self) }
    /// A size of this many kilobytes of 1024 bytes.
    public var kiloByte: DataSize { .kiloBytes(self) }
    /// A size of this many megabytes of 1024 kilobytes.
    public var megaBytes: DataSize { .megaBytes(self) }
    /// A size of this many megabytes of 1024 kilobytes.
    public var megaByte: DataSize { .megaBytes(self) }
    /// A size of this many gigabytes of 1024 megabytes.
    public var gigaBytes: DataSize { .gigaBytes(self) }
    /// A size of this many gigabytes of 1024 megabytes.
    public var gigaByte: DataSize { .gigaBytes(self) }
}

/// Sizes from fractions, rounded up to whole bytes.
extension Double {
    /// A size of this many bits, rounded up to whole bytes.
    public var bits: DataSize { .bits(self) }
    /// A size of this many half bytes, rounded up to whole bytes.
    public var nibbles: DataSize { .nibbles(self) }
    /// A size of this many bytes, rounded up to whole bytes.
    public var bytes: DataSize { .bytes(self) }
    /// A size of this many bytes, rounded up to whole bytes.
    public var byte: DataSize { .bytes(self) }
    /// A size of this many kilobytes of 1024 bytes, rounded up to whole bytes.
    public var kiloBytes: DataSize { .kiloBytes(self) }
    /// A size of this many kilobytes of 1024 bytes, rounded up to whole bytes.
    public var kiloByte: DataSize { .kiloBytes(self) }
    /// A size of this many megabytes of 1024 kilobytes, rounded up to whole bytes.
    public var megaBytes: DataSize { .megaBytes(self) }
    /// A size of this many megabytes of 1024 kilobytes, rounded up to whole bytes.
    public var megaByte: DataSize { .megaBytes(self) }
    /// A size of this many gigabytes of 1024 megabytes, rounded up to whole bytes.
    public var gigaBytes: DataSize { .gigaBytes(self) }
    /// A size of this many gigabytes of 1024 megabytes, rounded up to whole bytes.
    public var gigaByte: DataSize { .gigaBytes(self) }
}

extension Data {
    /// The number of bytes, as a size.
    public var dataSize: DataSize { DataSize(bytes: count) }
}
