import CBORCoding
import Foundation

@testable import MiniCache
@testable import Shallows
@testable import VellumCore
@testable import VellumEngine

/// Feeds the input to readers of bytes and checks the invariants of their results.
enum FuzzedReaders {
    static func elements(_ input: Data) {
        guard let elements = input.withUnsafeBytes({ ElementList.decode($0) }) else { return }
        let again = ElementList.encode(elements).withUnsafeBytes { ElementList.decode($0) }
        require(again == elements, "Decoded elements round-trip.")
        require(elements.count <= input.count, "There are no more elements than bytes.")
    }

    static func names(_ input: Data) {
        let text = String(decoding: input, as: UTF8.self)
        // Reads any text as a file name, and as what an encoder returned.
        _ = FileName.text(from: text)
        _ = URLText.url(withPath: text)
        for encoder in [Filename.Encoder.base64, .base64URL, .noEncoding] {
            _ = encoder.key(from: text)
            let key = encoder.key(
                from: encoder.encodedString(representing: Filename(rawValue: text))
            )
            require(
                key.map { Array($0.rawValue.utf8) } == Array(text.utf8),
                "An encoded key converts back."
            )
        }
        for rule in [CaseSensitivity.sensitive, .insensitive] {
            // Converts any text to a file name.
            let file = FileName(of: text, rule)
            require(
                file.name.utf8.count <= FileName.longest,
                "A name is not longer than the system allows."
            )
            require(
                !file.name.utf8.contains(0) && !file.name.utf8.contains(UInt8(ascii: "/")),
                "A name stays in its folder."
            )
            require(!["", ".", ".."].contains(file.name), "A name is a valid file name.")
            require(
                file.isPlain || FileName.isMade(file.name),
                "A name that is not the text shows that it was made."
            )
            require(
                file.isShortened == FileName.isShortened(file.name),
                "A shortened name shows that it is one."
            )
            guard !file.isPlain, !file.isShortened else { continue }
            require(
                FileName.text(from: file.name).map { Array($0.utf8) } == Array(text.utf8),
                "A name converts back to its text."
            )
        }
    }

    static func longKeys(_ input: Data) {
        let text = String(decoding: input.prefix(input.count / 2), as: UTF8.self)
        if let value = LongKeyFile.value(in: input, of: text) {
            require(
                value.count + text.utf8.count + LongKeyFile.endCount == input.count,
                "Each byte is in the value, key or trailer."
            )
        }
        if let length = LongKeyFile.textLength(
            of: input.suffix(LongKeyFile.endCount),
            size: input.count
        ) {
            require(length + LongKeyFile.endCount <= input.count, "A key is inside the file.")
        }
        let value = Data(input.suffix(input.count / 3))
        require(
            LongKeyFile.value(in: value + LongKeyFile.end(for: text), of: text) == value,
            "A written file round-trips."
        )
    }

    static func keys(_ input: Data) {
        let pieces = input.split(separator: 0xFF, maxSplits: 1, omittingEmptySubsequences: false)
            .map {
                String(decoding: $0, as: UTF8.self)
            }
        let one = EntryKey(pieces[0])
        let other = EntryKey(
            pieces.count > 1
                ? pieces[1] : String(pieces[0].unicodeScalars.reversed().map(Character.init))
        )
        require(EntryKey(one.normalized) == one, "Normalization is idempotent.")
        require(
            one == one && (one == other) == (other == one),
            "Equality is reflexive and symmetric."
        )
        require(
            (one == other) == (Array(one.normalized.utf8) == Array(other.normalized.utf8)),
            "Equal keys have the same bytes."
        )
        if one == other {
            require(one.hashValue == other.hashValue, "Equal keys have equal hashes.")
        }
        if one == other {
            require(
                pieces.count < 2 || pieces[0] == pieces[1],
                "Different strings are different keys."
            )
        }
    }

    private static func changes(_ hashes: [UInt64]) -> ChangedKeys {
        hashes.reduce(into: ChangedKeys()) { $0.insert(ChangedKeys.Key($1, .written), most: .max) }
    }

