extension String {
    /// Returns the string with `%` and these ASCII characters percent-encoded, so that different
    /// strings stay different.
    package func percentEncoding(_ characters: String) -> String {
        unicodeScalars.reduce(into: "") { encoded, scalar in
            guard scalar == "%" || characters.unicodeScalars.contains(scalar) else {
                return encoded.unicodeScalars.append(scalar)
            }
            encoded +=
                (scalar.value < 16 ? "%0" : "%")
                + String(scalar.value, radix: 16, uppercase: true)
        }
    }
}
