/// Hides keys: equal keys of one run get equal names, and nobody learns a key from its name.
struct Redaction: Sendable {
    private let salt: (UInt64, UInt64)

    /// A redaction with a salt of its own.
    init() {
        var generator = SystemRandomNumberGenerator()
        salt = (generator.next(), generator.next())
    }

    /// The name of a key: `#` and twelve digits.
    func name(_ key: String) -> String {
        var hasher = Hasher()
        hasher.combine(salt.0)
        hasher.combine(salt.1)
        hasher.combine(key)
        let digits = String(UInt64(bitPattern: Int64(hasher.finalize())), radix: 16)
        return "#" + (String(repeating: "0", count: max(0, 16 - digits.count)) + digits).prefix(12)
    }
}
