/// The kind of an item: the three high bits of its first byte (RFC 8949, 3.1).
enum MajorType: UInt8 {
    case unsigned, negative, bytes, text, array, map, tag, simple

    /// The type in the three high bits of a byte.
    var bits: UInt8 { rawValue << 5 }
}

/// Values of the low five bits of an item's first byte that specify where the argument is (RFC
/// 8949, 3).
enum AdditionalInformation {
    static let oneByte: UInt8 = 24
    static let twoBytes: UInt8 = 25
    static let fourBytes: UInt8 = 26
    static let eightBytes: UInt8 = 27
    /// Indefinite length; for a simple item, the break that ends it.
    static let indefinite: UInt8 = 31
}

/// First bytes of simple values and floating-point numbers (RFC 8949, 3.3).
enum SimpleByte {
    static let `false`: UInt8 = 0xF4
    static let `true`: UInt8 = 0xF5
    static let null: UInt8 = 0xF6
    static let undefined: UInt8 = 0xF7
    static let half: UInt8 = 0xF9
    static let single: UInt8 = 0xFA
    static let double: UInt8 = 0xFB
    /// Ends an item of indefinite length.
    static let `break`: UInt8 = 0xFF
}

/// The tags that the coders interpret (RFC 8949, 3.4, and the IANA registry).
enum Tag {
    static let dateText: UInt64 = 0
    static let epochDate: UInt64 = 1
    static let positiveBignum: UInt64 = 2
    static let negativeBignum: UInt64 = 3
    static let decimalFraction: UInt64 = 4
    static let uri: UInt64 = 32
    static let uuid: UInt64 = 37
    static let epochDay: UInt64 = 100
    static let dayText: UInt64 = 1004
    static let selfDescribed: UInt64 = 55799
}
