/// Which failures of an archive or a cache are logged, so that a file that cannot be used does not
/// fill the log.
///
/// A file that cannot be opened, read or written fails every call in the same way. The first
/// failure is logged, and how many there were when the file is opened or written again. A failure
/// of one entry or one call, such as a value that cannot be encoded, says nothing of the next call:
/// the 1st, 10th, 100th and so on with a code are logged.
package struct FailureRuns: Sendable {
    private var counts: [VellumError.Code: Int] = [:]

    package init() {}

    /// Whether there are failures of the file that a success would end.
    package var hasFailuresOfFile: Bool { counts.keys.contains { $0.concernsFile } }

    /// Counts a failure.
    ///
    /// - Returns: How many there were with its code, this one included, if it is to be logged;
    ///   otherwise `nil`.
    package mutating func add(_ code: VellumError.Code) -> Int? {
        let count = counts[code, default: 0] + 1
        counts[code] = count
        let isLogged = code.concernsFile ? count == 1 : Self.isPowerOfTen(count)
        return isLogged ? count : nil
    }

    /// What succeeded after failures.
    package enum Success: Sendable {
        /// The file was opened. It may still be full, or not be writable.
        case opening
        /// A value was written.
        case writing
    }

    /// Failures with one code that are over.
    package struct Ended: Equatable, Sendable {
        package let code: VellumError.Code
        package let count: Int
        package let success: Success

        /// The line of the log, as an error that can be located.
        package var notice: VellumError {
            let calls = count == 1 ? "1 call" : "\(count) calls"
            let done = success == .opening ? "opened" : "written"
            return VellumError(
                code,
                "The file could be \(done) again; \(calls) failed meanwhile with the code \(code)."
            )
        }
    }

    /// Ends the failures that a success shows to be over, and returns them in the order of their
    /// codes.
    package mutating func end(by success: Success) -> [Ended] {
        guard hasFailuresOfFile else { return [] }
        let ended = counts.filter { code, _ in
            code.concernsFile && (success == .writing || code != .diskFull && code != .readOnly)
        }
        for code in ended.keys { counts[code] = nil }
        return ended.sorted { $0.key.description < $1.key.description }.map {
            Ended(code: $0.key, count: $0.value, success: success)
        }
    }

    private static func isPowerOfTen(_ number: Int) -> Bool {
        var rest = number
        while rest > 1, rest.isMultiple(of: 10) { rest /= 10 }
        return rest == 1
    }
}

extension VellumError.Code {
    /// Whether a failure with this code concerns the file, and so every call, and not one entry or
    /// one call.
    package var concernsFile: Bool { Self.ofFile.contains(self) }

    private static let ofFile: Set<Self> = [
        .closed, .cannotOpen, .notADatabase, .foreignFile, .wrongKind, .newerFormat, .damagedFile,
        .diskFull, .readOnly, .busy, .vanished,
        .networkFileSystem, .suspended, .forked, .inputOutput, .deviceLocked,
    ]
}

/// The lines that archives and caches log, for tests: swift-log can be set up only once in a
/// process.
package enum LoggedLines {
    /// Receives each line that is logged in the task.
    @TaskLocal package static var observer: (@Sendable (String) -> Void)?
}

extension VellumError {
    /// The line of the log for the failure that is the `count`th with its code.
    package func line(count: Int) -> String {
        count == 1 ? description : "\(description) (the \(count)th time)"
    }
}
