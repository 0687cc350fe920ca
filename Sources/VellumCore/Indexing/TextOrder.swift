internal import Foundation

/// The order of strings by the UTF-8 bytes of their normal forms (NFC), which is the order that
/// Swift's `<` documents.
///
/// Swift's own comparison deviates if a string that is not in normal form is a prefix of another:
/// "e\u{301}" and "\u{e9}e" are neither equal nor is one less than the other (Swift 6.3). An index
/// keeps the documented order.
@usableFromInline package enum TextOrder {
    /// Returns -1 if the left string comes first, 1 if the right string does, and 0 if they are
    /// equal.
    @usableFromInline package static func compare(_ left: String, _ right: String) -> Int {
        EntryKey(left).withBytes { left in
            EntryKey(right).withBytes { right in
                let common = min(left.count, right.count)
                if common > 0, let leftStart = left.baseAddress, let rightStart = right.baseAddress
                {
                    let order = memcmp(leftStart, rightStart, common)
                    if order != 0 { return Int(order.signum()) }
                }
                return (left.count - right.count).signum()
            }
        }
    }
}
