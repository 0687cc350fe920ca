/// Which texts are names of files as they are, and what becomes of those that are none: pure, one text in, one name out.
///
/// Names of this package's making begin with ``prefix``, then one letter for the form:
///
/// | name | holds |
/// | --- | --- |
/// | `~sh-p-a%2fb` | the text with unsafe bytes in hexadecimal |
/// | `~sh-c-8-Abc` | the text, after the bits that say which of its letters are capital |
/// | `~sh-h-…-0` | the digest of a text that is longer than a name may be (``LongKeyFile``) |
/// | `~sh-t-…` | nothing yet: a file that is being written (``TemporaryName``) |
enum SafeName {
    static let prefix = "~sh-"
    static let escapedPrefix = "~sh-p-"
    static let casedPrefix = "~sh-c-"
    static let hashedPrefix = "~sh-h-"
    static let temporaryPrefix = "~sh-t-"

    /// The longest name that file systems take, in bytes.
    static let longest = 255

    /// Where the value lies whose key is encoded as `text`.
    ///
    /// - Complexity: O(length).
    static func place(of text: String, _ rule: CaseRule) -> FilePlace {
        let traits = Traits(of: text)
        guard rule == .insensitive, traits.hasCapitals || !traits.isASCII else {
            return traits.isSafe ? .named(text) : escapedPlace(of: text, rule)
        }
        guard traits.isSafe, traits.isASCII else { return escapedPlace(of: text, rule) }
        let name = casedPrefix + caseDigits(of: text) + "-" + text
        return name.utf8.count <= longest ? .named(name) : .hashed(text)
    }

    /// Where the value lies whose key is encoded as `text`, if the text itself cannot be the name.
    static func escapedPlace(of text: String, _ rule: CaseRule) -> FilePlace {
        guard text.utf8.count <= longest else { return .hashed(text) }
        let last = text.utf8.count - 1
        var name = Array(escapedPrefix.utf8)
        for (index, byte) in text.utf8.enumerated() {
            let isUnsafe = byte < 0x20 || byte == 0x7F || byte == slash || byte == percent || index == last && isUnsafeEnd(byte)
            if isUnsafe || rule == .insensitive && (isCapital(byte) || byte >= 0x80) {
                name += "%\(byte < 16 ? "0" : "")\(String(byte, radix: 16))".utf8
            } else {
                name.append(byte)
            }
        }
        return name.count <= longest ? .named(String(decoding: name, as: UTF8.self)) : .hashed(text)
    }

    /// The text that `name` was made from; `nil` for a name that does not hold one.
    static func text(from name: String) -> String? {
        guard hasPrefix(name) else { return name }
        let bytes = name.utf8
        if bytes.starts(with: escapedPrefix.utf8) { return unescaped(bytes.dropFirst(escapedPrefix.utf8.count)) }
        guard bytes.starts(with: casedPrefix.utf8) else { return nil }
        let rest = bytes.dropFirst(casedPrefix.utf8.count)
        return rest.firstIndex(of: UInt8(ascii: "-")).map { String(Substring(rest[rest.index(after: $0)...])) }
    }

    /// Whether `name` is, or looks like, one of this package's making.
    static func hasPrefix(_ name: String) -> Bool {
        var utf8 = name.utf8.makeIterator()
        for byte in prefix.utf8 {
            guard let next = utf8.next(), lowered(next) == byte else { return false }
        }
        return true
    }
}

extension SafeName {
    /// What is to be known of a text, found in one pass.
    private struct Traits {
        var isASCII = true
        var hasCapitals = false
        var isSafe = true

        init(of text: String) {
            var text = text
            text.withUTF8 { bytes in
                for byte in bytes {
                    if byte == SafeName.slash || byte == 0 { isSafe = false }
                    if byte >= 0x80 { isASCII = false }
                    if SafeName.isCapital(byte) { hasCapitals = true }
                }
                guard let last = bytes.last, bytes.count <= SafeName.longest, !SafeName.isUnsafeEnd(last) else { return isSafe = false }
            }
            if SafeName.hasPrefix(text) { isSafe = false }
        }
    }

    /// One bit for each letter, four in a digit, without zeros at the end: which of them are capital.
    private static func caseDigits(of text: String) -> String {
        var digits: [UInt8] = []
        var letters = 0
        for byte in text.utf8 where isLetter(byte) {
            if letters % 4 == 0 { digits.append(0) }
            if isCapital(byte) { digits[letters / 4] |= 8 >> UInt8(letters % 4) }
            letters += 1
        }
        while digits.last == 0 { digits.removeLast() }
        return digits.map { String($0, radix: 16) }.joined()
    }

    private static func unescaped(_ bytes: Substring.UTF8View) -> String? {
        var text: [UInt8] = []
        var rest = bytes
        while let byte = rest.popFirst() {
            guard byte == percent else {
                text.append(byte)
                continue
            }
            guard let high = rest.popFirst().flatMap(digit), let low = rest.popFirst().flatMap(digit) else { return nil }
            text.append(high << 4 | low)
        }
        return String(validating: text, as: UTF8.self)
    }

    private static func digit(_ byte: UInt8) -> UInt8? { Character(UnicodeScalar(byte)).hexDigitValue.map(UInt8.init) }

    private static let slash = UInt8(ascii: "/")
    private static let percent = UInt8(ascii: "%")

    /// A name that ends so is another one on some file systems; and `.` and `..` are folders.
    private static func isUnsafeEnd(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: ".") }

    private static func isCapital(_ byte: UInt8) -> Bool { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) }

    static func isLetter(_ byte: UInt8) -> Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(lowered(byte)) }

    private static func lowered(_ byte: UInt8) -> UInt8 { isCapital(byte) ? byte | 0x20 : byte }
}
