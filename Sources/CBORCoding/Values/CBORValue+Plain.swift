package import Foundation

extension CBORValue {
    /// Whether an item is an array or a map that holds nothing but integers, byte strings, texts in
    /// ASCII, booleans, nil, and such collections.
    ///
    /// Equal values of that kind have the same deterministic form, whatever their types.
    ///
    /// - Parameter item: What a deterministic encoder has written.
    package static func isPlainCollection(_ item: Data) -> Bool {
        item.withUnsafeBytes { bytes in
            guard let base = bytes.bindMemory(to: UInt8.self).baseAddress else { return false }
            let reader = ItemReader(base: base, count: bytes.count)
            guard
                [.array, .map].contains(
                    reader.head(at: 0).type
                )
            else { return false }
            var offset = 0
            while offset < bytes.count {
                let head = reader.head(at: offset)
                offset = head.next
                switch head.type {
                case .unsigned, .negative, .array, .map: break
                case .bytes: offset += Int(head.argument)
                case .text:
                    let end = offset + Int(head.argument)
                    guard bytes[offset..<end].allSatisfy({ $0 < 0x80 }) else { return false }
                    offset = end
                // false, true and null
                case .simple: guard 20...22 ~= head.information else { return false }
                case .tag: return false
                }
            }
            return true
        }
    }
}
