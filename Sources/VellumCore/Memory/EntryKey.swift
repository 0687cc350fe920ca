public import Foundation

/// The identity of an entry: any string, compared by the bytes of its normal form.
///
/// ```swift
/// EntryKey("é") == EntryKey("e\u{301}")   // true: one key, however it was typed
/// ```
///
/// Every string is a key: empty, with NUL, `/` or `..` in it, emoji, up to ``maximumLength`` bytes long. Nothing can be recorded under a
/// longer one, so nothing is found there. Two keys are one when their NFC
/// forms (Unicode Standard Annex 15) are the same bytes, which is Swift's `==` except for marks newer than
/// Foundation's Unicode tables. The form is computed once, here; every tier compares these bytes. A hash is never
/// an identity.
///
/// - Complexity: O(length). A key whose scalars all lie below U+0300 is its own normal form and is only looked at.
@frozen
@usableFromInline package struct EntryKey: Sendable {
    /// How many bytes of UTF-8 the normal form of a key may have: 64 KiB. No limit of a store counts keys, so their length is bounded.
    @usableFromInline package static let maximumLength = 65_536

    /// The key in normal form, in contiguous UTF-8.
    @usableFromInline package let normalized: String

    @inlinable
    package init(_ string: String) {
        if Self.isSurelyNormal(string) {
            normalized = string
        } else {
            normalized = Self.normalForm(of: string)
        }
    }

    /// Whether every byte lies below the lead byte of U+0300, the first scalar that normalization may change.
    @inlinable
    static func isSurelyNormal(_ string: String) -> Bool {
        string.utf8.withContiguousStorageIfAvailable { bytes in
            var rest = UnsafeRawBufferPointer(bytes)
            // Eight ASCII bytes at a time, then the few that are left or are not ASCII.
            while rest.count >= 8, rest.loadUnaligned(as: UInt64.self) & 0x8080_8080_8080_8080 == 0 {
                rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(8))
            }
            return rest.allSatisfy { $0 < 0xCC }
        } ?? false
    }

    @usableFromInline
    static func normalForm(of string: String) -> String {
        var form = string.precomposedStringWithCanonicalMapping
        // Foundation loses marks of very long runs, and orders some wrongly: then the string stands for itself, so that it never shares
        // an entry with another.
        if form != string { form = string }
        form.makeContiguousUTF8()
        return form
    }

    /// What processes that share a file call the key where they tell each other of changes. No identity: others may have the same.
    @inlinable
    package var sharedHash: UInt64 { withBytes { KeyHash.shared($0) } }

    /// Calls `body` with the UTF-8 bytes of the normal form.
    @inlinable
    package func withBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let utf8 = normalized.utf8
        let result = utf8.withContiguousStorageIfAvailable { bytes -> Swift.Result<Result, Failure> in
            do throws(Failure) {
                return .success(try body(UnsafeRawBufferPointer(bytes)))
            } catch {
                return .failure(error)
            }
        }
        // `normalized` is contiguous: a native Swift string always is, and `normalForm` makes the rest so.
        guard let result else { preconditionFailure("A key's normal form must be contiguous.") }
        return try result.get()
    }
}

extension EntryKey: Hashable {
    @inlinable
    package static func == (left: EntryKey, right: EntryKey) -> Bool {
        // The same bits are the same string, whatever they mean: most short keys are settled by this.
        if Self.bits(left) == Self.bits(right) { return true }
        return left.withBytes { leftBytes in
            right.withBytes { rightBytes in
                guard leftBytes.count == rightBytes.count else { return false }
                guard let leftStart = leftBytes.baseAddress, let rightStart = rightBytes.baseAddress else { return true }
                return memcmp(leftStart, rightStart, leftBytes.count) == 0
            }
        }
    }

    @inlinable
    static func bits(_ key: EntryKey) -> (UInt64, UInt64) {
        withUnsafeBytes(of: key) { ($0.load(as: UInt64.self), $0.load(fromByteOffset: 8, as: UInt64.self)) }
    }

    @inlinable
    package func hash(into hasher: inout Hasher) {
        withBytes { hasher.combine(bytes: $0) }
    }

    /// What dictionaries and sets ask for: the requirement of `Hashable` that is made up from `hash(into:)` elsewhere.
    @inlinable
    package func _rawHashValue(seed: Int) -> Int {
        withBytes { KeyHash.of($0, seed: seed) }
    }
}

extension EntryKey: ExpressibleByStringLiteral {
    @usableFromInline package init(stringLiteral value: String) { self.init(value) }
}

extension EntryKey: CustomStringConvertible, CustomDebugStringConvertible {
    /// The length alone: a key is a user's data. The key itself is `normalized`.
    @usableFromInline package var description: String { "key of \(normalized.utf8.count) bytes" }
    @usableFromInline package var debugDescription: String { "EntryKey(\(normalized.debugDescription))" }
}
