internal import Synchronization
public import VellumCore

/// The trust in each primary that has keys of a program, and what of each is still known (decision
/// 87). A server alone is the only one, in place 0.
///
/// What is remembered says on which primaries it depends: that of its key, and those of its groups.
/// It is an answer while all of them are trusted, and as long as none has begun anew since it was
/// asked for.
///
/// Safe on any thread; no call takes a lock.
@usableFromInline package final class Trusts: Sendable {
    /// The most primaries. What depends on one beyond the first ``mostRemembered`` is not
    /// remembered.
    package static let most = 512
    static let mostRemembered = 64

    /// On which primaries something in memory depends, a bit each, and after how many new
    /// beginnings it was asked for.
    @usableFromInline package struct Source: Hashable, Sendable {
        @usableFromInline var places: UInt64
        @usableFromInline var beginnings: UInt64
    }

    /// In milliseconds.
    package let duration: Int64
    /// Whether there is one primary, and will never be another: then memory is emptied when it
    /// begins anew.
    @usableFromInline package let isOne: Bool
    @usableFromInline let clock: CoarseClock
    @usableFromInline let places: [Trust]
    private let beginnings = Atomic<UInt64>(1)

    /// - Parameters:
    ///   - duration: How long each is trusted, in milliseconds. Zero: never.
    ///   - isCluster: Whether there may be more than one.
    package init(for duration: Int64, isCluster: Bool, clock: CoarseClock = .system) {
        self.duration = duration
        isOne = !isCluster
        self.clock = clock
        places = (0..<(isCluster ? Self.most : 1)).map { _ in
            Trust(for: duration, clock: clock)
        }
    }

    /// The trust in a server alone.
    package init(_ trust: Trust) {
        duration = trust.duration
        isOne = true
        clock = trust.clock
        places = [trust]
    }

    package subscript(place: Int) -> Trust { places[place] }

    /// The time of a primary, or of another one before the first connection to it; `nil` before
    /// any.
    func time(at place: Int?) -> WallInstant? {
        if let place, let time = places[place].time() { return time }
        return isOne ? nil : places.lazy.compactMap { $0.time() }.first
    }

    /// A moment of a primary by the steady clock.
    func steady(_ instant: WallInstant, at place: Int?) -> WallInstant {
        guard instant != .never, let time = time(at: place) else { return instant }
        return instant.advanced(byMilliseconds: now.rawValue - time.rawValue)
    }

    /// The time of the steady clock.
    var now: WallInstant { WallInstant(rawValue: clock.now()) }

    /// What depends on a primary from now on, and which that is.
    func source(of key: EntryKey, _ places: Places) -> (Source, place: Int?) {
        // First, as below.
        let beginnings = beginnings.load(ordering: .acquiring)
        guard let place = places.ofKey(key) else {
            return (Source(places: 0, beginnings: beginnings), nil)
        }
        return (
            Source(
                places: place < Self.mostRemembered ? 1 << UInt64(place) : 0,
                beginnings: beginnings
            ), place
        )
    }

    /// What depends on these primaries from now on; on none if there is no primary or there are too
    /// many.
    func source(_ places: () -> [Int]) -> Source {
        // First: a primary that begins anew after this is one that the places are those of.
        let beginnings = beginnings.load(ordering: .acquiring)
        let places = places()
        guard places.allSatisfy({ 0..<Self.mostRemembered ~= $0 }) else {
            return Source(places: 0, beginnings: beginnings)
        }
        return Source(
            places: places.reduce(0) { $0 | 1 << UInt64($1) },
            beginnings: beginnings
        )
    }

    /// Whether nothing of it can have changed without having been heard of, while its primaries
    /// could be reached.
    @usableFromInline func isCurrent(_ source: Source) -> Bool {
        isOne || source.places != 0 && all(source) { $0.begins(before: source.beginnings) }
    }

    /// The same, and all of its primaries are trusted.
    @usableFromInline func isTrusted(_ source: Source) -> Bool {
        source.places != 0
            && all(source) {
                $0.isTrusted() && $0.begins(before: source.beginnings)
            }
    }

    private func all(_ source: Source, _ holds: (Trust) -> Bool) -> Bool {
        var rest = source.places
        while rest != 0 {
            guard holds(places[rest.trailingZeroBitCount]) else { return false }
            rest &= rest - 1
        }
        return true
    }

    /// Nothing that depends on a primary is an answer any more.
    func beginAnew(_ place: Int) {
        places[place].begin(after: beginnings.add(1, ordering: .acquiringAndReleasing).newValue)
    }
}

/// Which primaries have the keys and the groups of one cache, now. A server alone is place 0.
package struct Places: Sendable {
    /// `nil` while it is not known, or if no primary has it.
    package var ofKey: @Sendable (EntryKey) -> Int?
    package var ofGroup: @Sendable (EntryKey) -> Int?
    package var all: @Sendable () -> [Int]

    package init(
        ofKey: @escaping @Sendable (EntryKey) -> Int?,
        ofGroup: @escaping @Sendable (EntryKey) -> Int?,
        all: @escaping @Sendable () -> [Int]
    ) {
        self.ofKey = ofKey
        self.ofGroup = ofGroup
        self.all = all
    }

    package static let one = Places(
        ofKey: { _ in 0 },
        ofGroup: { _ in 0 },
        all: { [0] }
    )
}
