/// The name of a property in the definition of an index. It is the same on every launch.
struct PropertyName {
    let text: String

    /// Returns the given name, or the key path without its root.
    static func of<Root>(_ path: AnyKeyPath, _ root: Root.Type, _ given: String?) -> PropertyName {
        PropertyName(given ?? withoutAddresses(withoutRoot(path.debugDescription, root)))
    }

    private init(_ text: String) {
        self.text = String(text.map { $0 == ";" || $0.isNewline ? " " : $0 })
    }

    /// Returns the name, with a number if it is taken.
    func unique(among taken: [String]) -> String {
        guard taken.contains(text) else { return text }
        var number = 2
        while taken.contains("\(text) \(number)") { number += 1 }
        return "\(text) \(number)"
    }

    /// Returns "address.city" for "\User.address.city".
    private static func withoutRoot<Root>(_ description: String, _ root: Root.Type) -> String {
        let start = "\\\(root)."
        return description.hasPrefix(start) ? String(description.dropFirst(start.count)) : description
    }

    /// Returns "<computed Bool>" for "<computed 0x000055db3ca427d0 (Bool)>".
    private static func withoutAddresses(_ description: String) -> String {
        description.replacing(/0x[0-9a-fA-F]+ \((.*?)\)>/) { "\($0.output.1)>" }
    }
}
