@testable import Shallows

extension Filename {
    /// Keys that break naive names.
    static let tricky: [Filename] = [
        "", " ", ".", "..", "...", "/", "//", "/a", "a/", "a//b", "a/b", "a/./b", "a/../b",
        "../escaped", "../../escaped", "\0", "a\0b",
        "a.", "a ", "a", "A", "~", "~sh-", "~sh-p-a", "~SH-P-a", "~sh-p-a%-", "~sh-t-1-1", "%",
        "%2f", "%2F", "\n",
        "\u{7F}",
        "é", "👩‍👩‍👧‍👦", "𝄞", "\u{301}", "a/\u{301}", "CON", "aux.txt", "a:b", "a\\b", "*?\"<>|",
        ".hidden", ".dat.nosync", "?", "???", "o?>",
        "ÿÿ", "o/é",
        Filename(rawValue: String(repeating: "k", count: 190)),
        Filename(rawValue: String(repeating: "k", count: 191)),
        Filename(rawValue: String(repeating: "k", count: 192)),
        Filename(rawValue: String(repeating: "K/", count: 100)),
        Filename(rawValue: String(repeating: "k", count: 255)),
        Filename(rawValue: String(repeating: "k", count: 256)),
        Filename(rawValue: String(repeating: "é", count: 128)),
        Filename(rawValue: String(repeating: "/", count: 300)),
        Filename(rawValue: String(repeating: "k", count: 5000)),
        Filename(rawValue: String(repeating: "👍", count: 1000)),
    ]
}

/// The encoders, by names that a test can print.
enum TestEncoder: String, CaseIterable, Sendable {
    case base64, base64URL, noEncoding, custom

    var encoder: Filename.Encoder {
        switch self {
        case .base64: .base64
        case .base64URL: .base64URL
        case .noEncoding: .noEncoding
        case .custom:
            .custom {
                $0.rawValue + ".v2"
            } decode: {
                $0.utf8.suffix(3).elementsEqual(".v2".utf8)
                    ? Filename(rawValue: String(Substring($0.utf8.dropLast(3)))) : nil
            }
        }
    }
}
