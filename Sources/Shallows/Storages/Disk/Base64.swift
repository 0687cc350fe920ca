internal import Foundation

/// Base64 of strings (RFC 4648), fast for short ones: the names of most files.
enum Base64 {
    /// The UTF-8 of a string in the standard alphabet, padded, and whether it differs in the alphabet for URLs.
    ///
    /// - Complexity: O(length), with the result as the only allocation.
    static func encoded(_ string: String) -> (text: String, dependsOnAlphabet: Bool) {
        var string = string
        var largest: UInt8 = 0
        let text = string.withUTF8 { bytes in
            String(unsafeUninitializedCapacity: (bytes.count + 2) / 3 * 4) { output in
                largest = encode(bytes, into: output)
                return (bytes.count + 2) / 3 * 4
            }
        }
        return (text, largest >= 62)
    }

    /// The same bytes in the alphabet for URLs: `-` for `+`, and `_` for `/`.
    static func inURLAlphabet(_ text: String) -> String {
        replacing(text, UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "/"), UInt8(ascii: "_"))
    }

    /// The string that `text` encodes in either alphabet; `nil` if it is not base64 of UTF-8.
    ///
    /// One `/` at the end may be missing: earlier versions lost it, because they used the text as a path.
    static func decoded(_ text: String) -> String? {
        var standard = replacing(text, UInt8(ascii: "-"), UInt8(ascii: "+"), UInt8(ascii: "_"), UInt8(ascii: "/"))
        if standard.utf8.count % 4 == 3 { standard += "/" }
        return Data(base64Encoded: standard).flatMap { String(validating: $0, as: UTF8.self) }
    }

    /// Writes the text, and returns the largest of its six-bit digits.
    private static func encode(_ bytes: UnsafeBufferPointer<UInt8>, into output: UnsafeMutableBufferPointer<UInt8>) -> UInt8 {
        guard let input = bytes.baseAddress, var out = output.baseAddress else { return 0 }
        let letters = ("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/" as StaticString).utf8Start
        var largest: UInt8 = 0
        var index = 0
        while index < bytes.count {
            let left = bytes.count - index
            let first = input[index]
            let second = left > 1 ? input[index + 1] : 0
            let third = left > 2 ? input[index + 2] : 0
            let digits = (first >> 2, (first << 4 | second >> 4) & 63, (second << 2 | third >> 6) & 63, third & 63)
            largest = max(max(largest, digits.0, digits.1), max(digits.2, digits.3))
            out[0] = letters[Int(digits.0)]
            out[1] = letters[Int(digits.1)]
            out[2] = left > 1 ? letters[Int(digits.2)] : UInt8(ascii: "=")
            out[3] = left > 2 ? letters[Int(digits.3)] : UInt8(ascii: "=")
            out += 4
            index += 3
        }
        return largest
    }

    private static func replacing(_ text: String, _ from: UInt8, _ to: UInt8, _ from2: UInt8, _ to2: UInt8) -> String {
        String(decoding: text.utf8.map { $0 == from ? to : $0 == from2 ? to2 : $0 }, as: UTF8.self)
    }
}
