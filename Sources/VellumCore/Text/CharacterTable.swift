/// A number for each character. Most are 0: characters are grouped in blocks of 128, and all blocks
/// of zeros are one.
struct CharacterTable: Sendable {
    private var numbers = [UInt16](repeating: 0, count: 128)
    /// For each 128 characters the number of their block.
    private var blocks = [UInt8](repeating: 0, count: 0x11_0000 >> 7)

    /// The characters whose number is not 0.
    var characters: [UInt32] {
        blocks.indices.filter { blocks[$0] != 0 }.flatMap {
            UInt32($0) << 7..<UInt32($0 + 1) << 7
        }
        .filter { self[$0] != 0 }
    }

    subscript(_ scalar: UInt32) -> UInt16 {
        get {
            numbers[Int(blocks[Int(scalar >> 7)]) << 7 | Int(scalar & 127)]
        }
        set {
            if blocks[Int(scalar >> 7)] == 0 {
                blocks[Int(scalar >> 7)] = UInt8(numbers.count >> 7)
                numbers += [UInt16](repeating: 0, count: 128)
            }
            numbers[
                Int(blocks[Int(scalar >> 7)]) << 7 | Int(scalar & 127)
            ] = newValue
        }
    }
}

/// Returns a function that reads the numbers of a text of `Scripts/normal_form.py`, one after the
/// other.
func numbers(in data: StaticString) -> () -> UInt32 {
    var digits = UnsafeBufferPointer(start: data.utf8Start, count: data.utf8CodeUnitCount).lazy
        .filter { $0 >= 48 }.makeIterator()
    return {
        var number: UInt32 = 0
        var shift: UInt32 = 0
        while let digit = digits.next() {
            number |= UInt32((digit - 48) & 31) << shift
            shift += 5
            if digit < 80 { break }
        }
        return number
    }
}
