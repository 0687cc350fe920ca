#if Valkey
    internal import Foundation
    package import VellumCore
    package import VellumRemote

    /// A Valkey or Redis server that caches and storages of this program share, by one connection.
    ///
    /// ```swift
    /// let server = ValkeyServer(
    ///     ValkeyConfiguration(host: "cache.internal", password: password))
    /// let manager = SharedCacheManager(name: "Shop", server: server)
    /// ```
    ///
    /// The first call connects. A lost connection is made again in the background; until then, calls fail immediately. The connection is closed
    /// with the last reference to the server and its caches, when no removal has to be sent again any more, or by ``close()``. Redis 6.2 or
    /// newer, or Valkey. No cluster.
    public final class ValkeyServer: Sendable {
        /// Where the server is, and how it is used.
        public let configuration: ValkeyConfiguration
        private let link: Link
        private let stores: Stores
        private let heartbeat: Task<Void, Never>

        /// Connects to nothing yet.
        public init(_ configuration: ValkeyConfiguration) {
            // A task below may make the runtime open descriptors of its own.
            StandardStreams.hold()
            self.configuration = configuration
            let trust = Trust(for: configuration.trustMilliseconds)
            let stores = Stores(trust)
            let link = Link(
                to: configuration.link,
                observer: Link.Observer(
                    onConnected: { stores.didConnect(at: $0) }, onLost: { stores.didLoseConnection() },
                    onInvalidated: { stores.didChange($0) }, onReply: { trust.renew(sent: $0) }))
            (self.link, self.stores) = (link, stores)
            // A second, after which a server that is no primary any more is left, or less.
            let pause = configuration.trustMilliseconds == 0 ? 1000 : min(configuration.trustMilliseconds / 4, 1000)
            heartbeat = Task { [weak link] in
                while true {
                    do {
                        try await Task.sleep(for: .milliseconds(pause))
                    } catch {
                        return  // The server was closed.
                    }
                    guard let link else { return }
                    await stores.beat(link, within: pause * 2)
                }
            }
        }

        deinit { heartbeat.cancel() }

        /// Closes the connection for good. Later calls of caches and storages fail with ``VellumError/Code/closed``.
        public func close() {
            heartbeat.cancel()
            link.close()
        }

        /// Makes the store of one cache.
        package func store<Value: Sendable>(
            named name: String, memory: Capacity, coding: SharedStore<Value>.Coding
        ) -> SharedStore<Value> {
            let fullName = configuration.keyPrefix.percentEncoding("\0") + name
            let (keys, groupKeys) = (RemoteKeys(cacheName: fullName), RemoteKeys(cacheName: fullName, areOfGroups: true))
            var times = SharedStore<Value>.Times()
            times.longestWait = configuration.longestWait.map(ValkeyConfiguration.milliseconds)
            times.outageMaxAge = configuration.outageMilliseconds
            let store = SharedStore(
                name: name, near: NearCache(capacity: memory, trust: stores.trust),
                backend: ValkeyBackend(link, keys, groupKeys, configuration.times), coding: coding, times: times)
            stores.add(store, keys, groupKeys)
            return store
        }
    }

    /// A store that receives the events of the connection.
    private protocol ConnectionFollower: AnyObject, Sendable {
        func sendPendingRemovals()
        func didLoseConnection()
        func didConnect()
        func didChange(_ keys: [EntryKey]?)
        func didChangeLeases(_ keys: [EntryKey])
        func didChange(groups names: [EntryKey])
        func report(_ error: VellumError)
    }

    extension SharedStore: ConnectionFollower {}

    /// The stores of one connection, and the trust that they share.
    private final class Stores: Sendable {
        private struct Member: Sendable {
            weak var store: (any ConnectionFollower)?
            var keys: RemoteKeys
            var groupKeys: RemoteKeys
        }

        let trust: Trust
        private let members = Locked<[Member]>([])

        init(_ trust: Trust) { self.trust = trust }

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

        func didConnect(at time: ServerTime) {
            // Everything is forgotten before anything is trusted. Before the first connection nobody has read anything.
            let isFirst = trust.time() == nil
            each { store, _ in isFirst ? store.didConnect() : store.didChange(nil) }
            trust.begin(time)
            each { store, _ in store.sendPendingRemovals() }
        }

        func didLoseConnection() {
            trust.stop()
            each { store, _ in store.didLoseConnection() }
        }

        func didChange(_ remote: [Data]?) {
            each { store, member in
                guard let remote else { return store.didChange(nil) }
                let changed = remote.compactMap(member.keys.entryKey(of:))
                let (values, leases) = (changed.filter { !$0.isLease }.map(\.key), changed.filter(\.isLease).map(\.key))
                if !values.isEmpty { store.didChange(values) }
                if !leases.isEmpty { store.didChangeLeases(leases) }
                let groups = remote.compactMap(member.groupKeys.entryKey(of:)).map(\.key)
                if !groups.isEmpty { store.didChange(groups: groups) }
            }
        }

        /// Asks for the time, whose answer renews the trust, and for the role.
        func beat(_ link: Link, within milliseconds: Int64) async {
            guard trust.time() != nil else { return }  // Nobody has called yet.
            do throws(RemoteFailure) {
                guard let now = try await link.beat(within: milliseconds) else { return }
                if let jump = trust.jump(to: now), abs(jump) > Validity.slack {
                    // Ages would be wrong.
                    didChange(nil)
                    each { store, _ in
                        store.report(VellumError(.serverFailed, "The clock of the server was set by \(jump / 1000) seconds."))
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
            *, unavailable,
            message: "Shared caches need the trait 'Valkey'. In Package.swift, add traits: [\"Valkey\"] to the .package line of Vellum."
        )
        public init(_ configuration: ValkeyConfiguration) { self.configuration = configuration }

        /// Closes the connection for good.
        public func close() {}

        package func store<Value: Sendable>(
            named name: String, memory: Capacity, coding: SharedStore<Value>.Coding
        ) -> SharedStore<Value> {
            preconditionFailure("Without the trait, no server can be made.")
        }
    }
#endif
