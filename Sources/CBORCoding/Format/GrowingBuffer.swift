internal import Foundation

/// A growable buffer without the bounds and uniqueness checks of an array. Its owner must call
/// `free()`.
struct GrowingBuffer<Element: BitwiseCopyable> {
    private(set) var base: UnsafeMutablePointer<Element>
    private(set) var count = 0
    private var capacity: Int
    /// Whether the buffer allocated its memory.
    private var isOwner: Bool

    init(capacity: Int) {
        base = .allocate(capacity: capacity)
        self.capacity = capacity
        isOwner = true
    }

    /// Uses the given memory, which the caller frees, until it is full; then allocates its own.
    init(in memory: UnsafeMutableRawPointer, capacity: Int) {
        base = memory.bindMemory(to: Element.self, capacity: capacity)
        self.capacity = capacity
        isOwner = false
    }

    func free() {
        if isOwner { base.deallocate() }
    }

    @inline(__always)
    subscript(index: Int) -> Element {
        get {
            assert(index >= 0 && index < count)
            return base[index]
        }
        nonmutating _modify {
            assert(index >= 0 && index < count)
            yield &base[index]
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

    /// Ensures that the given number of elements can be appended.
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
    /// The elements; the buffer is not used afterwards. Many are not copied.
    mutating func takeData() -> Data {
        guard isOwner, count >= 1 << 16 else { return Data(bytes: base, count: count) }
        isOwner = false
        return Data(
            bytesNoCopy: base,
            count: count,
            deallocator: .custom { bytes, _ in bytes.deallocate() }
        )
    }

    @inline(__always)
    mutating func appendBigEndian<Number: FixedWidthInteger>(_ number: Number) {
        let size = MemoryLayout<Number>.size
        reserve(size)
        UnsafeMutableRawPointer(base + count).storeBytes(of: number.bigEndian, as: Number.self)
        count += size
    }
}
