internal import Foundation
internal import VellumCore

/// The file of a key in a folder.
///
/// The encoder's text is the name wherever every file system accepts it. Any other text is escaped:
///
/// | name | holds |
/// | --- | --- |
/// | `~sh-p-a%2fb` | the text, with unsafe bytes in hexadecimal |
/// | `~sh-p-abc%-9f86…` | the beginning of a text that is too long, and its SHA-256 |
///
/// The file of a text that is too long ends with the text (``LongKeyFile``).
///
/// The names of temporary files begin with `~sh-t-` (``TemporaryFiles``).
struct FileName: Sendable {
    /// The encoder's text for the key.
    let text: String
    let name: String
    /// Whether the name is the text itself.
    let isPlain: Bool
    /// Whether the text is too long for the name.
    let isShortened: Bool

    static let prefix = "~sh-"
    static let escapedPrefix = "~sh-p-"
    static let temporaryPrefix = "~sh-t-"
    /// Separates the beginning of a shortened text from its digest. In an escaped text, two digits
    /// follow each `%`.
    private static let shortened = "%-"

    /// The longest name that file systems accept, in bytes.
    static let longest = 255
}

extension FileName {
    /// The file of the key that is encoded as `text`.
    ///
    /// - Complexity: O(length).
    init(of text: String, _ caseSensitivity: CaseSensitivity) {
        self =
            Self.isSafe(text, caseSensitivity)
            ? FileName(text: text, name: text, isPlain: true, isShortened: false)
            : FileName(escaping: text, caseSensitivity)
    }

    /// The file where the text itself cannot be the name.
    init(escaping text: String, _ caseSensitivity: CaseSensitivity) {
        var name = Array(Self.escapedPrefix.utf8)
        var end = name.count
        var scalars = text.unicodeScalars[...]
        while name.count <= Self.longest, let scalar = scalars.popFirst() {
            if name.count <= Self.longest - Self.shortened.utf8.count - SHA256.digitCount {
                end = name.count
            }
            for byte in String(scalar).utf8 {
                if Self.isUnsafe(byte, isLast: scalars.isEmpty, caseSensitivity) {
                    name += "%\(byte < 16 ? "0" : "")\(String(byte, radix: 16))".utf8
                } else {
                    name.append(byte)
                }
            }
        }
        let isShortened = name.count > Self.longest
        if isShortened {
            name.replaceSubrange(
                end...,
                with: (Self.shortened + SHA256.digits(of: text)).utf8
            )
        }
        self = FileName(
            text: text,
            name: String(decoding: name, as: UTF8.self),
            isPlain: false,
            isShortened: isShortened
        )
    }

    /// The text that an escaped name holds; `nil` for any other name.
    static func text(from name: String) -> String? {
        guard name.utf8.starts(with: escapedPrefix.utf8) else { return nil }
        var text: [UInt8] = []
        var rest = name.utf8.dropFirst(escapedPrefix.utf8.count)
        while let byte = rest.popFirst() {
            guard byte == percent else {
                text.append(byte)
                continue
            }
            guard let high = rest.popFirst().flatMap(digit),
                let low = rest.popFirst().flatMap(digit)
            else { return nil }
            text.append(high << 4 | low)
        }
        return String(validating: text, as: UTF8.self)
    }

    /// Whether a name may be one of a file that holds its key.
    static func isShortened(_ name: String) -> Bool {
        isMade(name)
            && name.utf8.suffix(SHA256.digitCount + shortened.utf8.count).starts(
                with: shortened.utf8
            )
    }

    /// Whether a name may be one that this package makes, in capital letters or small ones.
    static func isMade(_ name: String) -> Bool {
        let beginning = name.utf8.prefix(escapedPrefix.utf8.count).map(lowered)
        return [escapedPrefix, temporaryPrefix].contains { beginning.elementsEqual($0.utf8) }
    }

    private static func isSafe(_ text: String, _ caseSensitivity: CaseSensitivity) -> Bool {
        guard let last = text.utf8.last, text.utf8.count <= longest, !isUnsafeEnd(last),
            !text.utf8.prefix(prefix.utf8.count).map(lowered).elementsEqual(prefix.utf8)
        else { return false }
        return text.utf8.allSatisfy { byte in
            byte != slash && byte != 0
                && (caseSensitivity == .sensitive || byte < 0x80 && !isCapital(byte))
        }
    }

    private static func isUnsafe(
        _ byte: UInt8,
        isLast: Bool,
        _ caseSensitivity: CaseSensitivity
    ) -> Bool {
        byte < 0x20 || byte == 0x7F || byte == slash || byte == percent
            || isLast && isUnsafeEnd(byte)
            || caseSensitivity == .insensitive && (isCapital(byte) || byte >= 0x80)
    }

    /// Some file systems drop these bytes at the end of a name; and `.` and `..` are folders.
    private static func isUnsafeEnd(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: " ") || byte == UInt8(ascii: ".")
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        Character(UnicodeScalar(byte)).hexDigitValue.map(UInt8.init)
    }

    private static let slash = UInt8(ascii: "/")
    private static let percent = UInt8(ascii: "%")

    private static func isCapital(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
    }

    private static func lowered(_ byte: UInt8) -> UInt8 { isCapital(byte) ? byte | 0x20 : byte }

    static func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(lowered(byte))
    }
}

/// The names of the files of a folder: those that are written, and those that the original wrote.
///
/// A pure value. A key has the same name in every process.
struct FileNames: Sendable {
    let encoder: Filename.Encoder
    let caseSensitivity: CaseSensitivity

