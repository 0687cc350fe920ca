internal import VellumCore

/// The name of a file that is being written: it says by which process, so that what a killed one left can be told from what a living
/// one is writing.
///
/// `~sh-t-<machine>-<process>-<start>-<number>`: the machine as it was started this time, the process, when that process was
/// started, which no later process of the same number was, and how many such files it made before.
struct TemporaryName: Equatable, Sendable {
    let machine: String
    let process: Int32
    let start: UInt64
    let number: UInt64

    init(machine: String, process: Int32, start: UInt64, number: UInt64) {
        (self.machine, self.process, self.start, self.number) = (machine, process, start, number)
    }

    /// - Returns: `nil` if `name` is none of these.
    init?(_ name: String) {
        guard name.utf8.starts(with: SafeName.temporaryPrefix.utf8) else { return nil }
        let parts = name.utf8.dropFirst(SafeName.temporaryPrefix.utf8.count).split(separator: UInt8(ascii: "-")).map {
            String(Substring($0))
        }
        guard parts.count == 4, let process = Int32(parts[1]), let start = UInt64(parts[2]), let number = UInt64(parts[3]) else {
            return nil
        }
        self.init(machine: parts[0], process: process, start: start, number: number)
    }

    var text: String { "\(SafeName.temporaryPrefix)\(machine)-\(process)-\(start)-\(number)" }
}

extension TemporaryName {
    private static let beginning = {
        let own = ProcessTable.system.own
        return "\(SafeName.temporaryPrefix)\(own.machine)-\(own.process)-\(own.start)-"
    }()

    private static let count = Locked<UInt64>(0)

    /// A name that no other file of this machine has.
    static func next() -> String {
        beginning
            + String(
                count.withLock { count -> UInt64 in
                    count += 1
                    return count
                })
    }
}
