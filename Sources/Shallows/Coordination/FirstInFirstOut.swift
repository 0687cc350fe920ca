/// A queue, each of whose elements is moved at most once. O(1) amortized.
struct FirstInFirstOut<Element> {
    private var arriving: [Element] = []
    /// The first is the last.
    private var leaving: [Element] = []

    var isEmpty: Bool { arriving.isEmpty && leaving.isEmpty }
    var count: Int { arriving.count + leaving.count }

    mutating func append(_ element: Element) { arriving.append(element) }

    mutating func popFirst() -> Element? {
        if leaving.isEmpty {
            leaving = arriving.reversed()
            arriving = []
        }
        return leaving.popLast()
    }
}

extension FirstInFirstOut: Sendable where Element: Sendable {}
