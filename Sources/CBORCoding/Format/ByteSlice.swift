internal import Foundation

/// Bytes that someone else keeps, compared by what they are.
struct ByteSlice: Hashable {
    let start: UnsafePointer<UInt8>
    let count: Int

    @inline(__always)
    init(_ start: UnsafePointer<UInt8>, count: Int) {
        self.start = start
        self.count = count
    }

    @inline(__always)
    init(_ bytes: UnsafeBufferPointer<UInt8>) {
        // An empty buffer may lie nowhere, and nobody looks where an empty slice does.
        self.init(bytes.baseAddress ?? UnsafePointer(bitPattern: 1).unsafelyUnwrapped, count: bytes.count)
    }

    /// Whether these are the bytes of the text.
    @inline(__always)
    func isText(_ text: String) -> Bool {
        if let isSame = text.utf8.withContiguousStorageIfAvailable({ self == ByteSlice($0) }) { return isSame }
        var native = text
        return native.withUTF8 { self == ByteSlice($0) }
    }

    /// Whether the bytes are UTF-8. Almost all keys are ASCII.
    @inline(__always)
    var isUTF8: Bool {
        var high: UInt64 = 0
        var place = 0
        while place + 8 <= count {
            high |= UnsafeRawPointer(start + place).loadUnaligned(as: UInt64.self)
            place += 8
        }
        while place < count {
            high |= UInt64(start[place])
            place += 1
        }
        return high & 0x8080_8080_8080_8080 == 0 || isUTF8BeyondASCII
    }

    @inline(never)
    private var isUTF8BeyondASCII: Bool {
        isText(String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self))
    }

    /// The bit of a key with these bytes.
    @inline(__always)
    var keyBit: UInt64 { KeyMask.bit(start, count: count) }

    @inline(__always)
    static func == (left: ByteSlice, right: ByteSlice) -> Bool {
        left.count == right.count && memcmp(left.start, right.start, left.count) == 0
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(bytes: UnsafeRawBufferPointer(start: start, count: count))
    }
}

/// Finds out whether slices are all different.
struct DistinctSlices {
    /// Up to so many are compared one with the other.
    private static let few = 24

    private var list: [ByteSlice] = []
    private var set: Set<ByteSlice>?

    init(count: Int) {
        if count > Self.few { set = Set(minimumCapacity: count) } else { list.reserveCapacity(count) }
    }

    /// Returns whether the slice is a new one.
    mutating func insert(_ slice: ByteSlice) -> Bool {
        if set != nil { return set?.insert(slice).inserted ?? true }
        guard !list.contains(slice) else { return false }
        list.append(slice)
        return true
    }
}
