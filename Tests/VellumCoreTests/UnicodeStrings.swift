import Foundation
import VellumTestSupport

/// The random strings of `make.py`.
struct UnicodeStrings {
    private static let ranges: [Range<UInt64>] = [
        0x300..<0x370, 0x1100..<0x1200, 0xAC00..<0xD7A4, 0x41..<0x180, 0x900..<0xE00,
        0x1E00..<0x2000, 0xF900..<0xFB50,
        0x1D000..<0x1D200, 0x11000..<0x11800, 0..<0x11_0000,
    ]
    private var (numbers, others) = (SeededGenerator(seed: 15), SeededGenerator(seed: 16))

    private mutating func number(below end: UInt64) -> UInt64 { numbers.next() % end }

    mutating func next() -> String {
        var text = String.UnicodeScalarView()
        let length = 1 + number(below: 12)
        while text.count < length {
            let range = Self.ranges[Int(number(below: UInt64(Self.ranges.count)))]
            let value = range.lowerBound + number(below: UInt64(range.count))
            // Noncharacters have an age, too.
            if let scalar = Unicode.Scalar(UInt32(value)),
                scalar.properties.generalCategory != .unassigned,
                scalar.properties.age.map({ ($0.major, $0.minor) <= (15, 0) }) == true
            {
                text.append(scalar)
            }
        }
        return String(text)
    }

    /// The string decomposed, or with two neighbours exchanged.
    mutating func rearranged(_ text: String) -> String {
        var scalars = Array(text.decomposedStringWithCanonicalMapping.unicodeScalars)
        if Bool.random(using: &others),
            let place = scalars.indices.dropLast().randomElement(using: &others)
        {
            scalars.swapAt(place, place + 1)
        }
        return String(String.UnicodeScalarView(scalars))
    }
}
