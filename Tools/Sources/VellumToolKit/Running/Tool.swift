internal import ArgumentParser
internal import Foundation

/// Runs the tool: from a command line to a status.
package enum Tool {
    /// Runs the command line of this process.
    package static func main() async -> Int32 {
        // Nobody else reads what is created, whoever creates it.
        umask(0o077)
        Descriptors.holdStandardStreams()
        Interrupts.shared.start()
        ToolLog.start()
        return await run(Array(CommandLine.arguments.dropFirst()), console: .standard)
    }

    /// Runs a command line.
    static func run(_ arguments: [String], console: Console) async -> Int32 {
        await Console.$current.withValue(console) {
            let status: Status
            do {
                try await runCommand(arguments)
                status = .success
            } catch {
                status = report(error, arguments: arguments, console: console)
            }
            do {
                try console.flush()
            } catch {
                return (said(error, console) ?? status).rawValue
            }
            return status.rawValue
        }
    }

    /// Says why the output could not be written, and returns the status; `nil` if nobody reads it.
    private static func said(_ error: any Error, _ console: Console) -> Status? {
        guard let failure = Failure.of(error, home: console.surroundings.home) else {
            return nil
        }
        say(failure, console)
        return failure.status
    }

    private static func runCommand(_ arguments: [String]) async throws {
        try checkName(arguments)
        var command = try VellumCommand.parseAsRoot(withKeys(arguments))
        if var command = command as? any AsyncParsableCommand {
            try await command.run()
        } else {
            try command.run()
        }
    }

    private static func takesKeys(_ arguments: [String]) -> Bool {
        ["get", "delete"].contains(arguments.first)
    }

    /// A key such as `-1` is no option: such words go behind `--`.
    private static func withKeys(_ arguments: [String]) -> [String] {
        guard takesKeys(arguments), !arguments.contains("--") else {
            return arguments
        }
        let isKey = { (word: String) in
            word.wholeMatch(of: /-[0-9].*/) != nil
        }
        let keys = arguments.filter(isKey)
        return keys.isEmpty ? arguments : arguments.filter { !isKey($0) } + ["--"] + keys
    }

    /// Says what to do if the first word is no command.
    private static func checkName(_ arguments: [String]) throws {
        guard let name = arguments.first, !name.hasPrefix("-") else {
            return
        }
        let names =
            VellumCommand.configuration.subcommands.compactMap { $0.configuration.commandName } + [
                "help"
            ]
        guard !names.contains(name) else { return }
        let shown = TerminalText.shown(name, width: 60)
        let isFile = FileManager.default.fileExists(atPath: name)
        throw Failure(
            .usage,
            """
            there is no command \(shown); \
            \(isFile ? "did you mean vellum ls \(shown)?" : "see vellum --help")
            """
        )
    }

    /// Says what went wrong, and returns the status.
    static func report(_ error: any Error, arguments: [String], console: Console) -> Status {
        let code = VellumCommand.exitCode(for: error)
        if code == .success {
            // Help, the version and completions are results.
            do { try console.print(VellumCommand.fullMessage(for: error)) } catch {
                return said(error, console) ?? .success
            }
            return .success
        }
        if code == .validationFailure, !(error is Failure) {
            let sentence =
                VellumCommand.message(for: error).split(whereSeparator: \.isNewline).first.map(
                    String.init
                ) ?? "wrong arguments"
            let command =
                arguments.first.map {
                    $0.hasPrefix("-") ? "" : " \(TerminalText.shown($0, width: 40))"
                } ?? ""
            let hasDash = arguments.dropFirst().contains { $0.hasPrefix("-") }
            let hint =
                takesKeys(arguments) && hasDash
                ? "; a key that begins with - stands behind --" : ""
            say(
                Failure(
                    .usage,
                    "\(TerminalText.shown(sentence, width: 300)) (vellum\(command) --help\(hint))"
                ),
                console
            )
            return .usage
        }
        guard let failure = Failure.of(error, home: console.surroundings.home) else {
            return .success
        }
        do {
            // What was found before stands above the message.
            try console.flush()
        } catch {
            return said(error, console) ?? .success
        }
        say(failure, console)
        return failure.status
    }

    private static func say(_ failure: Failure, _ console: Console) {
        guard let message = failure.message else { return }
        console.writeError(
            (["vellum: \(message)"] + failure.details).joined(separator: "\n") + "\n"
        )
    }
}
