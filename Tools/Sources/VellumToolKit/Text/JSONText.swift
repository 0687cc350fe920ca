/// Text of a file, made safe for a document of JSON.
enum JSONText {
    /// Returns a document of JSON with what a terminal may act on escaped.
    ///
    /// Such characters stand in strings only, where an escape means the same.
    static func safe(_ json: String) -> String {
        guard !json.utf8.allSatisfy({ 0x20...0x7E ~= $0 || $0 == UInt8(ascii: "\n") }) else {
            return json
        }
        var result = ""
        var safe = SafeScalars()
        for scalar in json.unicodeScalars {
            if scalar == "\n" || safe.shows(scalar) {
                result.unicodeScalars.append(scalar)
                // No mark is drawn over a quote.
                if scalar == "\"" { safe = SafeScalars() }
            } else {
                result += escape(scalar)
            }
        }
        return result
    }

    private static func escape(_ scalar: Unicode.Scalar) -> String {
        String(scalar).utf16.map { unit in
            let digits = String(unit, radix: 16)
            return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        }.joined()
    }
}
