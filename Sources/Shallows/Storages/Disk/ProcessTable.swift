internal import Foundation

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Which processes live: what a sweep must know before it removes a file that another process may be writing.
struct ProcessTable: Sendable {
    enum Start: Equatable, Sendable {
        /// The process lives and was started then, in units of the system.
        case at(UInt64)
        /// There is no such process.
        case none
        /// The system does not tell.
        case unknown
    }

    /// Says which processes can be seen from here: another machine, another start of this one, and another container, have another.
    let machine: String
    let process: Int32
    let start: @Sendable (Int32) -> Start

    /// This process as temporary names tell of it.
    var own: (machine: String, process: Int32, start: UInt64) {
        guard case .at(let moment) = start(process) else { return (machine, process, 0) }
        return (machine, process, moment)
    }

    /// Whether the process of that number that was started then lives; `nil` if that cannot be known from here.
    func isAlive(_ name: TemporaryName) -> Bool? {
        guard name.machine == machine, machine != Self.unknownMachine else { return nil }
        return switch start(name.process) {
        case .at(let moment): moment == name.start
        case .none: false
        case .unknown: nil
        }
    }

    static let unknownMachine = "0"

    /// The processes of this machine.
    static let system = ProcessTable(machine: currentMachine(), process: getpid(), start: start(of:))

    private static func digest(_ text: String) -> String { String(KeyDigest.fnv1a.digits(of: text).suffix(16)) }

    #if canImport(Darwin)
        private static func currentMachine() -> String {
            var text = [CChar](repeating: 0, count: 128)
            var count = text.count - 1
            guard sysctlbyname("kern.bootsessionuuid", &text, &count, nil, 0) == 0 else { return unknownMachine }
            return digest(String(cString: text))
        }

        private static func start(of process: Int32) -> Start {
            var query = [CTL_KERN, KERN_PROC, KERN_PROC_PID, process]
            var information = kinfo_proc()
            var count = MemoryLayout<kinfo_proc>.stride
            guard sysctl(&query, UInt32(query.count), &information, &count, nil, 0) == 0 else { return .unknown }
            guard count > 0 else { return kill(process, 0) != 0 && errno == ESRCH ? .none : .unknown }
            let moment = information.kp_proc.p_un.__p_starttime
            return .at(UInt64(moment.tv_sec) * 1_000_000 + UInt64(moment.tv_usec))
        }
    #else
        private static func currentMachine() -> String {
            guard let boot = contents(of: "/proc/sys/kernel/random/boot_id") else { return unknownMachine }
            var buffer = [CChar](repeating: 0, count: 128)
            // Containers number their processes by themselves.
            guard readlink("/proc/self/ns/pid", &buffer, buffer.count - 1) > 0 else { return unknownMachine }
            return digest(boot + String(decoding: buffer.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self))
        }

        /// The twenty-second field of `/proc/<process>/stat`; the second may hold anything, in parentheses (proc_pid_stat(5)).
        private static func start(of process: Int32) -> Start {
            guard let line = contents(of: "/proc/\(process)/stat") else {
                return kill(process, 0) != 0 && errno == ESRCH ? .none : .unknown
            }
            let fields = line.utf8.suffix(from: line.utf8.lastIndex(of: UInt8(ascii: ")")) ?? line.utf8.startIndex).split(
                separator: UInt8(ascii: " "))
            guard fields.count > 20, let moment = UInt64(String(Substring(fields[20]))) else { return .unknown }
            return .at(moment)
        }

        /// `nil` if it cannot be read: whoever asks then knows no more about a process than that.
        private static func contents(of path: String) -> String? {
            do throws(FileFailure) {
                guard case .value(let data) = try FileReader(calls: .system).contents(at: path) else { return nil }
                return String(decoding: data, as: UTF8.self)
            } catch {
                return nil
            }
        }
    #endif
}
