package import Foundation
package import TestThreads
internal import VellumCore

/// A child process that can be killed at any time, and its output.
package final class Spawned {
    package typealias End = Child.End

    package let identifier: pid_t
    private let output: Int32
    private let input: Int32
    private var buffer: [UInt8] = []

    /// Returns the path of a program in the folder of the tests.
    private static func path(of program: String) -> String? {
        let beside =
            Bundle.allBundles.map { $0.bundleURL.deletingLastPathComponent() } + [
                Bundle.main.bundleURL
            ]
        return beside.map { $0.appendingPathComponent(program).path }.first(
            where: FileManager.default.isExecutableFile
        )
    }

    /// - Parameters:
    ///   - program: Its name, in the folder of the tests.
    ///   - logs: Whether its log messages are among its lines.
    package init(
        _ arguments: [String],
        of program: String = "CrashChild",
        environment: [String: String] = [:],
        logs: Bool = false
    ) throws {
        Work.kills.count()
        guard let program = Self.path(of: program) else { throw CocoaError(.fileNoSuchFile) }
        let errors: Child.Errors = logs ? .withOutput : .shown
        (identifier, output, input) = try Child.start(
            program,
            arguments,
            environment: environment,
            errors: errors
        )
    }

    deinit {
        close(output)
        close(input)
    }

    /// Sends a line to the process.
    ///
    /// - Returns: Its answer.
    package func ask(_ line: String) -> String? { send(line) ? self.line() : nil }

    /// Sends a line to the process.
    ///
    /// - Returns: Whether it was sent.
    package func send(_ line: String) -> Bool {
        let bytes = Array((line + "\n").utf8)
        return write(input, bytes, bytes.count) == bytes.count
    }

    /// Returns the next line; `nil` at the end of the output.
    package func line() -> String? {
        while true {
            if let end = buffer.firstIndex(of: UInt8(ascii: "\n")) {
                let line = String(decoding: buffer[..<end], as: UTF8.self)
                buffer.removeSubrange(...end)
                return line
            }
            let more = Child.read(output)
            guard !more.isEmpty else { return nil }
            buffer += more
        }
    }

    /// Kills the process after a number of microseconds, unless it ends before. On a busy machine
    /// it is later, which no test depends on: any moment is a good one.
    package func kill(afterMicroseconds microseconds: Int) {
        let clock = ContinuousClock()
        let instant = clock.now + .microseconds(microseconds)
        var descriptor = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
        let polled = Int32(microseconds / 1000 - 1)
        let hasEnded = microseconds > 2000 && poll(&descriptor, 1, polled) > 0
        if !hasEnded {
            let (seconds, attoseconds) = (instant - clock.now).components
            // A sleep ends a little late. The rest is too short for one.
            let rest = seconds * 1_000_000 + attoseconds / 1_000_000_000_000 - 100
            if rest > 0 { usleep(UInt32(clamping: rest)) }
            while clock.now < instant {}
        }
        _ = Foundation.kill(identifier, SIGKILL)
    }

    /// Waits until the process has stopped, or has ended. One that has ended stays a zombie.
    package func waitUntilStopped() {
        var state = siginfo_t()
        while waitid(P_PID, id_t(identifier), &state, WSTOPPED | WEXITED | WNOWAIT) < 0,
            errno == EINTR
        {}
    }

    /// Lets a stopped process go on.
    package func proceed() { _ = Foundation.kill(identifier, SIGCONT) }

    /// Kills the process, and leaves it a zombie.
    package func killUnreaped() {
        _ = Foundation.kill(identifier, SIGKILL)
        var state = siginfo_t()
        while waitid(P_PID, id_t(identifier), &state, WEXITED | WNOWAIT) < 0, errno == EINTR {}
    }

    /// Kills the process.
    ///
    /// - Returns: Its remaining output.
    package func kill() -> [String] {
        _ = Foundation.kill(identifier, SIGKILL)
        return end().lines
    }

    /// Waits for the process to end.
    ///
    /// - Returns: How it ended, and its remaining output.
    package func end() -> (end: End, lines: [String]) {
        var lines: [String] = []
        while let line = line() { lines.append(line) }
        return (Child.wait(for: identifier), lines)
    }
}
