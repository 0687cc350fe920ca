/// A key of a map, or a place in an array, as errors and coding paths name it.
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

    init(place: Int) {
        stringValue = "Index \(place)"
        intValue = place
    }

    static let `super` = CBORKey(stringValue: "super")
}