    /// The file of a key, the same for every spelling of it.
    ///
    /// - Complexity: O(length). ASCII is its own normal form.
    func file(of key: Filename) -> FileName {
        let normalized = Filename(rawValue: EntryKey(key.rawValue).normalized)
        return FileName(of: encoder.encodedString(representing: normalized), caseSensitivity)
    }

    /// The file of the key if a folder has the name of its file.
    func fileBesideFolder(_ file: FileName) -> FileName {
        FileName(escaping: file.text, caseSensitivity)
    }

    /// Whether a file found under a path counts only if the folder spells it in exactly these
    /// letters. Names that this package makes differ in more than case; others may not.
    func needsExactName(_ path: String) -> Bool {
        caseSensitivity == .insensitive && !FileName.isMade(path)
            && path.utf8.contains { FileName.isLetter($0) || $0 >= 0x80 }
    }

    // MARK: Files of the original

    /// The paths, other than the name of its file, at which the original may have written the key's
    /// value: it did not normalize keys, so each normal form is tried. Nearly every key has none,
    /// because the original gave it the same name.
    ///
    /// - Complexity: O(length); a key that is not ASCII is normalized again.
    func originalPaths(of key: Filename, _ file: FileName) -> [String] {
        let raw = key.rawValue
        let isASCII = raw.utf8.allSatisfy { $0 < 0x80 }
        guard !file.isPlain || !isASCII else { return [] }
        let spellings = isASCII ? [] : [raw, raw.decomposedStringWithCanonicalMapping]
        var paths: [String] = []
        for text in [file.text]
            + spellings.map({ encoder.encodedString(representing: Filename(rawValue: $0)) })
        {
            guard let path = originalPath(of: text),
                !([file.name] + paths).contains(
                    where: { $0.hasSameBytes(as: path) }
                )
            else { continue }
            paths.append(path)
        }
        return paths
    }

    /// The path at which the original wrote a text; `nil` if it did not, or if another text may
    /// have the same path.
    ///
    /// It appended the text to the folder's path, so that every `/` made a folder, and `//` made
    /// one as well. A path with `.`, `..` or nothing between two slashes leads to another key's
    /// file, or out of the folder, and is never read. A URL is the exception: nobody means another
    /// key by `https:/x` than by `https://x`.
    func originalPath(of text: String) -> String? {
        var path = URLText.path(of: text) ?? text
        if case .base64 = encoder.scheme, path.utf8.last == UInt8(ascii: "/") {
            path.removeLast()  // It lost the slash. No other base64 text has this length.
        }
        guard !FileName.isMade(text), !path.utf8.contains(0) else { return nil }
        let parts = path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        let isSafe = parts.allSatisfy { part in
            (1...FileName.longest).contains(part.count) && !part.elementsEqual(".".utf8)
                && !part.elementsEqual("..".utf8)
        }
        return isSafe ? path : nil
    }
}

/// URLs as keys: the paths that the original gave them, which have one slash after the scheme.
enum URLText {
    /// The path of a URL; `nil` for any other text.
    static func path(of text: String) -> String? {
        guard let (scheme, slashes) = scheme(of: text),
            text.utf8.dropFirst(scheme.utf8.count).starts(with: slashes.utf8)
        else {
            return nil
        }
        return scheme + "/" + rest(of: text, after: scheme.utf8.count + slashes.utf8.count)
    }

    /// The URL with that path; `nil` if no URL has it.
    static func url(withPath path: String) -> String? {
        guard let (scheme, slashes) = scheme(of: path),
            path.utf8.dropFirst(scheme.utf8.count).first == UInt8(ascii: "/")
        else {
            return nil
        }
        return scheme + slashes + rest(of: path, after: scheme.utf8.count + 1)
    }

    /// A URL's scheme with its colon (RFC 3986, 3.1), and the slashes that follow: those of files
    /// name no host.
    private static func scheme(of text: String) -> (scheme: String, slashes: String)? {
        let scheme = text.utf8.prefix {
            FileName.isLetter($0) || (48...57).contains($0) || "+-.".utf8.contains($0)
        }
        guard let first = scheme.first, FileName.isLetter(first),
            text.utf8.dropFirst(scheme.count).first == UInt8(ascii: ":")
        else { return nil }
        let name = String(Substring(scheme))
        return (name + ":", name.lowercased() == "file" ? "///" : "//")
    }

    private static func rest(of text: String, after count: Int) -> String {
        String(Substring(text.utf8.dropFirst(count)))
    }
}

/// Whether the names in a folder are case-sensitive.
enum CaseSensitivity: Sendable, CaseIterable {
    /// `"a"` and `"A"` are two files.
    case sensitive
    /// `"a"` and `"A"` are one file.
    case insensitive

    /// The case sensitivity of the volume that the folder is on, or will be on. Calls the system.
    ///
    /// A volume that does not tell is treated as insensitive, which is safe on both kinds. On Linux
    /// volumes are sensitive.
    static func ofVolume(at path: String) -> CaseSensitivity {
        #if canImport(Darwin)
            var folder = URL(fileURLWithPath: path)
            while true {
                switch pathconf(folder.path, _PC_CASE_SENSITIVE) {
                case 1: return .sensitive
                case -1 where errno == ENOENT && folder.path != "/":
                    folder.deleteLastPathComponent()
                default: return .insensitive
                }
            }
        #else
            return .sensitive
        #endif
    }
}

extension String {
    /// Whether two texts are one name: file systems compare bytes.
    ///
    /// - Complexity: O(length).
    func hasSameBytes(as other: String) -> Bool { utf8.elementsEqual(other.utf8) }
}
