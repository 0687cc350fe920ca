internal import Foundation
internal import Logging
internal import Synchronization
internal import VellumCore

/// Logs failures of methods that do not throw: once while they go on, as ``FailureRuns`` says.
enum Report {
    private static let logger = Logger(label: "vellum.archives")

    /// Where calls fail: the archive of a type in a file. If the file could not be opened, its path
    /// is as its factory spells it.
    private struct Place: Hashable, Sendable {
        var type: ObjectIdentifier
        var path = ""
    }

    private static let runs = Locked<[Place: FailureRuns]>([:])
    /// Whether there are failures of files that a success would end.
    private static let isFailing = Atomic(false)

    static func failure(_ error: VellumError, operation: StaticString, _ type: Any.Type) {
        guard
            let count = count(
                error.code,
                Place(type: ObjectIdentifier(type), path: error.path ?? "")
            )
        else { return }
        log(
            .error,
            error.line(count: count),
            ["operation": "\(operation)", "type": "\(type)"]
        )
    }

    static func unopened(_ error: any Error, _ type: Any.Type, in file: URL) {
        let known = error as? VellumError
        let place = Place(type: ObjectIdentifier(type), path: file.path)
        guard let count = count(known?.code ?? .inputOutput, place) else { return }
        let reason = known?.line(count: count) ?? "\(Swift.type(of: error))"
        log(.error, "An archive cannot be opened. \(reason)", ["type": "\(type)"])
    }

    /// Logs the failures of an archive that a success ends. Costs one atomic load while no archive
    /// fails.
    static func succeeded(
        _ success: FailureRuns.Success,
        _ type: Any.Type,
        in file: URL,
        _ located: (VellumError) -> VellumError
    ) {
        guard isFailing.load(ordering: .relaxed) else { return }
        let type = ObjectIdentifier(type)
        let path = located(.closed).path ?? ""
        let ended = runs.withLock { runs in
            defer {
                isFailing.store(runs.values.contains { $0.hasFailuresOfFile }, ordering: .relaxed)
            }
            return Set([path, file.path]).sorted().flatMap {
                runs[Place(type: type, path: $0)]?.end(by: success) ?? []
            }
        }
        for run in ended { log(.notice, located(run.notice).located, [:]) }
    }

    /// Logs that a factory in memory could not close its file.
    static func notClosed(_ error: any Error) {
        log(
            .error,
            (error as? VellumError)?.located ?? "\(Swift.type(of: error))",
            ["operation": "close"]
        )
    }

    static func imported(_ counts: ImportCounts, _ archive: String) {
        logger.notice(
            "Objects of version 1 were imported: \(counts.imported). Skipped: \(counts.skipped).",
            metadata: ["archive": "\(archive)"]
        )
    }

    private static func count(_ code: VellumError.Code, _ place: Place) -> Int? {
        runs.withLock { runs in
            if runs.count >= 1000, runs[place] == nil { runs = [:] }
            if code.concernsFile { isFailing.store(true, ordering: .relaxed) }
            return runs[place, default: FailureRuns()].add(code)
        }
    }

    private static func log(_ level: Logger.Level, _ line: String, _ metadata: Logger.Metadata) {
        logger.log(level: level, "\(line)", metadata: metadata)
        LoggedLines.observer?(line)
    }
}
