public import Foundation
public import VellumCore

extension ErasableStorage where ErasedValue == Data {
    /// Returns a storage of values that expire some time after they were set.
    ///
    /// ```swift
    /// let cities = DiskStorage.main.folder("cities", in: .cachesDirectory)
    ///     .expiring(after: .seconds(7 * 86_400))
    ///     .mapJSONObject(City.self)
    /// ```
    ///
    /// The time of the set is stored in the last twelve bytes, so that it outlives the process and
    /// the copying of files. An expired value is a miss, and so are bytes that were not set through
    /// such a storage.
    ///
    /// - Parameters:
    ///   - age: By the wall clock. A value from more than five minutes in the future is expired.
    ///     With a negative age it is expired at once.
    ///   - clock: The source of the time; for tests.
    public func expiring(
        after age: Duration,
        clock: WallClock = .system
    ) -> AnyStorage<Access, ErasedKey, Data> {
        let name = storageName
        return mapping(
            in: { bytes in
                guard let dated = DatedBytes(bytes), dated.written.isYoung(age, clock) else {
                    throw ShallowsError.miss(forKey: (), layer: name)
                }
                return dated.value
            },
            out: { DatedBytes(value: $0, written: clock.now()).bytes }
        )
    }
}

extension ErasableStorage where Access: ReadableAccess & WritableAccess {
    /// Returns a storage of values that expire some time after they were set, with the times in
    /// another storage.
    ///
    /// ```swift
    /// let dates = DiskStorage.main.folder("dates", in: .cachesDirectory)
    ///     .mapJSONObject(Date.self)
    /// let images = folder
    ///     .mapValues(transformIn: Image.init(png:), transformOut: \.png)
    ///     .expiring(after: .seconds(60), datedBy: dates)
    /// ```
    ///
    /// A value without a time is expired: keep the times as long as the values. For storages of
    /// `Data`, ``ErasableStorage/expiring(after:clock:)`` keeps them with the values.
    public func expiring<Dates: ErasableStorage>(
        after age: Duration,
        datedBy dates: Dates,
        clock: WallClock = .system
    ) -> AnyStorage<Access, ErasedKey, ErasedValue>
    where
        Dates.Access: ReadableAccess & WritableAccess, Dates.ErasedKey == ErasedKey,
        Dates.ErasedValue == Date
    {
        let name = storageName
        let dates = dates.erased().operations
        let datesAreRemoved = Dates.Access.self == StorageKind.ReadWriteRemove.self
        return erased().transforming { operations in
            operations.with(
                retrieve: { key, call in
                    dates.retrieve(key, call).then { date in
                        date.map { WallInstant($0).isYoung(age, clock) }
                            .then { isYoung in
                                isYoung
                                    ? operations.retrieve(key, call)
                                    : .failure(.miss(forKey: key, layer: name))
                            }
                    }
                },
                set: { value, key, call in
                    // The time last: a value without it expires too soon, and never too late.
                    operations.set(value, key, call).then { outcome in
                        outcome.then { dates.set(clock.now().date, key, call) }
                    }
                },
                remove: { key, call in
                    operations.remove(key, call).then { outcome in
                        outcome.then { datesAreRemoved ? dates.remove(key, call) : .success(()) }
                    }
                },
                removeAll: { call in
                    operations.removeAll(call).then { outcome in
                        outcome.then { datesAreRemoved ? dates.removeAll(call) : .success(()) }
                    }
                }
            )
        }
    }
}

extension MemoryStorage {
    /// Returns a storage of values that expire some time after they were set through it.
    ///
    /// Times are kept in memory. A value that is set otherwise has none, and is expired.
    public func expiring(after age: Duration, clock: WallClock = .system) -> Storage<Key, Value> {
        expiring(after: age, datedBy: MemoryStorage<Key, Date>().asRemovableStorage(), clock: clock)
    }
}

extension WallInstant {
    /// Whether a value that was written then is not expired.
    fileprivate func isYoung(_ age: Duration, _ clock: WallClock) -> Bool {
        Validity(written: self, expires: nil).contains(
            clock.now(),
            EntryKey(""),
            lastUse: .never,
            under: .after(age)
        )
    }
}

/// Bytes and the time when they were set: the value, eight bytes of milliseconds since 1970 in
/// big-endian order, and a mark.
///
/// The time is at the end, so that the value can be read without being copied.
struct DatedBytes {
    static let mark = Data("sx01".utf8)

    let value: Data
    let written: WallInstant
}

extension DatedBytes {
    /// - Returns: `nil` for bytes without a mark.
    init?(_ bytes: Data) {
        guard bytes.count >= 8 + Self.mark.count,
            bytes.suffix(Self.mark.count) == Self.mark
        else {
            return nil
        }
        let end = bytes.dropLast(Self.mark.count)
        let number = end.suffix(8).reduce(UInt64(0)) {
            $0 << 8 | UInt64($1)
        }
        self.init(
            value: end.dropLast(8),
            written: WallInstant(rawValue: Int64(bitPattern: number))
        )
    }

    var bytes: Data {
        var bytes = Data(capacity: value.count + 8 + Self.mark.count)
        bytes.append(value)
        withUnsafeBytes(of: UInt64(bitPattern: written.rawValue).bigEndian) {
            bytes.append(contentsOf: $0)
        }
        bytes.append(Self.mark)
        return bytes
    }
}
