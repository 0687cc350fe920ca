/// Paths as people read them.
enum Paths {
    /// Returns a path with `~` for the home folder, safe for a terminal.
    static func shown(_ path: String, home: String, width: Int = 1000) -> String {
        TerminalText.shown(abbreviated(path, home: home), width: width)
    }

    static func abbreviated(_ path: String, home: String) -> String {
        guard home.count > 1, path.hasPrefix(home) else { return path }
        let rest = path.dropFirst(home.count)
        return rest.isEmpty || rest.hasPrefix("/") ? "~" + rest : path
    }
}
