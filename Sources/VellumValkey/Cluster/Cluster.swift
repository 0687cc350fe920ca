#if Valkey
    package import VellumCore
    package import VellumRemote

    /// A cluster: a link to each primary that has slots, and which slots those are (decision 87).
    ///
    /// A command goes to the primary of its key's slot, and where that redirects it. Once a second a node is asked whether the slots are where they
    /// were; more often while a primary cannot be reached.
    package final class Cluster: Sendable {
        /// Receives the events of the primaries, each of which has a place while it is one.
        package struct Observer: Sendable {
            /// Receives the events of the link to a primary.
            package var link: @Sendable (_ place: Int) -> Link.Observer
            /// Is called every ``pause`` for a primary.
            package var beat: @Sendable (Link, _ place: Int) async -> Void
            /// These have lost slots.
            package var onMoved: @Sendable (_ places: Set<Int>) -> Void
            /// Somebody may have changed the key, because it was read elsewhere than where its slot is.
            package var onElsewhere: @Sendable (_ key: String) -> Void
            /// No primary has the place any more.
            package var onFreed: @Sendable (_ place: Int) -> Void
            /// In milliseconds.
            package var pause: Int64

            package init(
                link: @escaping @Sendable (_ place: Int) -> Link.Observer, beat: @escaping @Sendable (Link, _ place: Int) async -> Void,
                onMoved: @escaping @Sendable (_ places: Set<Int>) -> Void, onElsewhere: @escaping @Sendable (_ key: String) -> Void,
                onFreed: @escaping @Sendable (_ place: Int) -> Void, pause: Int64
            ) {
                (self.link, self.beat, self.onMoved, self.onElsewhere, self.onFreed) = (link, beat, onMoved, onElsewhere, onFreed)
                self.pause = pause
            }
        }

        private final class Primary: Sendable {
            let address: ClusterMap.Address
            let place: Int
            let link: Link
            let heartbeat: Task<Void, Never>

            init(_ address: ClusterMap.Address, _ place: Int, _ link: Link, _ heartbeat: Task<Void, Never>) {
                (self.address, self.place, self.link, self.heartbeat) = (address, place, link, heartbeat)
            }

            func end(_ failure: RemoteFailure) {
                heartbeat.cancel()
                link.close(failure)
            }
        }

        private struct State {
            var map = ClusterMap()
            /// In the order of the map.
            var primaries: [Primary] = []
            /// Those that have no slot yet, but keys of one that is on its way.
            var guests: [ClusterMap.Address: Primary] = [:]
            /// Those that are none any more, until what was sent to them is answered.
            var leaving: [Primary] = []
            /// Nodes that know the cluster, besides the primaries.
            var replicas: Set<ClusterMap.Address> = []
            var freePlaces = Array((0..<Trusts.most).reversed())
            var learning: Task<RemoteFailure?, Never>?
            /// When the next attempt to learn may begin, and how long after its end that is.
            var (nextAttempt, rest) = (Int64(0), Int64(0))
            /// The names of the nodes: those of another cluster may have come to an address.
            var nodes: Set<String> = []
            /// Why no map is known.
            var failure: RemoteFailure?
            var isClosed = false
        }

        /// Each has a place, also for some seconds after it is none any more.
        private static let mostPrimaries = Trusts.most / 2

        let server: ServerConfiguration
        private let observer: Observer
        private let clock: CoarseClock
        private let state = Locked(State())
        private let watch = Locked<Task<Void, Never>?>(nil)

        /// Connects to nothing yet.
        package init(of server: ServerConfiguration, clock: CoarseClock = .system, observer: Observer) {
            (self.server, self.clock, self.observer) = (server, clock, observer)
        }

        deinit { close() }

        /// Ends all connections for good. Callers that wait get ``RemoteFailure/closed``.
        package func close() {
            watch.withLock { $0 }?.cancel()
            let ended = state.withLock { state in
                state.isClosed = true
                defer { (state.primaries, state.guests, state.leaving, state.map) = ([], [:], [], ClusterMap()) }
                return state.primaries + state.guests.values + state.leaving
            }
            for primary in ended { primary.end(.closed) }
        }

        /// The primary that has a slot, as far as it is known.
        private func primary(ofSlot slot: Int) -> Primary? {
            state.withLock { state in state.map.ownerIndex(of: slot).map { state.primaries[$0] } }
        }

        package func place(ofSlot slot: Int) -> Int? {
            state.withLock { state in state.map.ownerIndex(of: slot).map { state.primaries[$0].place } }
        }

        /// Also those to which slots may be on their way.
        package var places: [Int] { state.withLock { $0.primaries.map(\.place) + $0.guests.values.map(\.place) } }

        var isClosed: Bool { state.withLock { $0.isClosed } }

        // MARK: Calls

        /// Sends a command to where its keys are, and returns its reply.
        ///
        /// - Parameters:
        ///   - key: One of its keys, which all have one slot.
        ///   - atReply: As for ``Link/call(_:within:atReply:)``. The last call counts.
        package func call(
            _ command: RESPCommand, key: String, within milliseconds: Int64, atReply: (@Sendable () -> Void)? = nil
        ) async throws(RemoteFailure) -> RESPValue {
            let (slot, end) = (ClusterMap.slot(of: key), clock.now() + milliseconds)
            // Why the last attempt did not succeed, though another one may.
            var (obstacle, attempts) = (RemoteFailure?.none, 0)
            while true {
                if Task.isCancelled { throw .cancelled }
                let remaining = end - clock.now()
                if attempts > 0, remaining <= 0 { throw obstacle ?? .unreachable("The cluster sends calls from one node to another.") }
                attempts += 1
                guard let primary = primary(ofSlot: slot) else {
                    // While nothing is known, only the first calls wait.
                    try await learnFirst(before: end)
                    if self.primary(ofSlot: slot) == nil {
                        obstacle = .unreachable("No primary of the cluster has the slot of the key.")
                        await pause(attempts)
                    }
                    continue
                }
                let reply: RESPValue
                do throws(RemoteFailure) {
                    reply = try await primary.link.call(command, within: max(remaining, 1), atReply: atReply)
                } catch {
                    if error.mayBeExecuted { throw error }
                    // The slot has another primary already, or the call has begun to wait for one.
                    let isMoved = self.primary(ofSlot: slot).map { $0.link !== primary.link } ?? !state.withLock { $0.isClosed }
                    guard isMoved || obstacle != nil else { throw error }
                    obstacle = error
                    await pause(attempts)
                    continue
                }
                guard case .error(let message) = reply, let redirection = Redirection(message, asked: primary.address) else { return reply }
                switch redirection {
                case .moved(_, let address) where address == primary.address:
                    // What is behind the address is another node now.
                    obstacle = .unreachable("\(address) sends calls to itself.")
                    primary.link.endConnection(.unreachable("\(address) sends calls to itself."))
                    await pause(attempts)
                case .moved(let slot, let address):
                    moved(slot, from: primary, to: address)
                    obstacle = .unreachable("The slot of the key has moved to \(address).")
                    // The nodes may not agree yet.
                    if attempts > 2 { await pause(attempts - 2) }
                case .ask(let address):
                    guard let guest = guest(at: address) else { throw .closed }
                    let replies = try await guest.link.call(all: [RESPCommand("ASKING"), command], within: max(end - clock.now(), 1))
                    observer.onElsewhere(key)
                    guard case .error(let message) = replies[1], let again = Redirection(message, asked: address) else { return replies[1] }
                    obstacle = .unreachable("The slot of the key is moving: \(again.code).")
                    await pause(attempts)
                case .tryAgain:
                    obstacle = .unreachable("The slot of the key is moving: \(redirection.code).")
                    await pause(attempts)
                case .down(let isSlot):
                    obstacle = .unreachable("\(primary.address) says that its cluster is down.")
                    // What it said before may be old.
                    if !isSlot { primary.link.endConnection(.unreachable("\(primary.address) says that its cluster is down.")) }
                    do throws(RemoteFailure) { try await learn(before: end) } catch { obstacle = error }
                    await pause(attempts)
                }
            }
        }

        /// Sends commands, those of each primary in a row and to all at the same time, and returns their results in their order.
        package func call(
            each commands: [(command: RESPCommand, key: String)], within milliseconds: Int64
        ) async -> [Result<RESPValue, RemoteFailure>] {
            var (lots, alone) = ([Int: (primary: Primary, indices: [Int])](), [Int]())
            for (index, element) in commands.enumerated() {
                if let primary = primary(ofSlot: ClusterMap.slot(of: element.key)) {
                    lots[primary.place, default: (primary, [])].indices.append(index)
                } else {
                    alone.append(index)
                }
            }
            var results = [Result<RESPValue, RemoteFailure>?](repeating: nil, count: commands.count)
            await withTaskGroup(of: [(Int, Result<RESPValue, RemoteFailure>)].self) { group in
                for (primary, indices) in lots.values {
                    group.addTask { await self.call(indices, of: commands, on: primary, within: milliseconds) }
                }
                for index in alone { group.addTask { [(index, await self.result(of: commands[index], within: milliseconds))] } }
                for await answers in group { for (index, result) in answers { results[index] = result } }
            }
            return results.map { $0 ?? .failure(.unexpectedReply) }
        }

        /// Sends commands of one primary, and those one by one that it redirects.
        private func call(
            _ indices: [Int], of commands: [(command: RESPCommand, key: String)], on primary: Primary, within milliseconds: Int64
        ) async -> [(Int, Result<RESPValue, RemoteFailure>)] {
            var results: [(Int, Result<RESPValue, RemoteFailure>)] = []
            var (rest, count) = (indices[...], 16)
            var failure: RemoteFailure?
            while !rest.isEmpty {
                let some = rest.prefix(count)
                rest = rest.dropFirst(count)
                do throws(RemoteFailure) {
                    if let failure { throw failure }
                    let replies = try await primary.link.call(all: some.map { commands[$0].command }, within: milliseconds)
                    results += zip(some, replies).map { ($0, .success($1)) }
                    // Their replies have hardly more bytes than that of a large entry: others wait for them.
                    let bytes = replies.reduce(some.count) { if case .bytes(let data) = $1 { $0 + data.count } else { $0 } }
                    count = min(max(some.count * RemoteRecord.longest / bytes, 1), 256)
                } catch {
                    failure = error
                    results += some.map { ($0, .failure(error)) }
                }
            }
            let hasMoved = { (index: Int) in
                self.primary(ofSlot: ClusterMap.slot(of: commands[index].key)).map { $0.link !== primary.link } ?? false
            }
            let again = results.indices.filter { place in
                switch results[place].1 {
                case .success(.error(let message)): Redirection(message, asked: primary.address) != nil
                case .failure(let failure): !failure.mayBeExecuted && hasMoved(results[place].0)
                case .success: false
                }
            }
            await withTaskGroup(of: (Int, Result<RESPValue, RemoteFailure>).self) { group in
                for place in again {
                    let command = commands[results[place].0]
                    group.addTask { (place, await self.result(of: command, within: milliseconds)) }
                }
                for await (place, result) in group { results[place].1 = result }
            }
            return results
        }

        private func result(
            of element: (command: RESPCommand, key: String), within milliseconds: Int64
        ) async -> Result<RESPValue, RemoteFailure> {
            do throws(RemoteFailure) {
                return .success(try await call(element.command, key: element.key, within: milliseconds))
            } catch {
                return .failure(error)
            }
        }

        /// Sends a command to the primary in a place.
        package func call(_ command: RESPCommand, at place: Int, within milliseconds: Int64) async throws(RemoteFailure) -> RESPValue {
            let primary = state.withLock { state in (state.primaries + state.guests.values).first { $0.place == place } }
            guard let primary else { throw isClosed ? .closed : .unreachable("The primary has no slots any more.") }
            return try await primary.link.call(command, within: milliseconds)
        }

        /// Asks where the slots are, and waits for the answer at most for so long.
        func learnAnew(within milliseconds: Int64) async {
            do throws(RemoteFailure) {
                try await learn(before: clock.now() + milliseconds)
            } catch {}  // What is known counts.
        }

        private func pause(_ attempts: Int) async {
            do {
                try await Task.sleep(for: .milliseconds(Int64.random(in: 1...10) << min(attempts, 3)))
            } catch {}  // Cancelled: the next command says it.
        }

        // MARK: Where the slots are

        private func makePrimary(_ address: ClusterMap.Address, _ state: inout State) -> Primary {
            var server = server.at((address.host, address.port), as: server.user, server.password)
            server.seeds = []
            // There are fewer primaries (``mostPrimaries``).
            let place = state.freePlaces.popLast() ?? Trusts.most - 1
            let link = Link(to: server, clock: clock, observer: observer.link(place))
            let heartbeat = Task.repeating(every: { [observer] in observer.pause }) { [weak link, observer] in
                guard let link else { return false }
                await observer.beat(link, place)
                return true
            }
            return Primary(address, place, link, heartbeat)
        }

        /// A node that has keys of a slot that is on its way to it; `nil` if the cluster is closed.
        private func guest(at address: ClusterMap.Address) -> Primary? {
            state.withLock { state in
                if state.isClosed { return nil }
                if let known = state.primaries.first(where: { $0.address == address }) ?? state.guests[address] { return known }
                let guest = makePrimary(address, &state)
                state.guests[address] = guest
                return guest
            }
        }

        private func moved(_ slot: Int, from primary: Primary, to address: ClusterMap.Address) {
            apply { map in
                // Another call may have learned it. An address may be one that no certificate is for.
                guard map.owner(of: slot) == primary.address, map.primaries.contains(address) || !prefersNames else { return }
                map.move(slot, to: address)
            }
            Task { _ = await learn() }
        }

        /// - Parameter empty: Primaries without slots, which guests may be; `nil` if that is not known.
        private func apply(empty: Set<ClusterMap.Address>? = nil, _ change: (inout ClusterMap) -> Void) {
            let (lost, ended) = state.withLock { state -> (Set<Int>, [Primary]) in
                var map = state.map
                change(&map)
                if state.isClosed || map == state.map { return ([], []) }
                let (losers, before) = (map.losers(since: state.map), state.primaries)
                var known = state.guests
                for primary in before { known[primary.address] = primary }
                state.primaries = map.primaries.map { known.removeValue(forKey: $0) ?? makePrimary($0, &state) }
                let guests = known.filter { state.guests[$0.key] != nil && empty?.contains($0.key) ?? true }
                let ended = known.filter { guests[$0.key] == nil }.map(\.value)
                (state.map, state.guests, state.failure) = (map, guests, nil)
                state.leaving += ended
                return (Set(before.filter { losers.contains($0.address) }.map(\.place)), ended)
            }
            // Who asks for a key from now on is told where it is. What was asked before is not an answer after this.
            if !lost.isEmpty { observer.onMoved(lost) }
            if ended.isEmpty { return }
            for primary in ended { primary.heartbeat.cancel() }
            Task { [weak self, observer] in
                // What was sent to them is answered, at least by where it has to go.
                do { try await Task.sleep(for: .seconds(2)) } catch {}
                for primary in ended {
                    primary.end(.unreachable("\(primary.address) has no slots of the cluster any more."))
                    observer.onFreed(primary.place)
                }
                self?.state.withLock { state in
                    state.leaving.removeAll { left in ended.contains { $0.place == left.place } }
                    state.freePlaces += ended.map(\.place)
                }
            }
        }

        private func learnFirst(before end: Int64) async throws(RemoteFailure) {
            let (isKnown, failure, isClosed) = state.withLock { (!$0.map.isEmpty, $0.failure, $0.isClosed) }
            if isClosed { throw .closed }
            if let failure, !isKnown { throw failure }
            try await learn(before: end)
        }

        /// Whether nodes are reached by their names.
        private var prefersNames: Bool { server.tls?.needsName ?? false }

        private func learn(before end: Int64) async throws(RemoteFailure) {
            let (answers, continuation) = AsyncStream.makeStream(of: RemoteFailure?.self)
            Task { [weak self] in continuation.yield(await self?.learn()) }
            Task { [clock] in
                try await Task.sleep(for: .milliseconds(max(end - clock.now(), 1)))
                continuation.yield(.unreachable("No node of the cluster answered in time."))
            }
            for await failure in answers {
                if let failure { throw failure }
                return
            }
        }

        /// Asks the nodes where the slots are. Callers at the same time share one attempt.
        ///
        /// - Returns: Why it is not known.
        @discardableResult
        private func learn() async -> RemoteFailure? {
            let task = state.withLock { state in
                if let running = state.learning { return running }
                let wait = state.nextAttempt - clock.now()
                let task = Task { [weak self] () -> RemoteFailure? in
                    do {
                        // Not more often than it may help, and not with all other clients at once.
                        if wait > 0 { try await Task.sleep(for: .milliseconds(wait)) }
                    } catch {
                        return .closed
                    }
                    guard let self else { return .closed }
                    let before = self.state.withLock { $0.map }
                    let failure = await self.askAll()
                    self.state.withLock { state in
                        state.learning = nil
                        state.rest = before == state.map ? min(max(2 * state.rest, 100), 1000) : 100
                        state.nextAttempt = self.clock.now() + Int64.random(in: state.rest / 2...state.rest)
                        if state.map.isEmpty { state.failure = failure }
                    }
                    return failure
                }
                state.learning = task
                return task
            }
            startWatching()
            return await task.value
        }

        private func askAll() async -> RemoteFailure? {
            if server.database != 0 { return .refused("A cluster has only database 0, and not \(server.database).") }
            if !server.places.isEmpty || !server.sentinels.isEmpty { return .refused("A cluster has no Sentinels and no other addresses.") }
            var asked: Set<ClusterMap.Address> = []
            // Those of nodes of the cluster that is known, and of all.
            var (views, others, failures) = ([ClusterView](), [ClusterView](), [RemoteFailure]())
            var known = state.withLock { $0.map.primaries }
            // The nodes that are known, then those that they name; or the configured ones.
            for round in 0..<3 {
                let next = known.filter { !asked.contains($0) }
                if round > 0, next.isEmpty, !views.isEmpty { break }
                let seeds = server.seeds.map { ClusterMap.Address($0.host, $0.port) }
                let replicas = state.withLock { $0.replicas }
                let addresses = next.isEmpty && views.isEmpty ? Set(seeds).union(replicas).subtracting(asked) : Set(next)
                if addresses.isEmpty { break }
                asked.formUnion(addresses)
                let answers = await Discovery.answers(of: Array(addresses), within: server.connectTimeout) { [weak self] address in
                    await self?.view(of: address) ?? .failure(.closed)
                }
                let nodes = state.withLock { $0.nodes }
                views += answers.found.filter { nodes.isEmpty || !nodes.isDisjoint(with: $0.nodes) }
                others += answers.found
                failures += answers.failures
                known = ClusterMap(views).primaries
            }
            // Where the cluster was made anew at its addresses, none is of the one that was known.
            if views.isEmpty { views = others }
            let map = ClusterMap(views)
            if map.isEmpty { return Discovery.failure(of: failures) }
            if map.primaries.count > Self.mostPrimaries {
                return .refused("A cluster of more than \(Self.mostPrimaries) primaries is not supported.")
            }
            let empty = Set(views.flatMap(\.empty)).subtracting(map.primaries)
            state.withLock { state in
                state.nodes = views.reduce(into: []) { $0.formUnion($1.nodes) }
                state.replicas = Set(views.flatMap(\.replicas)).union(empty)
            }
            apply(empty: empty) { $0 = map.agrees(with: $0) ? $0 : map }
            for address in empty.prefix(Self.mostPrimaries / 4) { _ = guest(at: address) }
            return nil
        }

        /// What a node says, by the link to it if there is one.
        private func view(of address: ClusterMap.Address, hasEpochs: Bool = true) async -> Result<ClusterView, RemoteFailure> {
            let commands = [RESPCommand("CLUSTER", "SLOTS")] + (hasEpochs ? [RESPCommand("CLUSTER", "NODES")] : [])
            let link = state.withLock { $0.primaries.first { $0.address == address }?.link }
            do throws(RemoteFailure) {
                let replies: [RESPValue]
                if let link, link.isConnected {
                    replies = try await link.call(all: commands, within: server.connectTimeout)
                } else {
                    let node = server.at((address.host, address.port), as: server.user, server.password)
                    let answers = try await Discovery.ask(node, commands)
                    try Handshake.check(answers[0], of: node, mustBePrimary: false)
                    replies = Array(answers.dropFirst())
                }
                for case .error(let message) in replies {
                    if Handshake.isInability(message) { throw .unreachable("\(address) is not ready: \(message)") }
                    throw message.contains("cluster support disabled")
                        ? .refused("\(address) is no node of a cluster: create its configuration with host: or url:.")
                        : .refused("\(address) does not say where the slots of its cluster are: \(message)")
                }
                guard
                    let view = ClusterView(
                        slots: replies[0], nodes: hasEpochs ? replies[1] : nil, asked: address, prefersNames: prefersNames)
                else { throw .unexpectedReply }
                // One that knows no slot must not keep others from answering.
                if view.ranges.isEmpty { throw .unreachable("\(address) knows no slot of its cluster.") }
                return .success(view)
            } catch {
                return .failure(error)
            }
        }

        /// Looks again and again whether the slots are where they were.
        private func startWatching() {
            watch.withLock { watch in
                guard watch == nil else { return }
                let turn = Locked(0)
                watch = .repeating(every: { [weak self] in self?.isWhole == true ? 1000 : 250 }) { [weak self] in
                    guard let self else { return false }
                    let number = turn.withLock { turn in
                        turn += 1
                        return turn
                    }
                    if await !self.isUnchanged(by: number) { await self.learn() }
                    return true
                }
            }
            if state.withLock({ $0.isClosed }) { watch.withLock { $0 }?.cancel() }
        }

        /// Whether all primaries are known and connected.
        private var isWhole: Bool { state.withLock { !$0.map.isEmpty && $0.primaries.allSatisfy(\.link.isConnected) } }

        private func isUnchanged(by turn: Int) async -> Bool {
            let (map, primaries) = state.withLock { ($0.map, $0.primaries) }
            guard isWhole, !primaries.isEmpty else { return false }
            guard case .success(let view) = await view(of: primaries[turn % primaries.count].address, hasEpochs: false) else {
                return false
            }
            return ClusterMap([view]).agrees(with: map)
        }
    }

    extension Redirection {
        fileprivate var code: String {
            switch self {
            case .moved: "MOVED"
            case .ask: "ASK"
            case .tryAgain: "TRYAGAIN"
            case .down: "CLUSTERDOWN"
            }
        }
    }
#endif
