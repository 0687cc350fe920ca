import Foundation
import Synchronization

/// The built server, as a process of its own, with a folder of its own.
final class ServerProcess: Sendable {
    let folder: URL
    let port: Int
    private let process: Process
    private let ended: AsyncStream<Void>

    /// - Parameter bankDelay: How long the source of rates takes, in milliseconds.
    init(bankDelay: Int = 200) throws {
        folder = FileManager.default.temporaryDirectory.appending(
            path: "Server-\(UUID().uuidString)"
        )
        process = Process()
        process.executableURL = URL(fileURLWithPath: CommandLine.arguments[0])
            .deletingLastPathComponent().appending(path: "Server")
        process.arguments = [folder.path, "0"]
        process.environment = ProcessInfo.processInfo.environment.merging([
            "BANK_MILLISECONDS": "\(bankDelay)"
        ]) { $1 }
        let log = Pipe()
        process.standardError = log
        let (ended, end) = AsyncStream<Void>.makeStream()
        self.ended = ended
        process.terminationHandler = { _ in end.finish() }
        try process.run()
        var text = ""
        // Hummingbird logs where it listens.
        while true {
            let more = log.fileHandleForReading.availableData
            guard !more.isEmpty else {
                throw Connection.Failure(reason: "The server did not start: \(text)")
            }
            text += String(decoding: more, as: UTF8.self)
            if let port = text.firstMatch(of: /listening on 127.0.0.1:(\d+)/).flatMap({ Int($0.1) })
            {
                self.port = port
                break
            }
        }
        // What it logs later is not kept.
        log.fileHandleForReading.readabilityHandler = { handle in
            if handle.availableData.isEmpty { handle.readabilityHandler = nil }
        }
    }

    deinit {
        if process.isRunning { kill(process.processIdentifier, SIGKILL) }
        do { try FileManager.default.removeItem(at: folder) } catch { assertionFailure("\(error)") }
    }

    func terminate() { kill(process.processIdentifier, SIGTERM) }

    /// Waits for the end of the process.
    ///
    /// - Returns: Its status, or the negative number of the signal that ended it.
    func end() async -> Int32 {
        for await _ in ended {}
        return process.terminationReason == .exit
            ? process.terminationStatus : -process.terminationStatus
    }

    /// Asks for the state until it is as wanted. Ten minutes at most, for a server that hangs.
    func waitUntil(_ isWanted: (String) -> Bool) throws -> Bool {
        let clock = ContinuousClock()
        let limit = clock.now + .seconds(600)
        let connection = try Connection(port: port)
        while clock.now < limit {
            if isWanted(try connection.answer(to: "GET", "/statistics").body) { return true }
            usleep(1000)
        }
        return false
    }
}
