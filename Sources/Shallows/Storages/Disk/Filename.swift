internal import Foundation

/// The key of a file in a folder: any string.
///
/// ```swift
/// let folder = DiskStorage.main.folder("notes", in: .cachesDirectory)
/// folder.set(data, forKey: "summer/ideas") { _ in }
/// ```
///
/// How it becomes the name of a file is said by an ``Encoder``. Every string is a key: empty, with `/`, `..` or NUL in it, emoji,
/// 64 KiB long. Two keys are one when their strings are equal in Swift, which is canonical equivalence: `"é"` typed in either way is
/// one key and one file.
public struct Filename: RawRepresentable, Hashable, Sendable {
    /// The key as it was given.
    public var rawValue: String

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

    /// The same in the alphabet for URLs and file names (RFC 4648, 5), padded: `-` and `_` instead of `+` and `/`.
    ///
    /// - Complexity: O(length).
    public func base64URLEncoded() -> String {
        let standard = Base64.encoded(rawValue)
        return standard.dependsOnAlphabet ? Base64.inURLAlphabet(standard.text) : standard.text
    }
}

extension Filename: ExpressibleByStringLiteral {
    public init(stringLiteral value: String) { self.init(rawValue: value) }

    public init(unicodeScalarLiteral value: String) { self.init(rawValue: value) }

    public init(extendedGraphemeClusterLiteral value: String) { self.init(rawValue: value) }
}
