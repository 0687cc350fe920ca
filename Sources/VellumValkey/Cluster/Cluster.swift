#if Valkey
    internal import VellumCore
    internal import VellumRemote

    /// A cluster: a link to each primary that has slots, and which slots those are (decision 87).
    ///
    /// A command goes to the primary of its key's slot, and where that redirects it. Once a second
    /// a node is asked whether the slots are where they were; more often while a primary cannot be
    /// reached.
    final class Cluster: Sendable {
        /// Receives the events of the primaries, each of which has a place while it is one.
        struct Observer: Sendable {
            /// Receives the events of the link to a primary.
            var link: @Sendable (_ place: Int) -> Link.Observer
            /// Is called every ``pause`` for a primary.
            var beat: @Sendable (Link, _ place: Int) async -> Void
            /// These have lost slots.
            var onMoved: @Sendable (_ places: Set<Int>) -> Void
            /// Somebody may have changed the key, because it was read elsewhere than where its slot
            /// is.
            var onElsewhere: @Sendable (_ key: String) -> Void
            /// No primary has the place any more.
            var onFreed: @Sendable (_ place: Int) -> Void
            /// In milliseconds.
            var pause: Int64
        }

        final class Primary: Sendable {
            let address: ClusterMap.Address
            let place: Int
            let link: Link
            let heartbeat: Task<Void, Never>

            init(
                _ address: ClusterMap.Address,
                _ place: Int,
                _ link: Link,
                _ heartbeat: Task<Void, Never>
            ) {
                self.address = address
                self.place = place
                self.link = link
                self.heartbeat = heartbeat
            }

            func end(_ failure: RemoteFailure) {
                heartbeat.cancel()
                link.close(failure)
            }
        }

        struct State {
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
            var nextAttempt = Int64(0)
            var rest = Int64(0)
            /// The names of the nodes: those of another cluster may have come to an address.
            var nodes: Set<String> = []
            /// Why no map is known.
            var failure: RemoteFailure?
            var isClosed = false
        }

        /// Each has a place, also for some seconds after it is none any more.
        static let mostPrimaries = Trusts.most / 2

        let server: ServerConfiguration
        let observer: Observer
        let clock: CoarseClock
        let state = Locked(State())
        let watch = Locked<Task<Void, Never>?>(nil)

        /// Connects to nothing yet.
        init(
            of server: ServerConfiguration,
            clock: CoarseClock = .system,
            observer: Observer
        ) {
            self.server = server
            self.clock = clock
            self.observer = observer
        }

        deinit { close() }

        /// Ends all connections for good. Callers that wait get ``RemoteFailure/closed``.
        func close() {
            watch.withLock { $0 }?.cancel()
            let ended = state.withLock { state in
                state.isClosed = true
                defer {
                    state.primaries = []
                    state.guests = [:]
                    state.leaving = []
                    state.map = ClusterMap()
                }
                return state.primaries + state.guests.values + state.leaving
            }
            for primary in ended { primary.end(.closed) }
        }

        /// The primary that has a slot, as far as it is known.
        func primary(ofSlot slot: Int) -> Primary? {
            state.withLock { state in
                state.map.ownerIndex(of: slot).map { state.primaries[$0] }
            }
        }

        func place(ofSlot slot: Int) -> Int? {
            state.withLock { state in
                state.map.ownerIndex(of: slot).map { state.primaries[$0].place }
            }
        }

        /// Also those to which slots may be on their way.
        var places: [Int] {
            state.withLock {
                $0.primaries.map(\.place) + $0.guests.values.map(\.place)
            }
        }

        var isClosed: Bool { state.withLock { $0.isClosed } }

        // MARK: Calls

        /// Sends a command to where its keys are, and returns its reply.
        ///
        /// - Parameters:
        ///   - key: One of its keys, which all have one slot.
        ///   - atReply: As for ``Link/call(_:within:atReply:)``. The last call counts.
        func call(
            _ command: RESPCommand,
            key: String,
            within milliseconds: Int64,
            atReply: (@Sendable () -> Void)? = nil
        ) async throws(RemoteFailure) -> RESPValue {
            let slot = ClusterMap.slot(of: key)
            let end = clock.now() + milliseconds
            // Why the last attempt did not succeed, though another one may.
            var obstacle = RemoteFailure?.none
            var attempts = 0
            while true {
                if Task.isCancelled { throw .cancelled }
                let remaining = end - clock.now()
                if attempts > 0, remaining <= 0 {
                    throw obstacle
                        ?? .unreachable("The cluster sends calls from one node to another.")
                }
                attempts += 1
                guard let primary = primary(ofSlot: slot) else {
                    // While nothing is known, only the first calls wait.
                    try await learnFirst(before: end)
                    if self.primary(ofSlot: slot) == nil {
                        obstacle = .unreachable(
                            "No primary of the cluster has the slot of the key."
                        )
                        await pause(attempts)
                    }
                    continue
                }
                let reply: RESPValue
                do throws(RemoteFailure) {
                    reply = try await primary.link.call(
                        command,
                        within: max(remaining, 1),
                        atReply: atReply
                    )
                } catch {
                    if error.mayBeExecuted { throw error }
                    // The slot has another primary already, or the call has begun to wait for one.
                    let isMoved =
                        self.primary(ofSlot: slot).map { $0.link !== primary.link }
                        ?? !state.withLock { $0.isClosed }
                    guard isMoved || obstacle != nil else { throw error }
                    obstacle = error
                    await pause(attempts)
                    continue
                }
                guard case .error(let message) = reply,
                    let redirection = Redirection(message, asked: primary.address)
                else { return reply }
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
                    let replies = try await guest.link.call(
                        all: [RESPCommand("ASKING"), command],
                        within: max(end - clock.now(), 1)
                    )
                    observer.onElsewhere(key)
                    guard case .error(let message) = replies[1],
                        let again = Redirection(message, asked: address)
                    else { return replies[1] }
                    obstacle = .unreachable("The slot of the key is moving: \(again.code).")
                    await pause(attempts)
                case .tryAgain:
                    obstacle = .unreachable("The slot of the key is moving: \(redirection.code).")
                    await pause(attempts)
                case .down(let isSlot):
                    obstacle = .unreachable("\(primary.address) says that its cluster is down.")
                    // What it said before may be old.
                    if !isSlot {
                        primary.link.endConnection(
                            .unreachable("\(primary.address) says that its cluster is down.")
                        )
                    }
                    do throws(RemoteFailure) { try await learn(before: end) } catch {
                        obstacle = error
                    }
                    await pause(attempts)
                }
            }
        }

        /// Sends commands, those of each primary in a row and to all at the same time, and returns
        /// their results in their order.
        func call(
            each commands: [(command: RESPCommand, key: String)],
            within milliseconds: Int64
        ) async -> [Result<RESPValue, RemoteFailure>] {
            var lots = [Int: (primary: Primary, indices: [Int])]()
            var alone = [Int]()
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
                    group.addTask {
                        await self.call(indices, of: commands, on: primary, within: milliseconds)
                    }
                }
                for index in alone {
                    group.addTask {
                        [(index, await self.result(of: commands[index], within: milliseconds))]
                    }
                }
                for await answers in group {
                    for (index, result) in answers { results[index] = result }
                }
            }
            return results.map { $0 ?? .failure(.unexpectedReply) }
        }

        /// Sends commands of one primary, and those one by one that it redirects.
        func call(
            _ indices: [Int],
            of commands: [(command: RESPCommand, key: String)],
            on primary: Primary,
            within milliseconds: Int64
        ) async -> [(Int, Result<RESPValue, RemoteFailure>)] {
            var results: [(Int, Result<RESPValue, RemoteFailure>)] = []
            var rest = indices[...]
            var count = 16
            var failure: RemoteFailure?
            while !rest.isEmpty {
                let some = rest.prefix(count)
                rest = rest.dropFirst(count)
                do throws(RemoteFailure) {
                    if let failure { throw failure }
                    let replies = try await primary.link.call(
                        all: some.map { commands[$0].command },
                        within: milliseconds
                    )
                    results += zip(some, replies).map { ($0, .success($1)) }
                    // Their replies have hardly more bytes than that of a large entry: others wait
                    // for them.
                    let bytes = replies.reduce(some.count) {
                        if case .bytes(let data) = $1 { $0 + data.count } else { $0 }
                    }
                    count = min(max(some.count * RemoteRecord.longest / bytes, 1), 256)
                } catch {
                    failure = error
                    results += some.map { ($0, .failure(error)) }
                }
            }
            let hasMoved = { (index: Int) in
                self.primary(ofSlot: ClusterMap.slot(of: commands[index].key)).map {
                    $0.link !== primary.link
                } ?? false
            }
            let again = results.indices.filter { place in
                switch results[place].1 {
                case .success(.error(let message)):
                    Redirection(message, asked: primary.address) != nil
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
            of element: (command: RESPCommand, key: String),
            within milliseconds: Int64
        ) async -> Result<RESPValue, RemoteFailure> {
            do throws(RemoteFailure) {
                return .success(
                    try await call(element.command, key: element.key, within: milliseconds)
                )
            } catch {
                return .failure(error)
            }
        }

        /// Sends a command to the primary in a place.
        func call(
            _ command: RESPCommand,
            at place: Int,
            within milliseconds: Int64
        ) async throws(RemoteFailure) -> RESPValue {
            let primary = state.withLock { state in
                (state.primaries + state.guests.values).first { $0.place == place }
            }
            guard let primary else {
                throw isClosed ? .closed : .unreachable("The primary has no slots any more.")
            }
            return try await primary.link.call(command, within: milliseconds)
        }

        /// Asks where the slots are, and waits for the answer at most for so long.
        func learnAnew(within milliseconds: Int64) async {
            do throws(RemoteFailure) {
                try await learn(before: clock.now() + milliseconds)
            } catch {}  // What is known counts.
        }

        func pause(_ attempts: Int) async {
            do {
                try await Task.sleep(
                    for: .milliseconds(Int64.random(in: 1...10) << min(attempts, 3))
                )
            } catch {}  // Cancelled: the next command says it.
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
