internal import Foundation

/// Where a command writes and whom it asks. Tests have one of their own.
struct Console: Sendable {
    /// What stands at the other ends.
    struct Surroundings: Sendable {
        var isOutputTerminal = false
        var isErrorTerminal = false
        var isInputTerminal = false
        /// The columns of the terminal.
        var width = 80
        var usesColor = false
        var home = ""
        var zone = TimeZone.current
        var now = Date()
    }

    var surroundings: Surroundings
    var write: @Sendable ([UInt8]) throws -> Void
    var writeError: @Sendable (String) -> Void
    var flush: @Sendable () throws -> Void = {}
    /// The next line of the input; `nil` at its end.
    var readAnswer: @Sendable () -> String? = { nil }

    @TaskLocal static var current = Console.standard

    /// Writes a line that is safe for a terminal.
    func print(_ line: String = "") throws {
        try write(Array((line + "\n").utf8))
    }

    /// Writes a document of JSON: on many lines on a terminal.
    func print(_ json: JSON) throws {
        try print(surroundings.isOutputTerminal ? json.pretty : json.line)
    }

    /// The columns of the output; `nil` if it is no terminal.
    var outputWidth: Int? { surroundings.isOutputTerminal ? surroundings.width : nil }

    /// Returns the text in a style, where the output has colours.
    func styled(_ text: String, _ style: Style) -> String {
        style(text, ifColored: surroundings.usesColor)
    }

    /// The path as it is shown.
    func path(_ path: String) -> String { Paths.shown(path, home: surroundings.home) }

    /// Asks whether something shall be done.
    ///
    /// - Throws: A ``Failure`` if the user does not want it, or nobody can be asked.
    func confirm(_ question: String, isAnswered: Bool) throws {
        if isAnswered { return }
        guard surroundings.isInputTerminal, surroundings.isErrorTerminal else {
            throw Failure(.usage, "nobody can be asked without a terminal: give --yes")
        }
        try flush()
        writeError("\(question) [y/N] ")
        let answer = readAnswer()?.trimmingCharacters(in: .whitespaces).lowercased()
        guard answer == "y" || answer == "yes" else {
            throw Failure(.cancelled, "nothing was changed")
        }
    }
}

extension Console {
    /// The console of this process.
    static let standard: Console = {
        let output = OutputStream(STDOUT_FILENO)
        let environment = ProcessInfo.processInfo.environment
        let isOutputTerminal = isatty(STDOUT_FILENO) == 1
        let hasColor = (environment["NO_COLOR"] ?? "").isEmpty && environment["TERM"] != "dumb"
        let surroundings = Surroundings(
            isOutputTerminal: isOutputTerminal,
            isErrorTerminal: isatty(STDERR_FILENO) == 1,
            isInputTerminal: isatty(STDIN_FILENO) == 1,
            width: columns(environment),
            usesColor: isOutputTerminal && hasColor,
            home: environment["HOME"] ?? NSHomeDirectory()
        )
        return Console(
            surroundings: surroundings,
            write: { try output.write($0) },
            writeError: { text in
                // Nothing is left to do if even that fails.
                do {
                    try Descriptors.write(Array(text.utf8), to: STDERR_FILENO, name: "errors")
                } catch {}
            },
            flush: { try output.flush() },
            readAnswer: { readLine() }
        )
    }()

    /// The width that `COLUMNS` says, or the terminal.
    private static func columns(_ environment: [String: String]) -> Int {
        if let columns = environment["COLUMNS"].flatMap(Int.init), 1...10_000 ~= columns {
            return columns
        }
        var size = winsize()
        for descriptor in [STDOUT_FILENO, STDERR_FILENO, STDIN_FILENO]
        where ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0 {
            return Int(size.ws_col)
        }
        return 80
    }
}
