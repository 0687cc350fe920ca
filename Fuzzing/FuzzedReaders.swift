import CBORCoding
import Foundation

@testable import MiniCache
@testable import Shallows
@testable import Tiers
@testable import TiersSQLite

/// Readers that take bytes and give a value, and the rules that hold between it and the bytes.
enum FuzzedReaders {
    static func elements(_ input: Data) {
        guard let elements = input.withUnsafeBytes({ ElementList.decode($0) }) else { return }
        let again = ElementList.encode(elements).withUnsafeBytes { ElementList.decode($0) }
        require(again == elements, "Elements that were read are written and read again.")
        require(elements.count <= input.count, "No more elements than bytes.")
    }

    static func names(_ input: Data) {
        let text = String(decoding: input, as: UTF8.self)
        for rule in [CaseRule.sensitive, .insensitive] {
            // Any text, as a name that lies in a folder.
            _ = SafeName.text(from: text)
            // Any key, as the name that it gets.
            guard case .named(let name) = SafeName.place(of: text, rule) else { continue }
            require(name.utf8.count <= SafeName.longest, "A name is no longer than a system takes.")
            require(!name.utf8.contains(0) && !name.utf8.contains(UInt8(ascii: "/")), "A name stays in its folder.")
            require(!["", ".", ".."].contains(name), "A name is one.")
            require(SafeName.text(from: name).map { Array($0.utf8) } == Array(text.utf8), "A name leads back to its text.")
        }
        let (encoded, _) = Base64.encoded(text)
        require(Base64.decoded(encoded).map { Array($0.utf8) } == Array(text.utf8), "Base64 leads back.")
        require(Base64.decoded(Base64.inURLAlphabet(encoded)).map { Array($0.utf8) } == Array(text.utf8), "Its other alphabet, too.")
        _ = Base64.decoded(text)
    }

    static func longKeys(_ input: Data) {
        if let (value, key) = LongKeyFile.parts(of: input) {
            require(value.count + key.count + LongKeyFile.endCount == input.count, "Every byte belongs to the value, the key or the end.")
        }
        let key = String(decoding: input.prefix(input.count / 2), as: UTF8.self)
        let value = Data(input.suffix(input.count / 3))
        guard let parts = LongKeyFile.parts(of: value + LongKeyFile.end(for: key)) else { fatalError("What was written is read.") }
        require(parts.value == value && LongKeyFile.isKey(parts.key, key), "What was written is read as it was.")
    }

    static func keys(_ input: Data) {
        let pieces = input.split(separator: 0xFF, maxSplits: 1, omittingEmptySubsequences: false).map {
            String(decoding: $0, as: UTF8.self)
        }
        let one = EntryKey(pieces[0])
        let other = EntryKey(pieces.count > 1 ? pieces[1] : String(pieces[0].unicodeScalars.reversed().map(Character.init)))
        require(EntryKey(one.normalized) == one, "A normal form is its own.")
        require(one == one && (one == other) == (other == one), "Equality goes both ways.")
        require((one == other) == (Array(one.normalized.utf8) == Array(other.normalized.utf8)), "Equal keys have the same bytes.")
        if one == other { require(one.hashValue == other.hashValue, "Equal keys have one hash.") }
        if one == other { require(pieces.count < 2 || pieces[0] == pieces[1], "Strings that differ are never one key.") }
    }

    /// Reads a page that was told some changes, with the input laid over it in pieces of ten bytes: where, and what.
    static func page(_ input: Data) {
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: ChangePage.size, alignment: 4096)
        defer { memory.deallocate() }
        memory.initializeMemory(as: UInt8.self, repeating: 0)
        guard let start = memory.baseAddress else { return }
        let page = ChangePage(start)
        page.reset(first: 1000)
        for number in 0..<40 {
            page.finish(page.announce([.init(archive: Int64(number % 3), keys: [UInt64(number)])], by: 1, of: 1).last)
        }
        let before = page.generation(of: 1).value
        page.finish(page.announce([.init(archive: 1, keys: [7, 8])], by: 2, of: 1).last)
        let bytes = Array(input)
        for piece in stride(from: 0, to: bytes.count - 9, by: 10) {
            let place = (Int(bytes[piece]) << 8 | Int(bytes[piece + 1])) * 8 % ChangePage.size
            for offset in 0..<8 { memory[place + offset] = bytes[piece + 2 + offset] }
        }
        for archive in Int64(0)..<4 {
            let new = page.generation(of: archive).value
            if case .keys(let keys) = page.changes(of: archive, after: before, through: new, notBy: 1) {
                require(keys.count <= ChangePage.changes, "No more changes than there is room for.")
            }
            _ = page.isChanging(7, of: archive, notBy: 1)
        }
        _ = page.announcer
        // Whatever was there: what is told now is heard, or everything is forgotten.
        if !page.isSound { page.reset() }
        let old = page.generation(of: 2).value
        page.finish(page.announce([.init(archive: 2, keys: [99])], by: 3, of: 1).last)
        let heard = page.changes(of: 2, after: old, through: page.generation(of: 2).value, notBy: 1)
        require(heard == .everything || heard == .keys([99]), "What is told is heard.")
    }

    static func cacheKeys(_ input: Data) {
        let text = String(decoding: input, as: UTF8.self)
        // Any key of the engine, as keys of any type.
        for type in cacheKeyTypes { attemptKey(EntryKey(text), as: type) }
        attemptKey(EntryKey("\u{1}:" + input.base64EncodedString()), as: CBORValue.self)
        // Any value, as a key.
        if let value = try? CBORDecoder().decode(CBORValue.self, from: input) { attemptKey(value) }
        // Any key of the original's file.
        guard let waiting = CacheKey.undecoded(originalJSON: text) else { return }
        func take<Key: Codable>(_ type: Key.Type) { CacheKey.decodingOriginal(waiting, as: type).map { attemptKey($0, as: type) } }
        for type in cacheKeyTypes { take(type) }
    }

    private static let cacheKeyTypes: [any Codable.Type] = [
        String.self, Int.self, Double.self, Bool?.self, Data.self, Date.self, Decimal.self, URL.self, [String: [Double?]].self,
        [UInt64].self,
    ]

    private static func attemptKey<Key: Codable>(_ entryKey: EntryKey, as type: Key.Type) {
        if let key = try? CacheKey.decoded(entryKey, as: type) { attemptKey(key) }
    }

    /// Encodes the key, decodes it, and encodes it again.
    private static func attemptKey<Key: Codable>(_ key: Key) {
        guard let entryKey = try? CacheKey.of(key) else { return }
        guard let back = try? CacheKey.decoded(entryKey, as: Key.self), let again = try? CacheKey.of(back) else {
            fatalError("A key of a cache can be decoded and encoded again.")
        }
        require(again == entryKey, "A key that is decoded is the same key.")
    }

    static func values(_ input: Data) {
        let codec = CachedValueCodec()
        let value = codec.decode(input)
        do {
            let encoded = try codec.encode(value)
            require(encoded == input, "What was not decoded is written as it was read.")
        } catch {
            fatalError("What was read can be written: \(error)")
        }
        _ = try? ValueCoding.decode(Data.self, from: input)
        _ = try? ValueCoding.decode([String: [Double?]].self, from: input)
        if let text = try? ValueCoding.decode(String.self, from: input), let bytes = try? ValueCoding.encode(text, as: .cbor) {
            require((try? ValueCoding.decode(String.self, from: bytes)) == text, "A value that was read is written and read again.")
        }
    }
}
