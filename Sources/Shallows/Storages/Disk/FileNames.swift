internal import Foundation
internal import VellumCore

/// The names of the files of a folder: an encoder's results, made safe.
///
/// A pure value. A key has the same name in every process.
struct FileNames: Sendable {
    let encoder: Filename.Encoder
    let caseSensitivity: CaseSensitivity

    /// A key, and the texts that its names are made of.
    struct Spelling {
        let key: Filename
        /// The key in normal form (NFC).
        let normalized: String
        /// The encoder's result.
        let text: String
        /// The result in base64's other alphabet, where that differs.
        let otherText: String?
    }

    /// - Complexity: O(length). ASCII is its own normal form.
    func spelling(of key: Filename) -> Spelling {
        let normalized = EntryKey(key.rawValue).normalized
        switch encoder.scheme {
        case .base64, .base64URL:
            let (standard, dependsOnAlphabet) = Base64.encoded(normalized)
            guard dependsOnAlphabet else { return Spelling(key: key, normalized: normalized, text: standard, otherText: nil) }
            let url = Base64.inURLAlphabet(standard)
            // A text with a `/` in it, or one that is too long, is no name. Then both encoders choose the same one.
            let prefersURL = if case .base64URL = encoder.scheme { true } else { location(ofText: standard) != .named(standard) }
            return Spelling(
                key: key, normalized: normalized, text: prefersURL ? url : standard, otherText: prefersURL ? standard : url)
        case .noEncoding:
            return Spelling(key: key, normalized: normalized, text: normalized, otherText: nil)
        case .custom(let encode, _):
            return Spelling(
                key: key, normalized: normalized, text: EntryKey(encode(Filename(rawValue: normalized))).normalized, otherText: nil)
        }
    }

    /// Where the value of a key is written.
    func location(of spelling: Spelling) -> FileLocation { location(ofText: spelling.text) }

    /// Where it is written if a folder has the name of its file.
    func locationBesideFolder(_ spelling: Spelling) -> FileLocation { SafeName.escapedLocation(of: spelling.text, caseSensitivity) }

    func location(ofText text: String) -> FileLocation { SafeName.location(of: text, caseSensitivity) }
}
