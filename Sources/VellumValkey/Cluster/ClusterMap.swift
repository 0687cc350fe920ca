/// Which primary of a cluster has which slots
/// (redis.io/docs/latest/operate/oss_and_stack/reference/cluster-spec). A pure value.
package struct ClusterMap: Equatable, Sendable {
    /// Where a node is.
    struct Address: Hashable, Sendable, CustomStringConvertible {
        var host: String
        var port: Int

        init(_ host: String, _ port: Int) {
            self.host = host
            self.port = port
        }

        var description: String { "\(host):\(port)" }
    }

    static let slotCount = 16384
    private static let nobody = UInt16.max

    private(set) var primaries: [Address] = []
    /// Of each slot, the index of its primary.
    private var owners = [UInt16](repeating: nobody, count: slotCount)

    init() {}

    /// Whether a slot has a primary.
    var isEmpty: Bool { primaries.isEmpty }

    /// The index in ``primaries``.
    func ownerIndex(of slot: Int) -> Int? {
        owners[slot] == Self.nobody ? nil : Int(owners[slot])
    }

    func owner(of slot: Int) -> Address? {
        ownerIndex(of: slot).map { primaries[$0] }
    }

    /// Gives a slot to a primary.
    mutating func move(_ slot: Int, to address: Address) {
        owners[slot] = index(of: address)
    }

    private mutating func index(of address: Address) -> UInt16 {
        if let index = primaries.firstIndex(of: address) { return UInt16(index) }
        primaries.append(address)
        return UInt16(primaries.count - 1)
    }

    /// What several nodes say, of which some may not know yet of a failover, or never: each slot
    /// has the primary of the highest epoch, as the nodes decide it among themselves.
    init(_ views: [ClusterView]) {
        var epochs = [Int64](repeating: .min, count: Self.slotCount)
        for view in views {
            for range in view.ranges {
                let owner = index(of: range.address)
                for slot in range.slots where range.epoch > epochs[slot] {
                    owners[slot] = owner
                    epochs[slot] = range.epoch
                }
            }
        }
        // Only those that have slots.
        let used = Set(owners)
        let kept = primaries.indices.filter { used.contains(UInt16($0)) }
        let places = Dictionary(
            uniqueKeysWithValues: kept.enumerated().map { (UInt16($1), UInt16($0)) }
        )
        primaries = kept.map { primaries[$0] }
        owners = owners.map { places[$0] ?? Self.nobody }
    }

    /// The primaries that have lost a slot since, or are none any more.
    func losers(since before: ClusterMap) -> Set<Address> {
        let now = before.primaries.map {
            primaries.firstIndex(of: $0).map(UInt16.init) ?? Self.nobody
        }
        var losers = Set(
            zip(before.primaries, now).filter {
                $0.1 == Self.nobody
            }.map(\.0)
        )
        for (old, new) in zip(before.owners, owners)
        where old != Self.nobody && now[Int(old)] != new {
            losers.insert(before.primaries[Int(old)])
        }
        return losers
    }

    /// Whether each slot has the same primary in both.
    func agrees(with other: ClusterMap) -> Bool {
        losers(since: other).isEmpty && other.losers(since: self).isEmpty
    }

    // MARK: Slots

    /// The slot of a key: that of what stands in its first braces, if there is something.
    package static func slot(of key: String) -> Int {
        var key = key
        return key.withUTF8 { bytes in
            guard let open = bytes.firstIndex(of: UInt8(ascii: "{")),
                let close = bytes[(open + 1)...].firstIndex(
                    of: UInt8(ascii: "}")
                ), close > open + 1
            else { return slot(of: bytes[...]) }
            return slot(of: bytes[(open + 1)..<close])
        }
    }

    private static func slot(of bytes: Slice<UnsafeBufferPointer<UInt8>>) -> Int {
        Int(sum(bytes)) % slotCount
    }

    /// CRC-16/XMODEM.
    private static func sum(_ bytes: some Sequence<UInt8>, after sum: UInt16 = 0) -> UInt16 {
        table.withUnsafeBufferPointer { table in
            bytes.reduce(sum) {
                $0 << 8 ^ table[Int($0 >> 8 ^ UInt16($1))]
            }
        }
    }

    /// The slots of names that begin alike, with a brace in their beginning and one at their end.
    struct Slots: Sendable {
        /// Of what stands after the first brace of the beginning.
        private let sum: UInt16
        /// Whether another brace ends there what counts.
        private let isOne: Bool

        init(beginning: String) {
            let tag = beginning.utf8.drop { $0 != UInt8(ascii: "{") }.dropFirst()
            let end = tag.firstIndex(of: UInt8(ascii: "}"))
            sum = ClusterMap.sum(tag[..<(end ?? tag.endIndex)])
            isOne = end != nil
        }

        /// The slot of a name, of which this is between the beginning and the end.
        func slot(of rest: String) -> Int {
            var rest = rest
            let sum =
                isOne
                ? sum
                : rest.withUTF8 { bytes in
                    ClusterMap.sum(bytes.prefix { $0 != UInt8(ascii: "}") }, after: self.sum)
                }
            return Int(sum) % ClusterMap.slotCount
        }
    }

    private static let table: [UInt16] = (0..<256).map { byte in
        (0..<8).reduce(UInt16(byte) << 8) { sum, _ in
            sum & 0x8000 == 0 ? sum << 1 : sum << 1 ^ 0x1021
        }
    }
}

/// What a node says of its cluster: who has which slots, and since which epoch.
struct ClusterView: Sendable {
    struct Range: Sendable {
        var slots: ClosedRange<Int>
        var address: ClusterMap.Address
        var epoch: Int64

