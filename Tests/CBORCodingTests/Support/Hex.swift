import Foundation

extension Data {
    /// The bytes that the hexadecimal digits say; blanks are passed over.
    init(hex: String) {
        let digits = hex.filter { !$0.isWhitespace }.map { UInt8($0.hexDigitValue!) }
        self.init(stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] })
    }

    var hex: String { map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() }
}
