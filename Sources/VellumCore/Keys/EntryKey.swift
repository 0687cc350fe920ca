public import Foundation

/// The key of an entry: any string, compared by the UTF-8 bytes of its normal form (decision 3).
///
/// ```swift
/// EntryKey("é") == EntryKey("e\u{301}")   // true: canonically equivalent
/// ```
///
/// Every string up to ``maximumLength`` bytes is valid, including the empty string and strings with
/// NUL, `/`, `..` or emoji. Nothing can be recorded under a longer key, so a lookup finds nothing.
/// Two keys are equal when their NFC forms (Unicode Standard Annex 15) have the same bytes. That is
/// Swift's `==`, except for characters newer than Unicode 15.0. The normal form is computed once,
/// and memory and disk compare its bytes. Keys are never identified by a hash alone.
///
/// - Complexity: O(length). A key whose scalars all lie below U+0300 is its own normal form and is
///   not converted.
@frozen
@usableFromInline package struct EntryKey: Sendable {
    /// The largest number of UTF-8 bytes of a key's normal form: 64 KiB. Keys do not count towards
    /// the limits of a store (decision 38).
    @usableFromInline package static let maximumLength = 65_536

    /// The key in normal form, in contiguous UTF-8.
    @usableFromInline package let normalized: String

    /// Creates the key of a string.
    ///
    /// - Complexity: O(length).
    @inlinable
    package init(_ string: String) {
        if Self.isSurelyNormal(string) {
            normalized = string
        } else {
            normalized = Self.normalForm(of: string)
        }
    }

    @usableFromInline static func normalForm(of string: String) -> String { NormalForm.of(string) }

    /// Whether every byte lies below the lead byte of U+0300, the first scalar that normalization
    /// may change.
    @inlinable
    static func isSurelyNormal(_ string: String) -> Bool {
        string.utf8.withContiguousStorageIfAvailable { bytes in
            var rest = UnsafeRawBufferPointer(bytes)
            // Compares eight ASCII bytes at a time, then the rest byte by byte.
            while rest.count >= 8, rest.loadUnaligned(as: UInt64.self) & 0x8080_8080_8080_8080 == 0
            {
                rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(8))
            }
            return rest.allSatisfy { $0 < 0xCC }
        } ?? false
    }

    /// Whether the normal form begins with that of the other. By bytes, and not by characters as
    /// Swift's `hasPrefix`: `a:` and a mark begins with `a:`. Only a mark that is composed with the
    /// last character ends that: `é` does not begin with `e`.
    package func begins(with prefix: EntryKey) -> Bool {
        normalized.utf8.starts(with: prefix.normalized.utf8)
    }

    /// How many bytes the name of a group may have.
    package static let longestGroup = 1024

    /// The names of groups, which are compared as keys are, in any order.
    ///
    /// - Throws: ``VellumError/Code/keyTooLong`` for a name of more than ``longestGroup`` bytes.
    package static func groups(_ names: Set<String>) throws(VellumError) -> [EntryKey] {
        var groups: [EntryKey] = []
        for name in names {
            let group = EntryKey(name)
            if !groups.contains(group) { groups.append(group) }
        }
        guard groups.allSatisfy({ $0.normalized.utf8.count <= longestGroup }) else {
            throw VellumError(
                .keyTooLong,
                "The name of a group has more than \(longestGroup) bytes. Use a shorter one."
            )
        }
        return groups
    }

    /// Calls `body` with the UTF-8 bytes of the normal form, which are valid only during the call.
    ///
    /// - Throws: The error that `body` throws.
    @inlinable
    package func withBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let utf8 = normalized.utf8
        let result = utf8.withContiguousStorageIfAvailable {
            bytes -> Swift.Result<Result, Failure> in
            do throws(Failure) {
                return .success(try body(UnsafeRawBufferPointer(bytes)))
            } catch {
                return .failure(error)
            }
        }
        // `normalized` is contiguous: native Swift strings are, and `NormalForm` converts all
        // others.
        guard let result else { preconditionFailure("A key's normal form must be contiguous.") }
        return try result.get()
    }

    /// Whether the UTF-8 bytes of the normal form are these.
    package func hasBytes(_ bytes: UnsafeRawBufferPointer) -> Bool {
        withBytes { $0.elementsEqual(bytes) }
    }
}

extension EntryKey: Hashable {
    /// Compares two keys by the bytes of their normal forms.
    @inlinable
    package static func == (left: EntryKey, right: EntryKey) -> Bool {
        // Identical bits are identical strings. This decides most comparisons of short keys.
        if Self.bits(left) == Self.bits(right) { return true }
        return left.withBytes { leftBytes in
            right.withBytes { rightBytes in
                guard leftBytes.count == rightBytes.count else { return false }
                guard let leftStart = leftBytes.baseAddress, let rightStart = rightBytes.baseAddress
                else { return true }
                return memcmp(leftStart, rightStart, leftBytes.count) == 0
            }
        }
    }

    @inlinable
    static func bits(_ key: EntryKey) -> (UInt64, UInt64) {
        withUnsafeBytes(of: key) {
            (
                $0.load(as: UInt64.self),
                $0.load(fromByteOffset: 8, as: UInt64.self)
            )
        }
    }

    /// Hashes the bytes of the normal form.
    @inlinable
    package func hash(into hasher: inout Hasher) {
        withBytes { hasher.combine(bytes: $0) }
    }

    /// Returns the hash value that dictionaries and sets use. Usually the compiler derives this
    /// requirement of `Hashable` from `hash(into:)`.
    @inlinable
    package func _rawHashValue(seed: Int) -> Int {
        withBytes { KeyHash.of($0, seed: seed) }
    }
}

extension EntryKey: ExpressibleByStringLiteral {
    /// Creates the key of a string literal.
    @usableFromInline package init(stringLiteral value: String) { self.init(value) }
}

extension EntryKey: CustomStringConvertible, CustomDebugStringConvertible {
    /// The length of the key, without its text, which may be personal data. The text is
    /// `normalized`.
    @usableFromInline package var description: String { "key of \(normalized.utf8.count) bytes" }
    /// The text of the key, for debugging.
    @usableFromInline package var debugDescription: String {
        "EntryKey(\(normalized.debugDescription))"
    }
}
