public import Foundation
public import VellumCore

extension ErasableStorage where ErasedValue == Data {
    /// The storage of values that are gone some time after they were set.
    ///
    /// ```swift
    /// let cities = DiskStorage.main.folder("cities", in: .cachesDirectory)
    ///     .expiring(after: .seconds(7 * 86_400))
    ///     .mapJSONObject(City.self)
    /// ```
    ///
    /// The moment of the setting is kept with the bytes, twelve of them at the end, so that it outlives the process and is neither
    /// lost nor changed when files are copied. Bytes that were set otherwise have no age, and are as good as gone. A value that is
    /// gone is a miss, and is overwritten when there is another.
    ///
    /// - Parameters:
    ///   - age: Counted by the wall clock. A value that is dated more than five minutes in the future is gone. A negative age is an
    ///     error of every verb, `invalidDuration`.
    ///   - clock: Where the time comes from; for tests.
    public func expiring(after age: Duration, clock: WallClock = .system) -> AnyStorage<Access, ErasedKey, Data> {
        let name = storageName
        return mapping(
            in: { bytes in
                guard let dated = DatedBytes(bytes), try dated.written.isYoung(age, clock) else {
                    throw ShallowsError.miss(forKey: (), layer: name)
                }
                return dated.value
            },
            out: { value in
                _ = try Expiration(validating: age)
                return DatedBytes(value: value, written: clock.now()).bytes
            })
    }
}

extension ErasableStorage where Access: ReadableAccess & WritableAccess {
    /// The storage of values that are gone some time after they were set, whose moments are kept in a storage of their own.
    ///
    /// ```swift
    /// let dates = DiskStorage.main.folder("dates", in: .cachesDirectory).mapJSONObject(Date.self)
    /// let images = folder.mapValues(transformIn: Image.init(png:), transformOut: \.png).expiring(after: .seconds(60), datedBy: dates)
    /// ```
    ///
    /// A value whose moment is not known is gone. Keep the moments where they live as long as the values do; for storages of
    /// `Data`, ``ErasableStorage/expiring(after:clock:)`` keeps them with the values.
    public func expiring<Dates: ErasableStorage>(
        after age: Duration, datedBy dates: Dates, clock: WallClock = .system
    ) -> AnyStorage<Access, ErasedKey, ErasedValue>
    where Dates.Access: ReadableAccess & WritableAccess, Dates.ErasedKey == ErasedKey, Dates.ErasedValue == Date {
        let (name, dates, datesAreRemoved) = (storageName, dates.erased().verbs, Dates.Access.self == ReadWriteRemove.self)
        return erased().transforming { verbs in
            StorageVerbs(
                retrieve: { key, call in
                    dates.retrieve(key, call).then { date in
                        date.flatMap { date in .judging(name, key) { try WallInstant(date).isYoung(age, clock) } }
                            .then { isYoung in isYoung ? verbs.retrieve(key, call) : .failure(.miss(forKey: key, layer: name)) }
                    }
                },
                set: { value, key, call in
                    Outcome.judging(name, key) { try Expiration(validating: age) }.then { _ in
                        // The moment last: a value with an older one, or none, is gone too soon, and never stays too long.
                        verbs.set(value, key, call).then { outcome in outcome.then { dates.set(clock.now().date, key, call) } }
                    }
                },
                remove: { key, call in
                    verbs.remove(key, call).then { outcome in outcome.then { datesAreRemoved ? dates.remove(key, call) : .success(()) } }
                },
                removeAll: { call in
                    verbs.removeAll(call).then { outcome in outcome.then { datesAreRemoved ? dates.removeAll(call) : .success(()) } }
                },
                turn: verbs.turn)
        }
    }
}

extension MemoryStorage {
    /// The storage of values that are gone some time after they were set through it.
    ///
    /// Moments live in memory, as the values do. What is set otherwise has none, and is as good as gone.
    public func expiring(after age: Duration, clock: WallClock = .system) -> Storage<Key, Value> {
        expiring(after: age, datedBy: MemoryStorage<Key, Date>().asRemovableStorage(), clock: clock)
    }
}

extension WallInstant {
    /// Whether what was written then is still to be had.
    fileprivate func isYoung(_ age: Duration, _ clock: WallClock) throws -> Bool {
        let validity = Validity(written: self, expires: nil)
        return validity.contains(clock.now(), EntryKey(""), lastUse: .never, under: try Expiration(validating: age))
    }
}

/// Bytes and the moment when they were set: the value, eight bytes of milliseconds since 1970 in big-endian order, and a mark.
///
/// At the end, because a prefix of bytes begins where they do, and nothing is copied to read it.
struct DatedBytes {
    static let mark = Data("sx01".utf8)

    let value: Data
    let written: WallInstant

    init(value: Data, written: WallInstant) {
        self.value = value
        self.written = written
    }

    /// - Returns: `nil` for bytes that bear no mark.
    init?(_ bytes: Data) {
        guard bytes.count >= 8 + Self.mark.count, bytes.suffix(Self.mark.count) == Self.mark else { return nil }
        let end = bytes.dropLast(Self.mark.count)
        let number = end.suffix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        self.init(value: end.dropLast(8), written: WallInstant(rawValue: Int64(bitPattern: number)))
    }

    var bytes: Data {
        var bytes = Data(capacity: value.count + 8 + Self.mark.count)
        bytes.append(value)
        withUnsafeBytes(of: UInt64(bitPattern: written.rawValue).bigEndian) { bytes.append(contentsOf: $0) }
        bytes.append(Self.mark)
        return bytes
    }
}

extension Result where Failure == ShallowsError {
    fileprivate static func judging(_ layer: String, _ key: any Sendable, _ judge: () throws -> Success) -> Self {
        do { return .success(try judge()) } catch {
            return .failure(ShallowsError(error, layer: layer, key: key, standing: .failure))
        }
    }
}
