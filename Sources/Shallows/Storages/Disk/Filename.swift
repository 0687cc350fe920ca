internal import Foundation

/// The key of a file in a folder: any string.
///
/// ```swift
/// let folder = DiskStorage.main.folder("notes", in: .cachesDirectory)
/// folder.set(data, forKey: "summer/ideas") { _ in }
/// ```
///
/// An ``Encoder`` makes the name of the file. Every string is a key: empty, with `/`, `..` or NUL
/// in it, emoji, 64 KiB long. Keys are compared by canonical equivalence, like Swift's `==`: `"é"`
/// typed in either way is one key and one file.
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
        Data(rawValue.utf8).base64EncodedString()
    }

    /// The UTF-8 of the key in base64 with the alphabet for URLs and file names (RFC 4648, 5),
    /// padded: `-` and `_` instead of `+` and `/`.
    ///
    /// - Complexity: O(length).
    public func base64URLEncoded() -> String {
        Base64.exchanging("+/", with: "-_", in: base64Encoded())
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

extension Filename {
    /// Makes the name of a file from its key.
    ///
    /// ```swift
    /// DiskStorage.main.folder(
    ///     "pages", in: .cachesDirectory, filenameEncoder: .noEncoding)
    /// ```
    ///
    /// The result is the name wherever it is safe. The folder encodes other results once more:
    /// `".."`, those with `/` in them and those of more than 255 bytes. So every key has a file of
    /// its own, inside the folder.
    ///
    /// A folder is opened with the encoder that it was written with.
    public struct Encoder: Sendable {
        enum Scheme: Sendable {
            case base64
            case base64URL
            case noEncoding
            case custom(
                encode: @Sendable (Filename) -> String,
                decode: (@Sendable (String) -> Filename?)?
            )
        }

        let scheme: Scheme

        init(_ scheme: Scheme) { self.scheme = scheme }

        /// The UTF-8 of the key in base64.
        public static let base64 = Encoder(.base64)

        /// The UTF-8 of the key in base64, with `-` and `_` instead of `+` and `/`.
        public static let base64URL = Encoder(.base64URL)

        /// The key itself.
        public static let noEncoding = Encoder(.noEncoding)

        /// The result of a closure. The keys of such a folder cannot be listed; see
        /// ``custom(_:decode:)``.
        ///
        /// ```swift
        /// .custom { key in key.rawValue + ".json" }
        /// ```
        ///
        /// - Parameter encode: Returns a different string for every key, and the same one each
        ///   time; keys that get the same string share one file. It receives keys in normal form
        ///   (NFC), and may be called on any thread.
        @preconcurrency
        public static func custom(_ encode: @escaping @Sendable (Filename) -> String) -> Encoder {
            Encoder(.custom(encode: encode, decode: nil))
        }

        /// The result of a closure, and a second closure that decodes it, so that keys can be
        /// listed.
        ///
        /// ```swift
        /// .custom { key in "v2-" + key.rawValue } decode: { name in
        ///     guard name.hasPrefix("v2-") else { return nil }
        ///     return Filename(rawValue: String(name.dropFirst(3)))
        /// }
        /// ```
        ///
        /// - Parameters:
        ///   - encode: Returns a different string for every key, and the same one each time. It
        ///     receives keys in normal form (NFC).
        ///   - decode: Returns the key of such a string, and `nil` for a string that `encode` does
        ///     not return.
        ///
        /// Both may be called on any thread.
        @preconcurrency
        public static func custom(
            _ encode: @escaping @Sendable (Filename) -> String,
            decode: @escaping @Sendable (String) -> Filename?
        ) -> Encoder {
            Encoder(.custom(encode: encode, decode: decode))
        }

        /// The encoder's result for a key, before the folder checks whether it is a safe name.
        ///
        /// - Complexity: O(length) for the encoders of this package.
        public func encodedString(representing filename: Filename) -> String {
            switch scheme {
            case .base64: filename.base64Encoded()
            case .base64URL: filename.base64URLEncoded()
            case .noEncoding: filename.rawValue
            case .custom(let encode, _): encode(filename)
            }
        }
    }
}

extension Filename.Encoder {
    /// Whether names can be decoded.
    var canDecode: Bool {
        if case .custom(_, decode: nil) = scheme { return false }
        return true
    }

    /// Whether names are the keys themselves.
    var isKey: Bool {
        if case .noEncoding = scheme { return true }
        return false
    }

    /// The key that `text` may be the encoding of. The caller encodes the key and compares.
    func key(from text: String) -> Filename? {
        switch scheme {
        case .base64: Base64.decoded(text).map(Filename.init(rawValue:))
        case .base64URL:
            Base64.decoded(Base64.exchanging("-_", with: "+/", in: text)).map(
                Filename.init(rawValue:)
            )
        case .noEncoding: Filename(rawValue: text)
        case .custom(_, let decode): decode?(text)
        }
    }
}

/// Base64 of strings (RFC 4648).
enum Base64 {
    /// The string that `text` encodes; `nil` if it is not base64 of UTF-8.
    ///
    /// One `/` at the end may be missing: the original lost it, because it used the text as a path.
    static func decoded(_ text: String) -> String? {
        Data(base64Encoded: text.utf8.count % 4 == 3 ? text + "/" : text).flatMap {
            String(validating: $0, as: UTF8.self)
        }
    }

    /// The text with two letters of an alphabet exchanged for those of the other one.
    static func exchanging(
        _ letters: StaticString,
        with others: StaticString,
        in text: String
    ) -> String {
        String(
            decoding: text.utf8.map { byte in
                byte == letters.utf8Start[0]
                    ? others.utf8Start[0]
                    : byte == letters.utf8Start[1] ? others.utf8Start[1] : byte
            },
            as: UTF8.self
        )
    }
}
