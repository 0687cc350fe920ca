internal import Foundation

/// The key of a file in a folder: any string.
///
/// ```swift
/// let folder = DiskStorage.main.folder("notes", in: .cachesDirectory)
/// folder.set(data, forKey: "summer/ideas") { _ in }
/// ```
///
/// An ``Encoder`` makes the name of the file. Every string is a key: empty, with `/`, `..` or NUL in it, emoji, 64 KiB long. Keys are
/// compared by canonical equivalence, like Swift's `==`: `"é"` typed in either way is one key and one file.
public struct Filename: RawRepresentable, Hashable, Sendable {
    /// The key, as it was given.
    public var rawValue: String

    /// Creates a key from any string.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// The UTF-8 of the key in base64 (RFC 4648, 4), padded.
    ///
    /// ```swift
    /// Filename(rawValue: "cities?").base64Encoded()   // "Y2l0aWVzPw=="
    /// ```
    ///
    /// - Complexity: O(length).
    public func base64Encoded() -> String {
        Base64.encoded(rawValue).text
    }

    /// The UTF-8 of the key in base64 with the alphabet for URLs and file names (RFC 4648, 5), padded: `-` and `_` instead of `+` and `/`.
    ///
    /// - Complexity: O(length).
    public func base64URLEncoded() -> String {
        let standard = Base64.encoded(rawValue)
        return standard.dependsOnAlphabet ? Base64.inURLAlphabet(standard.text) : standard.text
    }
}

extension Filename: ExpressibleByStringLiteral {
    /// Creates a key from a string literal.
    public init(stringLiteral value: String) { self.init(rawValue: value) }

    /// Creates a key from a literal of one Unicode scalar.
    public init(unicodeScalarLiteral value: String) { self.init(rawValue: value) }

    /// Creates a key from a literal of one character.
    public init(extendedGraphemeClusterLiteral value: String) { self.init(rawValue: value) }
}
