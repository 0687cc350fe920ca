internal import Foundation
internal import VellumCore

/// Values of properties, made of what an index stores of them: the reverse of
/// ``IndexableValue/indexValue``.
enum StoredProperty {
    /// Returns a closure that makes values of the type, and `nil` of what it cannot store; or `nil`
    /// for a type of which it is not known.
    static func reader<Property>(of type: Property.Type) -> ((IndexValue) -> Property?)? {
        guard let read = anyReader(type) else { return nil }
        return { stored in
            guard let value = read(stored) else { return nil }
            return value as? Property
        }
    }

    static func hasReader(of type: Any.Type) -> Bool { anyReader(type) != nil }

    private static func anyReader(_ type: Any.Type) -> ((IndexValue) -> Any?)? {
        switch type {
        case let type as any AnyOptional.Type:
            guard let read = anyReader(type.wrapped) else { return nil }
            return { stored in stored == .null ? Any?.none as Any : read(stored) }
        case is Bool.Type:
            return { if case .integer(let number) = $0 { number != 0 } else { nil } }
        case is Double.Type: return { number($0) }
        case is Float.Type: return { number($0).map { Float($0) } }
        case is Date.Type: return { number($0).map { Date(timeIntervalSinceReferenceDate: $0) } }
        case is String.Type:
            return { if case .text(let text) = $0 { text } else { nil } }
        case is Data.Type:
            return { if case .bytes(let bytes) = $0 { bytes } else { nil } }
        case is UUID.Type:
            return {
                if case .bytes(let bytes) = $0, bytes.count == 16 {
                    UUID(uuid: bytes.withUnsafeBytes { $0.loadUnaligned(as: uuid_t.self) })
                } else {
                    nil
                }
            }
        case let type as any (FixedWidthInteger & IndexableScalar).Type: return integerReader(type)
        case let type as any RawRepresentable.Type: return rawReader(type)
        default: return nil
        }
    }

    private static func number(_ stored: IndexValue) -> Double? {
        if case .integer(let rank) = stored { IndexValue.number(ofRank: rank) } else { nil }
    }

    private static func integerReader<Integer: FixedWidthInteger>(
        _ type: Integer.Type
    ) -> (IndexValue) -> Any? {
        let isUnsigned = !Integer.isSigned && Integer.bitWidth == 64
        return { stored in
            switch stored {
            case .integer(let number) where isUnsigned:
                Integer(exactly: UInt64(bitPattern: number) ^ 1 << 63)
            case .integer(let number): Integer(exactly: number)
            case .bytes(let bytes) where bytes.count * 8 == Integer.bitWidth:
                bytes.reduce(Integer(0)) { $0 << 8 | Integer(truncatingIfNeeded: $1) }
                    ^ (Integer.isSigned ? Integer.min : 0)
            default: nil
            }
        }
    }

    private static func rawReader<Value: RawRepresentable>(
        _ type: Value.Type
    ) -> ((IndexValue) -> Any?)? {
        guard let read = reader(of: Value.RawValue.self) else { return nil }
        return { stored in
            guard let raw = read(stored), let value = Value(rawValue: raw) else { return nil }
            // A type may index another value than its raw one.
            guard let indexable = value as? any IndexableValue else { return value }
            return indexable.indexValue == stored ? value : nil
        }
    }
}
