/// A map key in a form that is equal for equal keys, even if their bytes differ.
///
/// Texts are compared by canonical equivalence, like Swift's `==`, because a dictionary can contain
/// only one of two equivalent texts. Numbers and strings are compared regardless of the length of
/// their heads.
enum KeyIdentity: Hashable {
    case integer(MajorType, UInt64)
    case text(String)
    case bytes([UInt8])
    /// Any other key, compared by its bytes.
    case item(ByteSlice)

    /// Creates the identity of a well-formed key.
    init(_ key: ByteSlice) {
        let reader = ItemReader(base: key.start, count: key.count)
        let head = reader.head(at: 0)
        switch head.type {
        case .unsigned, .negative: self = .integer(head.type, head.argument)
        case .text:
            self = .text(
                reader.withBytes(head) { String(decoding: $0, as: UTF8.self) }
                    .withSortedCombiningMarks
            )
        case .bytes: self = .bytes(reader.withBytes(head) { Array($0) })
        case .array, .map, .tag, .simple: self = .item(key)
        }
    }
}

extension String {
    /// An equal string in which long runs of combining marks are in canonical order.
    ///
    /// Comparing strings takes quadratic time in the length of an unordered run: minutes for a
    /// hostile key of two megabytes.
    fileprivate var withSortedCombiningMarks: String {
        let longestUnsortedRun = 32
        guard utf8.count > longestUnsortedRun else { return self }
        var sorted = UnicodeScalarView()
        var run: [Unicode.Scalar] = []
        var hasLongRun = false
        func endRun() {
            if run.count > longestUnsortedRun {
                hasLongRun = true
                // Canonical ordering requires a stable sort, and `sort` is stable.
                run.sort {
                    $0.properties.canonicalCombiningClass < $1.properties.canonicalCombiningClass
                }
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