    /// Reads a change page that the input has overwritten in parts. Each part takes ten bytes of
    /// input: an offset and eight bytes of content.
    static func page(_ input: Data) {
        let memory = UnsafeMutableRawBufferPointer.allocate(
            byteCount: ChangePage.size,
            alignment: 4096
        )
        defer { memory.deallocate() }
        memory.initializeMemory(as: UInt8.self, repeating: 0)
        guard let start = memory.baseAddress else { return }
        let page = ChangePage(start)
        page.reset(first: 1000)
        for number in 0..<40 {
            page.finish(
                page.announce(
                    [.init(archive: Int64(number % 3), keys: changes([UInt64(number)]))],
                    by: 1,
                    of: 1
                ).last
            )
        }
        let before = page.generation(of: 1).value
        page.finish(page.announce([.init(archive: 1, keys: changes([7, 8]))], by: 2, of: 1).last)
        let bytes = Array(input)
        for piece in stride(from: 0, to: bytes.count - 9, by: 10) {
            let place = (Int(bytes[piece]) << 8 | Int(bytes[piece + 1])) * 8 % ChangePage.size
            for offset in 0..<8 { memory[place + offset] = bytes[piece + 2 + offset] }
        }
        for archive in Int64(0)..<4 {
            let new = page.generation(of: archive).value
            let changed = page.changes(of: archive, after: before, through: new, notBy: 1)
            require(
                changed.single.count <= ChangePage.capacity,
                "There are no more changes than the page can hold."
            )
            _ = page.changes(of: archive, numberedAfter: before, through: page.now.finished)
            _ = page.isChanging(7, of: archive, notBy: 1)
        }
        // Whatever the page contained, a new announcement is received, at least as an invalidation
        // of everything.
        if !page.isIntact { page.reset() }
        let old = page.generation(of: 2).value
        page.finish(page.announce([.init(archive: 2, keys: changes([99]))], by: 3, of: 1).last)
        let received = page.changes(
            of: 2,
            after: old,
            through: page.generation(of: 2).value,
            notBy: 1
        )
        require(
            received == .unknown || received == changes([99]),
            "A new announcement is received."
        )
    }

    static func cacheKeys(_ input: Data) {
        let text = String(decoding: input, as: UTF8.self)
        // Decodes any key of the engine as many types.
        for type in cacheKeyTypes { attemptKey(EntryKey(text), as: type) }
        attemptKey(EntryKey("\u{1}:" + input.base64EncodedString()), as: CBORValue.self)
        // Encodes any value as a key.
        if let value = result({ try CBORDecoder().decode(CBORValue.self, from: input) }) {
            attemptKey(value)
        }
        // Decodes any JSON text as a key of the original's file.
        func take<Key: Codable>(_ type: Key.Type) {
            CacheKey.decodingOriginal(text, as: type).map { attemptKey($0, as: type) }
        }
        for type in cacheKeyTypes { take(type) }
    }

    private static let cacheKeyTypes: [any (Codable & SendableMetatype).Type] = [
        String.self, Int.self, Double.self, Bool?.self, Data.self, Date.self, Decimal.self,
        URL.self, [String: [Double?]].self,
        [UInt64].self,
    ]

    private static func attemptKey<Key: Codable>(_ entryKey: EntryKey, as type: Key.Type) {
        if let key = result({ try CacheKey.decoded(entryKey, as: type) }) { attemptKey(key) }
    }

    /// Encodes the key, decodes it, and encodes it again.
    private static func attemptKey<Key: Codable>(_ key: Key) {
        guard let entryKey = result({ try CacheKey.of(key) }) else { return }
        do {
            require(
                try CacheKey.of(CacheKey.decoded(entryKey, as: Key.self)) == entryKey,
                "A key round-trips."
            )
        } catch {
            fatalError("A key can be decoded and encoded again: \(error)")
        }
    }

    private static func result<Result>(_ body: () throws -> Result) -> Result? {
        do { return try body() } catch { return nil }
    }

    static func values(_ input: Data) {
        let codec = CachedValueCodec()
        let value = codec.decode(input)
        do {
            let encoded = try codec.encode(value)
            require(encoded == input, "Undecoded values are written unchanged.")
        } catch {
            fatalError("A decoded value cannot be encoded: \(error)")
        }
        _ = decoded(Data.self, input)
        _ = decoded([String: [Double?]].self, input)
        guard let text = decoded(String.self, input) else { return }
        do {
            let coding = ValueCoding<String>(.cbor)
            require(
                try coding.decode(coding.encode(text), version: 0, of: "key") == text,
                "A decoded value round-trips."
            )
        } catch {
            fatalError("A decoded value round-trips: \(error)")
        }
    }

    private static func decoded<Value: Codable>(_ type: Value.Type, _ input: Data) -> Value? {
        do { return try ValueCoding<Value>(.cbor).decode(input, version: 0, of: "key") } catch {
            return nil
        }
    }
}
