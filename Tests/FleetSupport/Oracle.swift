#if Valkey
    package import Foundation
    internal import Synchronization

    /// What the processes of a fleet know of the values that they share: memory in a file that all
    /// of them map.
    ///
    /// Each key has one writer, whose versions grow. An acknowledged write of a version raises the
    /// least version that later reads may return: a confirmed read at once, a near hit after the
    /// trust has ended. A write with an unknown outcome may be executed at any later time, so its
    /// version is always allowed. That nothing is read is never wrong by itself.
    ///
    /// Unchecked sendable because every word is atomic, and the memory stays mapped.
    package final class Oracle: @unchecked Sendable {
        package static let (clients, keys) = (8, 16)
        private static let (writes, losses, unknown) = (512, 64, 256)
        private static let keyStart = 512
        private static let keySize = 8 * (8 + writes + losses + unknown)
        /// The most keys of each client that it removes once and never touches again.
        package static let removals = 4000
        private static let size = keyStart + keys * keySize + clients * removals * 8

        private let start: UnsafeMutableRawPointer

        /// Maps the file, and creates it if it is missing.
        package init(_ file: URL) throws {
            let descriptor = open(file.path, O_RDWR | O_CREAT, 0o600)
            guard descriptor >= 0, ftruncate(descriptor, off_t(Self.size)) == 0 else {
                throw CocoaError(.fileWriteUnknown)
            }
            defer { close(descriptor) }
            let address = mmap(nil, Self.size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0)
            guard let address, address != MAP_FAILED else { throw CocoaError(.fileReadUnknown) }
            start = address
        }

        private func word(_ offset: Int) -> UnsafePointer<Atomic<UInt64>> {
            UnsafePointer((start + offset).assumingMemoryBound(to: Atomic<UInt64>.self))
        }

        private func get(_ offset: Int) -> UInt64 {
            word(offset).pointee.load(ordering: .sequentiallyConsistent)
        }

        private func set(_ offset: Int, _ value: UInt64) {
            word(offset).pointee.store(value, ordering: .sequentiallyConsistent)
        }

        // MARK: Phases

        /// Whether the writers have been asked to stop.
        package var isQuiet: Bool {
            get { get(0) != 0 }
            set { set(0, newValue ? 1 : 0) }
        }

        /// How many writers have stopped.
        package var quietWriters: Int { Int(get(8)) }

        package func writerStopped() { word(8).pointee.add(1, ordering: .sequentiallyConsistent) }

        /// Keys of which a server may lose what it acknowledged, or have lost it since they were
        /// written last: a bit each.
        package var loose: UInt64 {
            get { get(24) }
            set { set(24, newValue) }
        }

        package func isLoose(_ key: Int) -> Bool { loose >> UInt64(key) & 1 == 1 }

        /// Whether a removal may be lost though the server acknowledged it. Then nobody waits long
        /// for those that are left.
        package var losesRemovals: Bool {
            get { get(32) != 0 }
            set { set(32, newValue ? 1 : 0) }
        }

        /// How many values that were loaded without the server were returned again.
        package var inOutage: UInt64 { self.get(40) }

        package func returnedInOutage() {
            word(40).pointee.add(1, ordering: .sequentiallyConsistent)
        }

        /// How many loaders run for a key at this moment.
        package func loaderBegan(_ key: Int) -> Int {
            Int(word(64 + key * 8).pointee.add(1, ordering: .sequentiallyConsistent).newValue)
        }

        package func loaderEnded(_ key: Int) {
            word(64 + key * 8).pointee.subtract(1, ordering: .sequentiallyConsistent)
        }

        /// Counts what the server acknowledged to a client, which shows that it goes on.
        package func progressed(_ client: Int) {
            word(256 + client * 8).pointee.add(1, ordering: .relaxed)
        }

        package func progress(of client: Int) -> UInt64 { get(256 + client * 8) }

        /// How often memory has answered a client.
        package func setNearHits(_ hits: Int, of client: Int) {
            set(320 + client * 8, UInt64(hits))
        }

        package var nearHits: UInt64 { (0..<Self.clients).reduce(0) { $0 + get(320 + $1 * 8) } }

        // MARK: Removals

        private func removalPlace(_ client: Int, _ number: Int) -> Int {
            Self.keyStart + Self.keys * Self.keySize + (client * Self.removals + number) * 8
        }

        /// A client has asked for the removal of a key that was there, whatever came of it.
        package func removed(_ client: Int, _ number: Int) { set(removalPlace(client, number), 1) }

        package func isRemoved(_ client: Int, _ number: Int) -> Bool {
            get(removalPlace(client, number)) == 1
        }

        /// A client is started again: what its predecessor had to remove was lost with the process.
        ///
        /// - Returns: The first number that it did not use.
        package func forgetRemovals(of client: Int) -> Int {
            let used = (0..<Self.removals).last { get(removalPlace(client, $0)) != 0 }
            for number in 0...(used ?? 0) { set(removalPlace(client, number), 2) }
            // Some after it may have been set, and not marked.
            return min((used ?? -1) + 17, Self.removals)
        }

        /// How many clients have compared what there is, at the end: until then, each goes on
        /// sending its removals.
        package func compared() { word(16).pointee.add(1, ordering: .sequentiallyConsistent) }

        package var clientsThatCompared: Int { Int(get(16)) }

        // MARK: Outages

        /// For how many milliseconds a process returns again what it has loaded itself while the
        /// server is out of reach.
        package static let outageMaxAge = 80

        /// Whether a value may not be returned by a call that begins at a moment.
        ///
        /// - Parameter returned: When the call had returned that loaded the value. Its age counts
        ///   from an earlier moment.
        package static func isOlderThanOutagesAllow(_ returned: UInt64, at moment: UInt64) -> Bool {
            // The clocks of caches are some milliseconds coarse.
            returned + UInt64(outageMaxAge) + 20 < moment
        }

        // MARK: Versions

        /// The last moment of a near hit that began before it.
        package static func now() -> UInt64 {
            var time = timespec()
            clock_gettime(CLOCK_MONOTONIC, &time)
            return UInt64(time.tv_sec) * 1000 + UInt64(time.tv_nsec) / 1_000_000
        }

        private func place(_ key: Int) -> Int { Self.keyStart + key * Self.keySize }

        /// Returns the version of the next write. Called by the writer of the key.
        package func issue(_ key: Int) -> UInt64 {
            let version = get(place(key)) + 1
            set(place(key), version)
            return version
        }

        /// The server has acknowledged the last version.
        ///
        /// - Parameter isRemoval: Whether it was a removal, so that the version itself may not be
        ///   read.
        package func acknowledge(_ key: Int, _ version: UInt64, isRemoval: Bool) {
            let floor = isRemoval ? version + 1 : version
            push(floor, at: place(key) + 16, ring: place(key) + 64, Self.writes)
            set(place(key) + 8, floor)
            set(place(key) + 40, version)
        }

        /// The version may be executed later, or never.
        package func leaveOpen(_ key: Int, _ version: UInt64) {
            let count = word(place(key) + 24).pointee.add(1, ordering: .sequentiallyConsistent)
                .newValue
            set(
                place(key) + 64 + (Self.writes + Self.losses + Int(count) % Self.unknown) * 8,
                version
            )
        }

        /// A writer begins in the place of one that was killed: its last write may have been
        /// executed.
        package func resume(_ key: Int) {
            let last = get(place(key))
            if last != get(place(key) + 40) { leaveOpen(key, last) }
        }

        /// What was acknowledged of every key. Before the server loses it, or after it lost it.
        package func acknowledged() -> [UInt64] { (0..<Self.keys).map { get(place($0) + 40) } }

        /// The server has lost these versions.
        package func lost(_ versions: [UInt64]) {
            for (key, version) in versions.enumerated() where version > 0 {
                push(
                    version + 1,
                    at: place(key) + 32,
                    ring: place(key) + 64 + Self.writes * 8,
                    Self.losses
                )
                set(place(key) + 48, version + 1)
            }
        }

        /// A version of 24 bits and a time of 40.
        private func push(_ floor: UInt64, at counter: Int, ring: Int, _ count: Int) {
            let number = get(counter)
            set(ring + Int(number) % count * 8, Self.now() << 24 | floor)
            set(counter, number + 1)
        }

        /// The least version that a read may return that begins now and asks the server.
        package func confirmedFloor(_ key: Int) -> UInt64 {
            max(get(place(key) + 8), get(place(key) + 48), get(place(key) + 56))
        }

        /// A confirmed read has returned a version: later ones return no older one.
        package func confirmed(_ key: Int, _ version: UInt64) {
            word(place(key) + 56).pointee.max(version, ordering: .sequentiallyConsistent)
        }

        /// The least version that a near hit may return that began at a moment.
        ///
        /// - Parameter milliseconds: How long memory is trusted.
        package func nearFloor(_ key: Int, at moment: UInt64, trust milliseconds: UInt64) -> UInt64
        {
            // The clocks of trust are some milliseconds coarse.
            let latest = moment - milliseconds - 10
            return (0..<Self.writes + Self.losses).reduce(into: 0) { floor, number in
                let entry = get(place(key) + 64 + number * 8)
                if entry >> 24 <= latest { floor = max(floor, entry & 0xFF_FFFF) }
            }
        }

        package func isOpen(_ key: Int, _ version: UInt64) -> Bool {
            (0..<Self.unknown).contains {
                get(place(key) + 64 + (Self.writes + Self.losses + $0) * 8) == version
            }
        }
    }
#endif
