/// Names of files for any text: the text itself where it is a valid name, else one that is made of it. Pure functions.
///
/// Names that are made begin with ``prefix``, then one letter for the form:
///
/// | name | holds |
/// | --- | --- |
/// | `~sh-p-a%2fb` | the text with unsafe bytes in hexadecimal |
/// | `~sh-c-8-Abc` | the text, after the bits that mark its capital letters |
/// | `~sh-h-…-0` | the digest of a text that is longer than a name may be (``LongKeyFile``) |
/// | `~sh-t-…` | a file that is being written (``TemporaryFiles``) |
enum SafeName {
    static let prefix = "~sh-"
    static let escapedPrefix = "~sh-p-"
    static let casedPrefix = "~sh-c-"
    static let hashedPrefix = "~sh-h-"
    static let temporaryPrefix = "~sh-t-"

    /// The longest name that file systems accept, in bytes.
    static let longest = 255

    /// The location of the value whose key is encoded as `text`.
    ///
    /// - Complexity: O(length).
    static func location(of text: String, _ caseSensitivity: CaseSensitivity) -> FileLocation {
        let traits = Traits(of: text)
        guard caseSensitivity == .insensitive, traits.hasCapitals || !traits.isASCII else {
            return traits.isSafe ? .named(text) : escapedLocation(of: text, caseSensitivity)
        }
        guard traits.isSafe, traits.isASCII else { return escapedLocation(of: text, caseSensitivity) }
        let name = casedPrefix + caseDigits(of: text) + "-" + text
        return name.utf8.count <= longest ? .named(name) : .hashed(text)
    }

    /// The location of the value whose key is encoded as `text`, where the text itself cannot be the name.
    static func escapedLocation(of text: String, _ caseSensitivity: CaseSensitivity) -> FileLocation {
        guard text.utf8.count <= longest else { return .hashed(text) }
        let last = text.utf8.count - 1
        var name = Array(escapedPrefix.utf8)
        for (index, byte) in text.utf8.enumerated() {
            let isUnsafe = byte < 0x20 || byte == 0x7F || byte == slash || byte == percent || index == last && isUnsafeEnd(byte)
            if isUnsafe || caseSensitivity == .insensitive && (isCapital(byte) || byte >= 0x80) {
                name += "%\(byte < 16 ? "0" : "")\(String(byte, radix: 16))".utf8
            } else {
                name.append(byte)
            }
        }
        return name.count <= longest ? .named(String(decoding: name, as: UTF8.self)) : .hashed(text)
    }

    /// The text that a name was made of; `nil` for a name that does not hold one.
    static func text(from name: String) -> String? {
        guard hasPrefix(name) else { return name }
        let bytes = name.utf8
        if bytes.starts(with: escapedPrefix.utf8) { return unescaped(bytes.dropFirst(escapedPrefix.utf8.count)) }
        guard bytes.starts(with: casedPrefix.utf8) else { return nil }
        let rest = bytes.dropFirst(casedPrefix.utf8.count)
        return rest.firstIndex(of: UInt8(ascii: "-")).map { String(Substring(rest[rest.index(after: $0)...])) }
    }

    /// Whether a name may be one that this package made: no other begins with ``prefix``, a letter of a form and `-`.
    static func isMade(_ name: String) -> Bool {
        let form = name.utf8.dropFirst(prefix.utf8.count).prefix(2).map(lowered)
        return hasPrefix(name) && ["p-", "c-", "h-", "t-"].contains { form.elementsEqual($0.utf8) }
    }

    /// Whether a name has ``prefix``, in capital letters or small ones.
    static func hasPrefix(_ name: String) -> Bool {
        var utf8 = name.utf8.makeIterator()
        for byte in prefix.utf8 {
            guard let next = utf8.next(), lowered(next) == byte else { return false }
        }
        return true
    }
}

extension SafeName {
    /// What decides how a text becomes a name, found in one pass.
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

    /// One bit for each letter, set for a capital one; four bits in a digit, without zeros at the end.
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

    /// Some file systems drop these bytes at the end of a name; and `.` and `..` are folders.
    private static func isUnsafeEnd(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: ".") }

    private static func isCapital(_ byte: UInt8) -> Bool { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) }

    static func isLetter(_ byte: UInt8) -> Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(lowered(byte)) }

    private static func lowered(_ byte: UInt8) -> UInt8 { isCapital(byte) ? byte | 0x20 : byte }
}
