internal import Foundation
internal import VellumCore

/// What the files of a folder are called: an encoder's results, made safe, and the names that earlier versions gave.
///
/// A pure value. The same key has the same place in every process, since the place is what is on disk.
struct FileNames: Sendable {
    let encoder: Filename.Encoder
    let rule: CaseRule

    /// A key and what names of it are made from.
    struct Spelling {
        let key: Filename
        /// The key in normal form (NFC).
        let normalized: String
        /// What the encoder makes of it.
        let text: String
        /// The same in base64's other alphabet, if it reads differently there.
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
            // With a `/` in it, or too long, the text is no name. Both encoders make the same of it then.
            let prefersURL = if case .base64URL = encoder.scheme { true } else { place(ofText: standard) != .named(standard) }
            return Spelling(
                key: key, normalized: normalized, text: prefersURL ? url : standard, otherText: prefersURL ? standard : url)
        case .noEncoding:
            return Spelling(key: key, normalized: normalized, text: normalized, otherText: nil)
        case .custom(let encode, _):
            return Spelling(
                key: key, normalized: normalized, text: EntryKey(encode(Filename(rawValue: normalized))).normalized, otherText: nil)
        }
    }

    /// Where the value lies.
    func place(of spelling: Spelling) -> FilePlace { place(ofText: spelling.text) }

    /// Where it lies if a folder has the name of its file.
    func placeBeside(_ spelling: Spelling) -> FilePlace { SafeName.escapedPlace(of: spelling.text, rule) }

    func place(ofText text: String) -> FilePlace { SafeName.place(of: text, rule) }
}
