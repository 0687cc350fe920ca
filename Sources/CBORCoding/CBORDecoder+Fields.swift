package import Foundation

extension CBORDecoder {
    /// Returns a single value as ``decodeIfPresent(_:at:from:)`` does, without strings for the keys.
    package func decodeIfPresent<Value: Decodable>(_ type: Value.Type, at path: CBORFieldPath, from data: Data) throws -> Value? {
        try data.withUnsafeBytes { bytes in
            guard let field = try field(at: path, in: bytes) else { return nil }
            if let value = plainValue(type, in: field) { return value }
            return try DecodingSource.reading(field, self) { source throws in try source.decode(type, at: 0, depth: 0) }
        }
    }

    /// Returns whether the value at the path is equal to a text; `nil` if its bytes do not tell.
    ///
    /// - Parameter utf8: The text in UTF-8.
    package func isText(_ utf8: [UInt8], at path: CBORFieldPath, in data: Data) throws -> Bool? {
        try data.withUnsafeBytes { bytes in
            guard let field = try field(at: path, in: bytes), let start = field.baseAddress else { return nil }
            let reader = ItemReader(start, count: field.count)
            let head = reader.head(at: 0)
            guard head.type == .text, let found = reader.slice(head) else { return nil }
            return utf8.withUnsafeBufferPointer { utf8 in
                let text = ByteSlice(utf8)
                if found == text { return true }
                // Beyond ASCII, other bytes may be an equal text.
                return found.isASCII && text.isASCII ? false : nil
            }
        }
    }

    /// Returns the bytes of the value at the path, after they were validated; `nil` if the path leads nowhere.
    private func field(at path: CBORFieldPath, in bytes: UnsafeRawBufferPointer) throws -> UnsafeBufferPointer<UInt8>? {
        try DecodingSource.mappingFaults { () throws(WellFormedness.Fault) in
            try WellFormedness.field(at: path, in: bytes.assumingMemoryBound(to: UInt8.self), nestingLimit: nestingLimit)
        }
    }

    /// Returns a text, an integer, a number or a boolean in its usual form; `nil` for every other item and type, which need a decoder.
    ///
    /// The bit casts are safe because the types are compared by identity.
    private func plainValue<Value>(_ type: Value.Type, in field: UnsafeBufferPointer<UInt8>) -> Value? {
        guard let start = field.baseAddress else { return nil }
        @inline(__always)
        func this<Known>(_ value: Known) -> Value { unsafeBitCast(value, to: Value.self) }
        let reader = ItemReader(start, count: field.count)
        let (head, id) = (reader.head(at: 0), ObjectIdentifier(type))
        switch head.type {
        case .text where id == ObjectIdentifier(String.self): return reader.text(head).map { this($0) }
        case .text where id == ObjectIdentifier(String?.self): return reader.text(head).map { this(String?.some($0)) }
        case .unsigned where id == ObjectIdentifier(Int.self): return Int(exactly: head.argument).map { this($0) }
        case .negative where id == ObjectIdentifier(Int.self): return Int(exactly: head.argument).map { this(~$0) }
        case .simple where head.information == SimpleByte.double & 0x1F && id == ObjectIdentifier(Double.self):
            return this(Double(bitPattern: head.argument))
        case .simple where id == ObjectIdentifier(Bool.self):
            switch head.information {
            case SimpleByte.false & 0x1F: return this(false)
            case SimpleByte.true & 0x1F: return this(true)
            default: return nil
            }
        case .unsigned, .negative, .bytes, .text, .array, .map, .tag, .simple: return nil
        }
    }
}
