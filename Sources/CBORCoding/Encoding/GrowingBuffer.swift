/// Elements that are added at the end, without the checks of an array. Whoever holds it frees it.
struct GrowingBuffer<Element: BitwiseCopyable> {
    private(set) var base: UnsafeMutablePointer<Element>
    private(set) var count = 0
    private var capacity: Int
    /// Whether the memory is the buffer's own.
    private var isOwner: Bool

    init(capacity: Int) {
        base = .allocate(capacity: capacity)
        self.capacity = capacity
        isOwner = true
    }

    /// Begins in memory that someone else frees, and moves to its own when that is full.
    init(in memory: UnsafeMutableRawPointer, capacity: Int) {
        base = memory.bindMemory(to: Element.self, capacity: capacity)
        self.capacity = capacity
        isOwner = false
    }

    func free() {
        if isOwner { base.deallocate() }
    }

    @inline(__always)
    subscript(place: Int) -> Element {
        get {
            assert(place >= 0 && place < count)
            return base[place]
        }
        nonmutating _modify {
            assert(place >= 0 && place < count)
            yield &base[place]
        }
    }

    @inline(__always)
    mutating func append(_ element: Element) {
        reserve(1)
        base[count] = element
        count += 1
    }

    @inline(__always)
    mutating func append(_ elements: UnsafePointer<Element>, count more: Int) {
        reserve(more)
        (base + count).update(from: elements, count: more)
        count += more
    }

    mutating func truncate(to count: Int) { self.count = count }

    /// Makes sure that there is room for so many more.
    @inline(__always)
    mutating func reserve(_ more: Int) {
        if capacity - count < more { grow(more) }
    }

    @inline(never)
    private mutating func grow(_ more: Int) {
        capacity = max(capacity * 2, count + more)
        let larger = UnsafeMutablePointer<Element>.allocate(capacity: capacity)
        larger.update(from: base, count: count)
        free()
        base = larger
        isOwner = true
    }
}

extension GrowingBuffer<UInt8> {
    @inline(__always)
    mutating func appendBigEndian<Number: FixedWidthInteger>(_ number: Number) {
        let size = MemoryLayout<Number>.size
        reserve(size)
        UnsafeMutableRawPointer(base + count).storeBytes(of: number.bigEndian, as: Number.self)
        count += size
    }
}