        init(_ slots: ClosedRange<Int>, _ address: ClusterMap.Address, epoch: Int64) {
            self.slots = slots
            self.address = address
            self.epoch = epoch
        }
    }

    var ranges: [Range]
    /// The names of all nodes that it knows.
    var nodes: Set<String> = []
    /// Where replicas are, and primaries without slots, to which some may be on their way.
    var replicas = [ClusterMap.Address]()
    var empty = [ClusterMap.Address]()

    init(_ ranges: [Range]) { self.ranges = ranges }

    /// Reads the replies to CLUSTER SLOTS, which has the addresses for clients, and to CLUSTER
    /// NODES, which has the epochs.
    ///
    /// - Parameters:
    ///   - nodes: `nil` if the epochs are not needed.
    ///   - asked: The node, whose host counts where none is named.
    ///   - prefersNames: Whether a name of a host is better than its address, because a certificate
    ///     is for the name.
    /// - Returns: `nil` if they are something else.
    init?(
        slots: RESPValue,
        nodes: RESPValue?,
        asked: ClusterMap.Address,
        prefersNames: Bool = false
    ) {
        guard let rows = slots.elements else { return nil }
        var epochs: [String: Int64] = [:]
        if let nodes {
            guard let text = nodes.text else { return nil }
            for line in text.split(separator: "\n") {
                let fields = line.split(separator: " ")
                if fields.count >= 7 {
                    epochs[String(fields[0])] = Int64(fields[6])
                }
                let flags = fields.count == 8 ? fields[2].split(separator: ",") : []
                // 10.0.0.1:6379@16379,name
                let address =
                    fields.count == 8
                    ? fields[1].prefix {
                        $0 != "@" && $0 != ","
                    } : ""
                if flags.contains("master"),
                    !flags.contains(where: {
                        $0.hasPrefix("fail") || $0 == "handshake" || $0 == "noaddr"
                    }),
                    let colon = address.lastIndex(of: ":"),
                    let port = Int(address[address.index(after: colon)...]), 1...65535 ~= port
                {
                    empty.append(
                        .init(
                            colon == address.startIndex ? asked.host : String(address[..<colon]),
                            port
                        )
                    )
                }
            }
        }
        ranges = []
        self.nodes = Set(epochs.keys)
        for row in rows {
            guard let parts = row.elements, parts.count >= 3, let first = parts[0].integer,
                let last = parts[1].integer, 0 <= first,
                first <= last, last < ClusterMap.slotCount, let node = parts[2].elements,
                node.count >= 2,
                let port = node[1].integer.flatMap({ Int(exactly: $0) }), 1...65535 ~= port
            else { return nil }
            guard let host = Self.host(of: node, asked: asked, prefersNames: prefersNames) else {
                continue
            }
            let epoch = node.count >= 3 ? node[2].text.flatMap { epochs[$0] } : nil
            ranges.append(
                Range(
                    Int(first)...Int(last),
                    .init(host, port),
                    epoch: epoch ?? 0
                )
            )
            for replica in parts[3...].compactMap(\.elements) where replica.count >= 2 {
                guard let host = Self.host(of: replica, asked: asked, prefersNames: prefersNames),
                    let port = replica[1].integer.flatMap({ Int(exactly: $0) }), 1...65535 ~= port
                else { continue }
                replicas.append(.init(host, port))
            }
        }
    }

    /// - Returns: `nil` if it is not known yet.
    private static func host(
        of node: [RESPValue],
        asked: ClusterMap.Address,
        prefersNames: Bool
    ) -> String? {
        func known(_ text: String?) -> String? {
            text.flatMap { ["", "?"].contains($0) ? nil : $0 }
        }
        let more = node.count >= 4 ? node[3] : .null
        if prefersNames, let name = known(more.text(named: "hostname")) { return name }
        switch node[0].text {
        case nil, "": return asked.host
        // Redis 7 and newer: a name is preferred, and none is set.
        case "?": return known(more.text(named: "ip"))
        case let host?: return host
        }
    }
}

/// Where a node sends a client that asked it for a slot.
enum Redirection: Equatable {
    /// From now on.
    case moved(slot: Int, ClusterMap.Address)
    /// For this call, because the slot is on its way.
    case ask(ClusterMap.Address)
    /// Nowhere yet: some keys of the slot are still here.
    case tryAgain
    /// Nowhere. `isSlot`: nobody has this slot; otherwise, the node does not reach the majority of
    /// the primaries.
    case down(isSlot: Bool)

    /// - Parameters:
    ///   - message: That of an error.
    ///   - asked: The node.
    init?(_ message: String, asked: ClusterMap.Address) {
        let words = message.split(separator: " ")
        switch words.first {
        case "MOVED", "ASK":
            guard words.count >= 3,
                let slot = Int(words[1]),
                0..<ClusterMap.slotCount ~= slot,
                let colon = words[2].lastIndex(of: ":"),
                let port = Int(
                    words[2][words[2].index(after: colon)...]
                ), 1...65535 ~= port
            else { return nil }
            let host = words[2][..<colon]
            // Where that is, is not known.
            if host == "?" {
                self = .down(isSlot: true)
                return
            }
            let address = ClusterMap.Address(host.isEmpty ? asked.host : String(host), port)
            self = words[0] == "ASK" ? .ask(address) : .moved(slot: slot, address)
        case "TRYAGAIN": self = .tryAgain
        case "CLUSTERDOWN": self = .down(isSlot: message.contains("not served"))
        default: return nil
        }
    }
}
