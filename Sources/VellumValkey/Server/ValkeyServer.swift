#if Valkey
    internal import Foundation
    package import VellumCore
    package import VellumRemote

    /// A Valkey or Redis server, or a cluster of them, that caches and storages of this program
    /// share, by one connection to each primary.
    ///
    /// ```swift
    /// let server = ValkeyServer(
    ///     ValkeyConfiguration(host: "cache.internal", password: password))
    /// let manager = SharedCacheManager(name: "Shop", server: server)
    /// ```
    ///
    /// The first call connects. A lost connection is made again in the background; until then,
    /// calls fail immediately. The connection is closed with the last reference to the server and
    /// its caches, when no removal has to be sent again any more, or by ``close()``. Redis 6.2 or
    /// newer, or Valkey.
    public final class ValkeyServer: Sendable {
        /// Where the server is, and how it is used.
        public let configuration: ValkeyConfiguration
        private let route: Route
        private let stores: Stores
        /// Of a server alone.
        private let heartbeat: Task<Void, Never>?

        /// Connects to nothing yet.
        public init(_ configuration: ValkeyConfiguration) {
            // A task below may make the runtime open descriptors of its own.
            StandardStreams.hold()
            self.configuration = configuration
            let isCluster = !configuration.clusterNodes.isEmpty
            let stores = Stores(Trusts(for: configuration.trustMilliseconds, isCluster: isCluster))
            self.stores = stores
            // A second, after which a server that is no primary any more is left, or less.
            let pause =
                configuration.trustMilliseconds == 0
                ? 1000 : min(configuration.trustMilliseconds / 4, 1000)
            if isCluster {
                heartbeat = nil
                route = .cluster(
                    Cluster(
                        of: configuration.link,
                        observer: Cluster.Observer(
                            link: { stores.observer(of: $0) },
                            beat: { await stores.beat($0, of: $1, within: pause * 2) },
                            onMoved: { stores.didMove($0) },
                            onElsewhere: { stores.didReadElsewhere(Data($0.utf8)) },
                            onFreed: { stores.trusts[$0].clear() },
                            pause: pause
                        )
                    )
                )
            } else {
                let link = Link(to: configuration.link, observer: stores.observer(of: 0))
                route = .server(link)
                heartbeat = .repeating(every: { pause }) { [weak link] in
                    guard let link else { return false }
                    await stores.beat(link, of: 0, within: pause * 2)
                    return true
                }
            }
        }

        deinit { heartbeat?.cancel() }

        /// Closes the connections for good. Later calls of caches and storages fail with
        /// ``VellumError/Code/closed``.
        public func close() {
            heartbeat?.cancel()
            route.close()
        }

        /// Makes the store of one cache.
        package func store<Value: Sendable>(
            named name: String,
            memory: Capacity,
            coding: SharedStore<Value>.Coding
        ) -> SharedStore<Value> {
            let fullName = configuration.keyPrefix.percentEncoding("\0") + name
            let keys = RemoteKeys(cacheName: fullName)
            let groupKeys = RemoteKeys(cacheName: fullName, areOfGroups: true)
            var times = SharedStore<Value>.Times()
            times.longestWait = configuration.longestWait.map(ValkeyConfiguration.milliseconds)
            times.outageMaxAge = configuration.outageMilliseconds
            let store = SharedStore(
                name: name,
                near: NearCache(
                    capacity: memory,
                    trusts: stores.trusts,
                    places: places(keys, groupKeys)
                ),
                backend: ValkeyBackend(route, keys, groupKeys, configuration.times),
                coding: coding,
                times: times
            )
            stores.add(store, keys, groupKeys)
            return store
        }

        private func places(_ keys: RemoteKeys, _ groupKeys: RemoteKeys) -> Places {
            guard case .cluster(let cluster) = route else { return .one }
            let slots = ClusterMap.Slots(beginning: keys.beginning)
            let groupSlots = ClusterMap.Slots(beginning: groupKeys.beginning)
            return Places(
                ofKey: { cluster.place(ofSlot: slots.slot(of: $0.normalized)) },
                ofGroup: { cluster.place(ofSlot: groupSlots.slot(of: $0.normalized)) },
                all: { cluster.places }
            )
        }
    }

    /// A store that receives the events of the connection.
    private protocol ConnectionFollower: AnyObject, Sendable {
        func sendPendingRemovals()
        func didLoseConnection()
        func didConnect()
        func didChange(_ keys: [EntryKey]?)
        func didChange(place: Int, hasMoved: Bool)
        func didConnectFirst()
        func didReadElsewhere(_ keys: [EntryKey])
        func didChangeLeases(_ keys: [EntryKey])
        func didChange(groups names: [EntryKey])
        func report(_ error: VellumError)
    }

    extension SharedStore: ConnectionFollower {}

    /// The stores of one server or cluster, and the trusts that they share.
    private final class Stores: Sendable {
        private struct Member: Sendable {
            weak var store: (any ConnectionFollower)?
            var keys: RemoteKeys
            var groupKeys: RemoteKeys
        }

        let trusts: Trusts
        private let members = Locked<[Member]>([])

        init(_ trusts: Trusts) { self.trusts = trusts }

        func observer(of place: Int) -> Link.Observer {
            Link.Observer(
                onConnected: { self.didConnect(to: place, at: $0) },
                onLost: { self.didLoseConnection(to: place) },
                onInvalidated: { self.didChange($0, of: place) },
                onReply: { [trust = trusts[place]] in trust.renew(sent: $0) }
            )
        }

        func add(_ store: some ConnectionFollower, _ keys: RemoteKeys, _ groupKeys: RemoteKeys) {
            members.withLock { members in
                members.removeAll { $0.store == nil }
                members.append(Member(store: store, keys: keys, groupKeys: groupKeys))
            }
        }

        private func each(_ body: (any ConnectionFollower, Member) -> Void) {
            for member in members.withLock({ $0 }) {
                if let store = member.store { body(store, member) }
            }
        }

        private func didConnect(to place: Int, at time: ServerTime) {
            // Everything is forgotten before anything is trusted. Before the first connection
            // nobody has read anything.
            let isFirst = trusts[place].time() == nil
            each { store, _ in
                switch (isFirst, trusts.isOne) {
                case (true, true): store.didConnect()
                case (false, true): store.didChange(nil)
                case (true, false): store.didConnectFirst()
                case (false, false): store.didChange(place: place, hasMoved: false)
                }
            }
            trusts[place].begin(time)
            each { store, _ in store.sendPendingRemovals() }
        }

        private func didLoseConnection(to place: Int) {
            trusts[place].stop()
            each { store, _ in store.didLoseConnection() }
        }

        func didMove(_ places: Set<Int>) {
            for place in places {
                each { store, _ in store.didChange(place: place, hasMoved: true) }
            }
        }

        func didReadElsewhere(_ remote: Data) {
            each { store, member in
                if let key = member.keys.entryKey(of: remote) {
                    store.didReadElsewhere([key.key])
                }
            }
        }

        /// - Parameters:
        ///   - remote: The keys on the server; `nil` if any may have changed.
        ///   - place: Of the primary that says it.
        func didChange(_ remote: [Data]?, of place: Int) {
            each { store, member in
                guard let remote else {
                    if !trusts.isOne {
                        store.didChange(place: place, hasMoved: false)
                    } else {
                        store.didChange(nil)
                    }
                    return
                }
                let changed = remote.compactMap(member.keys.entryKey(of:))
                let values = changed.filter { !$0.isLease }.map(\.key)
                let leases = changed.filter(\.isLease).map(\.key)
                if !values.isEmpty { store.didChange(values) }
                if !leases.isEmpty { store.didChangeLeases(leases) }
                let groups = remote.compactMap(member.groupKeys.entryKey(of:)).map(\.key)
                if !groups.isEmpty { store.didChange(groups: groups) }
            }
        }

        /// Asks for the time, whose answer renews the trust, and for the role.
        func beat(_ link: Link, of place: Int, within milliseconds: Int64) async {
            let trust = trusts[place]
            guard trust.time() != nil else { return }  // Nobody has called yet.
            do throws(RemoteFailure) {
                guard let now = try await link.beat(within: milliseconds) else { return }
                let jump = trust.jump(to: now) ?? 0
                // Ages would be wrong. What is remembered counts them by the steady clock.
                if trust.isSet(to: now) { didChange(nil, of: place) }
                if abs(jump) > Validity.slack {
                    each { store, _ in
                        store.report(
                            VellumError(
                                .serverFailed,
                                "The clock of the server was set by \(jump / 1000) seconds."
                            )
                        )
                    }
                }
                trust.set(now)
            } catch {}  // The trust ends by itself, and the link connects again.
        }
    }
#else
    package import VellumCore
    package import VellumRemote

    /// A Valkey or Redis server. Without the package trait `Valkey`, none can be made.
    public final class ValkeyServer: Sendable {
        /// Where the server is, and how it is used.
        public let configuration: ValkeyConfiguration

        /// Needs the package trait `Valkey`.
        @available(
            *,
            unavailable,
            message: """
                Shared caches need the trait 'Valkey'. In Package.swift, add traits: [\"Valkey\"] \
                to the .package line of Vellum.
                """
        )
        public init(_ configuration: ValkeyConfiguration) { self.configuration = configuration }

        /// Closes the connection for good.
        public func close() {}

        package func store<Value: Sendable>(
            named name: String,
            memory: Capacity,
            coding: SharedStore<Value>.Coding
        ) -> SharedStore<Value> {
            preconditionFailure("Without the trait, no server can be made.")
        }
    }
#endif
