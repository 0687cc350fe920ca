/// A map key or an array index in a coding path.
struct CBORKey: CodingKey, Equatable {
    let stringValue: String
    let intValue: Int?

    init(stringValue: String) {
        self.stringValue = stringValue
        intValue = nil
    }

    init(intValue: Int) {
        stringValue = "\(intValue)"
        self.intValue = intValue
    }

    init(index: Int) {
        stringValue = "Index \(index)"
        intValue = index
    }

    // Those of `CodingKey` begin with the name of this type, which is private.
    var description: String { stringValue }
    var debugDescription: String { stringValue }

    static let `super` = CBORKey(stringValue: "super")
}
