/// What two equal keys of a map have in common, whatever their bytes are.
///
/// Texts are equal by canonical equivalence, like Swift's `==`: a dictionary can hold only one of them. Numbers and strings are equal
/// whatever the length of their heads.
enum KeyIdentity: Hashable {
    case integer(MajorType, UInt64)
    case text(String)
    case bytes([UInt8])
    /// Any other key, as it stands there.
    case item(ByteSlice)

    /// The identity of a well-formed key.
    init(_ key: ByteSlice) {
        let reader = ItemReader(key.start, count: key.count)
        let head = reader.head(at: 0)
        switch head.type {
        case .unsigned, .negative: self = .integer(head.type, head.argument)
        case .text: self = .text(reader.withBytes(head) { String(decoding: $0, as: UTF8.self) }.withSortedMarks)
        case .bytes: self = .bytes(reader.withBytes(head) { Array($0) })
        case .array, .map, .tag, .simple: self = .item(key)
        }
    }
}

extension String {
    /// An equal string in which no long run of combining marks is out of order.
    ///
    /// Comparing strings takes quadratic time in the length of such a run: minutes for a hostile key of two megabytes.
    fileprivate var withSortedMarks: String {
        let mostMarks = 32
        guard utf8.count > mostMarks else { return self }
        var sorted = UnicodeScalarView()
        var run: [Unicode.Scalar] = []
        var hasLongRun = false
        func endRun() {
            if run.count > mostMarks {
                hasLongRun = true
                // The sort is stable, as canonical ordering must be.
                run.sort { $0.properties.canonicalCombiningClass < $1.properties.canonicalCombiningClass }
            }
            sorted.append(contentsOf: run)
            run.removeAll(keepingCapacity: true)
        }
        for scalar in unicodeScalars {
            if scalar.value >= 0x300, scalar.properties.canonicalCombiningClass != .notReordered {
                run.append(scalar)
            } else {
                endRun()
                sorted.append(scalar)
            }
        }
        endRun()
        return hasLongRun ? String(sorted) : self
    }
}
