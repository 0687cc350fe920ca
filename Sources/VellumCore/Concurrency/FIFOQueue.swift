/// A first-in, first-out queue that moves each element at most once. O(1) amortized.
package struct FIFOQueue<Element: Sendable>: Sendable {
    private var arriving: [Element] = []
    /// In reverse order.
    private var leaving: [Element] = []

    package init() {}

    var isEmpty: Bool { arriving.isEmpty && leaving.isEmpty }
    var count: Int { arriving.count + leaving.count }

    package mutating func append(_ element: Element) { arriving.append(element) }

    /// Puts an element before all others.
    package mutating func prepend(_ element: Element) { leaving.append(element) }

    package mutating func popFirst() -> Element? {
        if leaving.isEmpty {
            leaving = arriving.reversed()
            arriving = []
        }
        return leaving.popLast()
    }
}
