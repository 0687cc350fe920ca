extension Filename {
    /// How a key becomes the name of its file.
    ///
    /// ```swift
    /// DiskStorage.main.folder("pages", in: .cachesDirectory, filenameEncoder: .noEncoding)
    /// ```
    ///
    /// The result is the name wherever it is a safe one. Results that are none, such as `".."`, those with `/` in them and those of
    /// more than 255 bytes, are encoded once more by the folder, so that every key has one file of its own and none lies outside.
    ///
    /// A folder that was written under ``base64`` can be opened under ``base64URL``, and the other way round.
    public struct Encoder: Sendable {
        enum Scheme: Sendable {
            case base64
            case base64URL
            case noEncoding
            case custom(encode: @Sendable (Filename) -> String, decode: (@Sendable (String) -> Filename?)?)
        }

        let scheme: Scheme

        init(_ scheme: Scheme) { self.scheme = scheme }

        /// The UTF-8 of the key in base64; where that has a `/`, in the alphabet of ``base64URL``.
        public static let base64 = Encoder(.base64)

        /// The UTF-8 of the key in base64, with `-` and `_` instead of `+` and `/`.
        public static let base64URL = Encoder(.base64URL)

        /// The key itself.
        public static let noEncoding = Encoder(.noEncoding)

        /// What the closure makes of the key. Keys of such a folder cannot be listed; see ``custom(_:decode:)``.
        ///
        /// ```swift
        /// .custom { key in key.rawValue + ".json" }
        /// ```
        ///
        /// - Parameter encode: Gives every key a string of its own, the same each time; keys that it gives the same string share one
        ///   file. It gets keys in normal form (NFC) and may be called on any thread.
        @preconcurrency
        public static func custom(_ encode: @escaping @Sendable (Filename) -> String) -> Encoder {
            Encoder(.custom(encode: encode, decode: nil))
        }

        /// What the first closure makes of the key, and the way back, by which keys can be listed.
        ///
        /// ```swift
        /// .custom { key in "v2-" + key.rawValue } decode: { name in
        ///     name.hasPrefix("v2-") ? Filename(rawValue: String(name.dropFirst(3))) : nil
        /// }
        /// ```
        ///
        /// - Parameters:
        ///   - encode: Gives every key a string of its own, the same each time. It gets keys in normal form (NFC).
        ///   - decode: Gives the key of such a string, and `nil` for a string that `encode` does not make.
        ///
        /// Both may be called on any thread.
        @preconcurrency
        public static func custom(
            _ encode: @escaping @Sendable (Filename) -> String, decode: @escaping @Sendable (String) -> Filename?
        ) -> Encoder {
            Encoder(.custom(encode: encode, decode: decode))
        }

        /// What this encoder makes of a key, before the folder looks whether it is a safe name.
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
    /// Whether keys can be read from names.
    var canDecode: Bool {
        if case .custom(_, decode: nil) = scheme { return false }
        return true
    }

    /// The key that `text` may stand for; whoever asks compares what this encoder makes of it with the text.
    func key(from text: String) -> Filename? {
        switch scheme {
        case .base64, .base64URL: Base64.decoded(text).map(Filename.init(rawValue:))
        case .noEncoding: Filename(rawValue: text)
        case .custom(_, let decode): decode?(text)
        }
    }
}
