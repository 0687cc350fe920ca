public import Foundation

/// Child processes of tests, without the `Process` of Foundation.
///
/// That waits for the end of a socket which every child inherits that is started meanwhile: the end
/// of one is waited for until all have ended, of which one may be a server
/// (swift-corelibs-foundation 4795).
public enum Child {
    /// How a child ended.
    public enum End: Hashable, Sendable {
        case exited(Int32)
        case killed(Int32)
    }

    /// Where a child writes its errors.
    public enum Errors: Sendable {
        /// Those of the tests.
        case shown
        case dropped
        /// Among its output.
        case withOutput
    }

    /// A child that runs: its number, and descriptors of which the caller closes both.
    public typealias Running = (identifier: pid_t, output: Int32, input: Int32)

    /// One at a time: a child that inherits the pipe of another would keep that one's output from
    /// ending.
    private static let starting = NSLock()

    /// - Parameters:
    ///   - program: A path, or a name that is looked for in PATH.
    ///   - environment: What is added to that of the tests.
    public static func start(
        _ program: String,
        _ arguments: [String],
        environment: [String: String] = [:],
        in folder: URL? = nil,
        errors: Errors = .shown
    ) throws -> Running {
        starting.lock()
        defer { starting.unlock() }
        let (output, input) = (try pipe(), try pipe())
        defer {
            close(output.toWrite)
            close(input.toRead)
        }
        #if canImport(Darwin)
            var actions: posix_spawn_file_actions_t?
        #else
            var actions = posix_spawn_file_actions_t()
        #endif
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, input.toRead, 0)
        posix_spawn_file_actions_adddup2(&actions, output.toWrite, 1)
        switch errors {
        case .shown: break
        case .dropped: posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
        case .withOutput: posix_spawn_file_actions_adddup2(&actions, output.toWrite, 2)
        }

        // A shell goes to the folder: not every C library can.
        let inFolder = ["-c", #"cd "$0" && exec "$@""#, folder?.path ?? "", program] + arguments
        let (program, arguments) = folder == nil ? (program, arguments) : ("/bin/sh", inFolder)
        let all = ProcessInfo.processInfo.environment.merging(environment) { _, new in new }
        let words = ([program] + arguments).map { strdup($0) } + [nil]
        let variables = all.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for pointer in words + variables { free(pointer) } }
        var identifier = pid_t()
        let status = posix_spawnp(&identifier, program, &actions, nil, words, variables)
        guard status == 0 else {
            close(output.toRead)
            close(input.toWrite)
            throw POSIXError(POSIXErrorCode(rawValue: status) ?? .EIO)
        }
        return (identifier, output.toRead, input.toWrite)
    }

    /// The two ends of a pipe, which children do not inherit.
    private static func pipe() throws -> (toRead: Int32, toWrite: Int32) {
        var ends: [Int32] = [0, 0]
        guard Foundation.pipe(&ends) == 0 else {
            throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
        }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return (ends[0], ends[1])
    }

    /// What can be read at once, after a wait if there is nothing; nothing at the end.
    public static func read(_ descriptor: Int32) -> Data {
        var chunk = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = Foundation.read(descriptor, &chunk, chunk.count)
            if count < 0, errno == EINTR { continue }
            return Data(chunk.prefix(max(0, count)))
        }
    }

    /// Waits for the end of a child.
    public static func wait(for identifier: pid_t) -> End {
        var status: Int32 = 0
        while waitpid(identifier, &status, 0) < 0, errno == EINTR {}
        let signal = status & 0x7F
        return signal == 0 ? .exited((status >> 8) & 0xFF) : .killed(signal)
    }

    /// Runs a program to its end.
    public static func run(
        _ program: String,
        _ arguments: [String],
        in folder: URL? = nil,
        errors: Errors = .dropped
    ) throws -> (end: End, output: String) {
        let child = try start(program, arguments, in: folder, errors: errors)
        close(child.input)
        defer { close(child.output) }
        var output = Data()
        while case let more = read(child.output), !more.isEmpty { output += more }
        return (wait(for: child.identifier), String(decoding: output, as: UTF8.self))
    }
}
