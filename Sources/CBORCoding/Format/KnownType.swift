internal import Foundation

/// The types that are encoded without their own `Codable` conformance: types with a native CBOR
/// form, and the most common types, for speed.
enum KnownType {
    case bool, string, double, float
    case int, int8, int16, int32, int64, int128, uint, uint8, uint16, uint32, uint64, uint128
    case ints, doubles, floats, strings, byteArray
    case date, data, url, uuid, decimal

    /// Returns the case for a type. Comparing identities is faster than casting.
    @inline(__always)
    static func of<Value>(_ type: Value.Type) -> KnownType? {
        let id = ObjectIdentifier(type)
        if id == ObjectIdentifier(String.self) { return .string }
        if id == ObjectIdentifier(Int.self) { return .int }
        if id == ObjectIdentifier(Double.self) { return .double }
        if id == ObjectIdentifier([Double].self) { return .doubles }
        if id == ObjectIdentifier([Int].self) { return .ints }
        if id == ObjectIdentifier([String].self) { return .strings }
        if id == ObjectIdentifier(Date.self) { return .date }
        if id == ObjectIdentifier(Data.self) { return .data }
        if id == ObjectIdentifier(URL.self) { return .url }
        if id == ObjectIdentifier(UUID.self) { return .uuid }
        if id == ObjectIdentifier(Decimal.self) { return .decimal }
        if id == ObjectIdentifier([Float].self) { return .floats }
        if id == ObjectIdentifier(Bool.self) { return .bool }
        if id == ObjectIdentifier(Float.self) { return .float }
        return ofNarrowInteger(id)
    }

    private static func ofNarrowInteger(_ id: ObjectIdentifier) -> KnownType? {
        if id == ObjectIdentifier(Int64.self) { return .int64 }
        if id == ObjectIdentifier(Int32.self) { return .int32 }
        if id == ObjectIdentifier(Int16.self) { return .int16 }
        if id == ObjectIdentifier(Int8.self) { return .int8 }
        if id == ObjectIdentifier(UInt.self) { return .uint }
        if id == ObjectIdentifier(UInt8.self) { return .uint8 }
        if id == ObjectIdentifier(UInt16.self) { return .uint16 }
        if id == ObjectIdentifier(UInt32.self) { return .uint32 }
        if id == ObjectIdentifier(UInt64.self) { return .uint64 }
        if id == ObjectIdentifier(Int128.self) { return .int128 }
        if id == ObjectIdentifier(UInt128.self) { return .uint128 }
        if id == ObjectIdentifier([UInt8].self) { return .byteArray }
        return nil
    }
}
