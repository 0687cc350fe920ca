#if Valkey
    internal import VellumCore
    internal import VellumRemote

    extension Cluster {
        // MARK: Where the slots are

        private func makePrimary(_ address: ClusterMap.Address, _ state: inout State) -> Primary {
            var server = server.at((address.host, address.port))
            server.seeds = []
            // There are fewer primaries (``mostPrimaries``).
            let place = state.freePlaces.popLast() ?? Trusts.most - 1
            let link = Link(to: server, clock: clock, observer: observer.link(place))
            let heartbeat = Task.repeating(every: { [observer] in observer.pause }) {
                [weak link, observer] in
                guard let link else { return false }
                await observer.beat(link, place)
                return true
            }
            return Primary(address, place, link, heartbeat)
        }

        /// A node that has keys of a slot that is on its way to it; `nil` if the cluster is closed.
        func guest(at address: ClusterMap.Address) -> Primary? {
            state.withLock { state in
                if state.isClosed { return nil }
                if let known = state.primaries.first(where: { $0.address == address })
                    ?? state.guests[address]
                {
                    return known
                }
                let guest = makePrimary(address, &state)
                state.guests[address] = guest
                return guest
            }
        }

        func moved(_ slot: Int, from primary: Primary, to address: ClusterMap.Address) {
            apply { map in
                // Another call may have learned it. An address may be one that no certificate is
                // for.
                guard map.owner(of: slot) == primary.address,
                    map.primaries.contains(address) || !prefersNames
                else { return }
                map.move(slot, to: address)
            }
            Task { _ = await learn() }
        }

        /// - Parameter empty: Primaries without slots, which guests may be; `nil` if that is not
        ///   known.
        private func apply(
            empty: Set<ClusterMap.Address>? = nil,
            _ change: (inout ClusterMap) -> Void
        ) {
            let (lost, ended) = state.withLock { state -> (Set<Int>, [Primary]) in
                var map = state.map
                change(&map)
                if state.isClosed || map == state.map { return ([], []) }
                let losers = map.losers(since: state.map)
                let before = state.primaries
                var known = state.guests
                for primary in before { known[primary.address] = primary }
                state.primaries = map.primaries.map {
                    known.removeValue(forKey: $0) ?? makePrimary($0, &state)
                }
                let guests = known.filter {
                    state.guests[$0.key] != nil && empty?.contains($0.key) ?? true
                }
                let ended = known.filter { guests[$0.key] == nil }.map(\.value)
                state.map = map
                state.guests = guests
                state.failure = nil
                state.leaving += ended
                return (
                    Set(before.filter { losers.contains($0.address) }.map(\.place)),
                    ended
                )
            }
            // Who asks for a key from now on is told where it is. What was asked before is not an
            // answer after this.
            if !lost.isEmpty { observer.onMoved(lost) }
            if ended.isEmpty { return }
            for primary in ended { primary.heartbeat.cancel() }
            Task { [weak self, observer] in
                // What was sent to them is answered, at least by where it has to go.
                do { try await Task.sleep(for: .seconds(2)) } catch {}
                for primary in ended {
                    primary.end(
                        .unreachable("\(primary.address) has no slots of the cluster any more.")
                    )
                    observer.onFreed(primary.place)
                }
                self?.state.withLock { state in
                    state.leaving.removeAll { left in ended.contains { $0.place == left.place } }
                    state.freePlaces += ended.map(\.place)
                }
            }
        }

        func learnFirst(before end: Int64) async throws(RemoteFailure) {
            let (isKnown, failure, isClosed) = state.withLock {
                (!$0.map.isEmpty, $0.failure, $0.isClosed)
            }
            if isClosed { throw .closed }
            if let failure, !isKnown { throw failure }
            try await learn(before: end)
        }

        /// Whether nodes are reached by their names.
        private var prefersNames: Bool { server.tls?.needsName ?? false }

        func learn(before end: Int64) async throws(RemoteFailure) {
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
        func learn() async -> RemoteFailure? {
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
                        state.rest =
                            before == state.map
                            ? min(max(2 * state.rest, 100), 1000)
                            : 100
                        state.nextAttempt =
                            self.clock.now() + Int64.random(in: state.rest / 2...state.rest)
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
            if server.database != 0 {
                return .refused("A cluster has only database 0, and not \(server.database).")
            }
            if !server.places.isEmpty || !server.sentinels.isEmpty {
                return .refused("A cluster has no Sentinels and no other addresses.")
            }
            var asked: Set<ClusterMap.Address> = []
            // Those of nodes of the cluster that is known, and of all.
            var views = [ClusterView]()
            var others = [ClusterView]()
            var failures = [RemoteFailure]()
            var known = state.withLock { $0.map.primaries }
            // The nodes that are known, then those that they name; or the configured ones.
            for round in 0..<3 {
                let next = known.filter { !asked.contains($0) }
                if round > 0, next.isEmpty, !views.isEmpty { break }
                let seeds = server.seeds.map { ClusterMap.Address($0.host, $0.port) }
                let replicas = state.withLock { $0.replicas }
                let addresses =
                    next.isEmpty && views.isEmpty
                    ? Set(seeds).union(replicas).subtracting(asked) : Set(next)
                if addresses.isEmpty { break }
                asked.formUnion(addresses)
                let answers = await Discovery.answers(
                    of: Array(addresses),
                    within: server.connectTimeout
                ) { [weak self] address in
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
                return .refused(
                    "A cluster of more than \(Self.mostPrimaries) primaries is not supported."
                )
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
        private func view(
            of address: ClusterMap.Address,
            hasEpochs: Bool = true
        ) async -> Result<ClusterView, RemoteFailure> {
            let commands =
                [RESPCommand("CLUSTER", "SLOTS")]
                + (hasEpochs ? [RESPCommand("CLUSTER", "NODES")] : [])
            let link = state.withLock { $0.primaries.first { $0.address == address }?.link }
            do throws(RemoteFailure) {
                let replies: [RESPValue]
                if let link, link.isConnected {
                    replies = try await link.call(all: commands, within: server.connectTimeout)
                } else {
                    let node = server.at((address.host, address.port))
                    let answers = try await Discovery.ask(node, commands)
                    try Handshake.check(answers[0], of: node, mustBePrimary: false)
                    replies = Array(answers.dropFirst())
                }
                for case .error(let message) in replies {
                    if Handshake.isInability(message) {
                        throw .unreachable("\(address) is not ready: \(message)")
                    }
                    throw message.contains("cluster support disabled")
                        ? .refused(
                            """
                            \(address) is no node of a cluster: create its configuration with \
                            host: or url:.
                            """
                        )
                        : .refused(
                            "\(address) does not say where the slots of its cluster are: \(message)"
                        )
                }
                guard
                    let view = ClusterView(
                        slots: replies[0],
                        nodes: hasEpochs ? replies[1] : nil,
                        asked: address,
                        prefersNames: prefersNames
                    )
                else { throw .unexpectedReply }
                // One that knows no slot must not keep others from answering.
                if view.ranges.isEmpty {
                    throw .unreachable("\(address) knows no slot of its cluster.")
                }
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
                watch = .repeating(every: { [weak self] in self?.isWhole == true ? 1000 : 250 }) {
                    [weak self] in
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
        private var isWhole: Bool {
            state.withLock { !$0.map.isEmpty && $0.primaries.allSatisfy(\.link.isConnected) }
        }

        private func isUnchanged(by turn: Int) async -> Bool {
            let (map, primaries) = state.withLock { ($0.map, $0.primaries) }
            guard isWhole, !primaries.isEmpty else { return false }
            guard
                case .success(let view) = await view(
                    of: primaries[turn % primaries.count].address,
                    hasEpochs: false
                )
            else {
                return false
            }
            return ClusterMap([view]).agrees(with: map)
        }
    }
#endif
