/// Reads heads, texts and lengths of well-formed items, without bounds checks.
///
/// The creator must keep the bytes alive and must have validated them with `WellFormedness`.
struct ItemReader {
    let base: UnsafePointer<UInt8>
    let count: Int

    /// The head of an item (RFC 8949, 3).
    struct Head {
        var type: MajorType
        var information: UInt8
        /// The number, the length, the tag, or the bits of a floating-point number.
        var argument: UInt64
        /// The offset after the head.
        var next: Int

        var isIndefinite: Bool { information == AdditionalInformation.indefinite }
    }

    @inline(__always)
    func head(at offset: Int) -> Head {
        let first = base[offset]
        // Three bits have eight values, one for each case.
        let type = unsafeBitCast(first >> 5, to: MajorType.self)
        let information = first & 0x1F
        guard information >= AdditionalInformation.oneByte else {
            return Head(
                type: type,
                information: information,
                argument: UInt64(information),
                next: offset + 1
            )
        }
        return longHead(type, information, at: offset)
    }

    private func longHead(_ type: MajorType, _ information: UInt8, at offset: Int) -> Head {
        let bytes = UnsafeRawPointer(base + offset + 1)
        let (argument, size): (UInt64, Int) =
            switch information {
            case AdditionalInformation.oneByte: (UInt64(base[offset + 1]), 1)
            case AdditionalInformation.twoBytes:
                (UInt64(UInt16(bigEndian: bytes.loadUnaligned(as: UInt16.self))), 2)
            case AdditionalInformation.fourBytes:
                (UInt64(UInt32(bigEndian: bytes.loadUnaligned(as: UInt32.self))), 4)
            case AdditionalInformation.eightBytes:
                (UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)), 8)
            default: (0, 0)
            }
        return Head(
            type: type,
            information: information,
            argument: argument,
            next: offset + 1 + size
        )
    }

    @inline(__always)
    func isBreak(at offset: Int) -> Bool { base[offset] == SimpleByte.break }

    /// Returns the offset of the item without its tags.
    @inline(__always)
    func content(at offset: Int) -> Int {
        var offset = offset
        while base[offset] >> 5 == MajorType.tag.rawValue {
            offset = head(at: offset).next
        }
        return offset
    }

    /// The head of an item behind its tags.
    @inline(__always)
    func contentHead(at offset: Int) -> Head { head(at: content(at: offset)) }

    @inline(__always)
    func isNil(at offset: Int) -> Bool {
        let byte = base[content(at: offset)]
        return byte == SimpleByte.null || byte == SimpleByte.undefined
    }

    // MARK: Ends of items

    /// Returns the offset after the last byte of the item.
    func end(of offset: Int) -> Int {
        var offset = offset
        var items: UInt64 = 1
        while items > 0 {
            items -= 1
            let head = head(at: offset)
            offset = head.next
            switch head.type {
            case .unsigned, .negative, .simple:
                break
            case .bytes, .text, .array, .map:
                if head.isIndefinite {
                    while !isBreak(at: offset) { offset = end(of: offset) }
                    offset += 1
                } else if head.type == .array {
                    items += head.argument
                } else if head.type == .map {
                    items += head.argument * 2
                } else {
                    offset += Int(head.argument)
                }
            case .tag:
                items += 1
            }
        }
        return offset
    }

    /// Returns the offset after the last byte of an array whose last element ends at `lastEnd`.
    @inline(__always)
    func endOfArray(_ array: Int, lastEnd: Int) -> Int {
        contentHead(at: array).isIndefinite ? lastEnd + 1 : lastEnd
    }

    // MARK: Strings

    /// Returns the bytes of a string in place, or `nil` if it has indefinite length.
    @inline(__always)
    func slice(_ head: Head) -> ByteSlice? {
        head.isIndefinite ? nil : ByteSlice(base + head.next, count: Int(head.argument))
    }

    /// Returns the joined chunks of a string of indefinite length.
    func joined(_ head: Head) -> [UInt8] {
        var bytes: [UInt8] = []
        var offset = head.next
        while !isBreak(at: offset) {
            let chunk = self.head(at: offset)
            let size = Int(chunk.argument)
            bytes.append(contentsOf: UnsafeBufferPointer(start: base + chunk.next, count: size))
            offset = chunk.next + size
        }
        return bytes
    }

    /// Calls the closure with the bytes of a string of any form.
    @inline(__always)
    func withBytes<Result>(
        _ head: Head,
        _ body: (UnsafeBufferPointer<UInt8>) throws -> Result
    ) rethrows -> Result {
        if let slice = slice(head) {
            return try body(UnsafeBufferPointer(start: slice.start, count: slice.count))
        }
        return try joined(head).withUnsafeBufferPointer(body)
    }

    /// Returns the text, or `nil` if it is not valid UTF-8.
    @inline(__always)
    func text(_ head: Head) -> String? {
        withBytes(head) { bytes in
            // `String(decoding:)` repairs invalid UTF-8, so a changed text was invalid. This is
            // faster than the validating initializer.
            let text = String(decoding: bytes, as: UTF8.self)
            return ByteSlice(bytes).isText(text) ? text : nil
        }
    }
}
