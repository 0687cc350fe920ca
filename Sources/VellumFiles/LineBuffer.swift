internal import CBORCoding
internal import Dispatch
internal import Foundation
internal import VellumCore

/// Text that is written to a file in large portions.
///
/// By pointers, because an export of a million entries spends its time here. Used by one thread, so
/// Swift's checks for exclusive access are off.
final class LineBuffer {
    @exclusivity(unchecked) private var bytes = UnsafeMutableBufferPointer<UInt8>.allocate(
        capacity: 1 << 20
    )
    @exclusivity(unchecked) private var count = 0

    deinit { bytes.deallocate() }

    /// Makes room for so many bytes, for what is added next.
    private func reserve(_ more: Int) {
        guard count + more > bytes.count else { return }
        let larger = UnsafeMutableBufferPointer<UInt8>.allocate(
            capacity: max(count + more, bytes.count * 2)
        )
        _ = larger.update(fromContentsOf: bytes[..<count])
        bytes.deallocate()
        bytes = larger
    }

    /// Adds a text of any length.
    func add(text: String) {
        var text = text
        text.withUTF8 { add(UnsafeRawBufferPointer($0)) }
    }

    func add(_ text: StaticString) {
        add(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    func add(_ raw: UnsafeRawBufferPointer) {
        guard let source = raw.baseAddress else { return }
        reserve(raw.count)
        UnsafeMutableRawPointer(start + count).copyMemory(from: source, byteCount: raw.count)
        count += raw.count
    }

    private var start: UnsafeMutablePointer<UInt8> { bytes.baseAddress.unsafelyUnwrapped }

    func add(_ number: Int64) {
        reserve(20)
        if number < 0 { add(UInt8(ascii: "-")) }
        var rest = number.magnitude
        var digits = 1
        var power: UInt64 = 10
        while digits < 19, rest >= power {
            power = power &* 10
            digits += 1
        }
        if digits == 19, rest >= power { digits = 20 }
        for place in stride(from: count + digits - 1, through: count, by: -1) {
            start[place] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        }
        count += digits
    }

    /// Adds a moment by RFC 3339, in UTC with milliseconds; as a number, in milliseconds since
    /// 1970, if its year has not four digits.
    func add(moment milliseconds: Int64) {
        guard -62_135_596_800_000..<253_402_300_800_000 ~= milliseconds else {
            return add(milliseconds)
        }
        let rest = (milliseconds % 1000 + 1000) % 1000
        reserve(RFC3339.length + 10)
        add("\"")
        let place = UnsafeMutableBufferPointer(rebasing: bytes[count..<count + RFC3339.length])
        RFC3339.write(Int((milliseconds - rest) / 1000), to: place)
        count += RFC3339.length
        add(".")
        add(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest / 100))
        add(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest / 10 % 10))
        add(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10))
        add("Z\"")
    }

    /// Adds a byte for which there is room.
    private func add(_ byte: UInt8) {
        start[count] = byte
        count += 1
    }

    // MARK: Base64

    // Foundation's takes half a microsecond for an entry, half of what an export may.

    /// The two characters of twelve bits (RFC 4648, 4).
    private static let pairs: [UInt16] = {
        let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
        return (0..<4096).map {
            UInt16(letters[$0 >> 6]).littleEndian | UInt16(letters[$0 & 63]) << 8
        }
    }()

    func add(base64 raw: UnsafeRawBufferPointer) {
        reserve(raw.count / 3 * 4 + 4)
        Self.pairs.withUnsafeBufferPointer { pairs in
            var index = 0
            while index + 2 < raw.count {
                let group =
                    Int(raw[index]) << 16
                    | Int(raw[index + 1]) << 8
                    | Int(raw[index + 2])
                add(pairs[group >> 12])
                add(pairs[group & 4095])
                index += 3
            }
            guard index < raw.count else { return }
            let group =
                Int(raw[index]) << 16
                | (index + 1 < raw.count ? Int(raw[index + 1]) << 8 : 0)
            add(pairs[group >> 12])
            add(pairs[group & 4095])
            start[count - 1] = UInt8(ascii: "=")
            if index + 1 == raw.count { start[count - 2] = UInt8(ascii: "=") }
        }
    }

    private func add(_ pair: UInt16) {
        start[count] = UInt8(truncatingIfNeeded: pair)
        start[count + 1] = UInt8(truncatingIfNeeded: pair >> 8)
        count += 2
    }

    // MARK: Writing

    private let writer = PortionWriter()

    /// Writes everything that was added, after what was written before. Returns when the next
    /// portion may be added.
    ///
    /// - Throws: The error of an earlier portion.
    func empty(into file: Int32) throws {
        try finish()
        let next = writer.takeSpare() ?? .allocate(capacity: bytes.count)
        writer.write(
            exchange(&bytes, with: next),
            exchange(&count, with: 0),
            to: file
        )
    }

    /// Returns when everything is written.
    func finish() throws { try writer.finish() }
}

/// Writes a portion while the next one is made.
///
/// Unsafe because the memory of a portion is protected by its turn: whoever adds to it waits until
/// it is written before it gives memory or takes some.
private final class PortionWriter: Sendable {
    private struct State {
        var failure: POSIXError?
        var isWriting = false
        /// The memory of a portion that was written.
        nonisolated(unsafe) var spare: UnsafeMutableBufferPointer<UInt8>?
    }

    private let lane = Lane()
    private let state = Locked(State())
    /// Signalled when the portion is written that the only user has begun.
    private let end = DispatchSemaphore(value: 0)

    deinit { takeSpare()?.deallocate() }

    func takeSpare() -> UnsafeMutableBufferPointer<UInt8>? {
        state.withLock { exchange(&$0.spare, with: nil) }
    }

    func write(_ memory: UnsafeMutableBufferPointer<UInt8>, _ count: Int, to file: Int32) {
        nonisolated(unsafe) let memory = memory
        state.withLock { $0.isWriting = true }
        lane.start { [self] in
            let failure = Self.write(UnsafeRawBufferPointer(memory)[..<count], to: file)
            state.withLock {
                $0.spare = memory
                $0.failure = $0.failure ?? failure
            }
            end.signal()
        }
    }

    /// Returns when everything is written.
    func finish() throws {
        if state.withLock({ exchange(&$0.isWriting, with: false) }) {
            end.wait()
        }
        if let failure = state.withLock({ $0.failure }) { throw failure }
    }

    /// What a full disk does not take is lost: the file then ends in a part of a line, at which it
    /// is resumed.
    private static func write(
        _ portion: Slice<UnsafeRawBufferPointer>,
        to file: Int32
    ) -> POSIXError? {
        var rest = portion
        while let start = UnsafeRawBufferPointer(rebasing: rest).baseAddress, !rest.isEmpty {
            let written = SystemCalls.write(file, start, rest.count)
            guard written >= 0 else { return POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
            rest = rest.dropFirst(written)
        }
        return nil
    }
}
