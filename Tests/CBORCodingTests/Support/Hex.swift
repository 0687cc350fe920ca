import Foundation

extension Data {
    /// Creates data from hexadecimal digits. Other characters are ignored.
    init(hex: String) {
        let digits = hex.compactMap { $0.hexDigitValue.map { UInt8($0) } }
        self.init(stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] })
    }

    var hex: String { map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() }
}
