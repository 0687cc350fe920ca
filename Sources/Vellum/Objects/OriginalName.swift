internal import Foundation

/// The names of the folders in which version 1 kept the objects of a type.
enum OriginalName {
    /// Returns the names to look for: the type's own archive name, if version 1 had it already, and
    /// the name that version 1 made.
    ///
    /// - Parameter formerNames: Earlier names of the archive.
    static func folders<Archive: Archivable>(
        of type: Archive.Type,
        formerNames: [String]
    ) -> [String] {
        var names = [Archive.archiveName, made(of: String(describing: type))]
        for former in formerNames {
            names += [
                former,
                made(
                    of: former.split(separator: ".").last.map(String.init) ?? former
                ),
            ]
        }
        var seen: Set<String> = []
        return names.filter { seen.insert($0).inserted }
    }

    /// The default name of version 1: the letters and digits of the type's short name, in snake
    /// case.
    static func made(of typeName: String) -> String {
        let letters = typeName.filter { $0.isLetter || $0.isNumber }
        // Version 1 counted characters where the expression counts UTF-16 units, so that the end of
        // a name with emoji was left as it was.
        let acronyms = separated(letters, #"([A-Z]+)([A-Z][a-z]|[0-9])"#)
        return "vellum_" + separated(acronyms, #"([a-z0-9])([A-Z])"#).lowercased()
    }

    private static func separated(_ text: String, _ pattern: String) -> String {
        do {
            return try NSRegularExpression(pattern: pattern).stringByReplacingMatches(
                in: text,
                range: NSRange(location: 0, length: text.count),
                withTemplate: "$1_$2"
            )
        } catch {
            return text  // Not reached: the patterns are valid.
        }
    }
}
