internal import Foundation
internal import VellumFiles

/// Reads the text of a query, by recursive descent.
///
/// Scalar by scalar: a mark that a text begins with is one character with the quote before it.
struct QueryParser {
    private enum Token: Equatable {
        case word(String)
        /// A word in back quotes, which is no keyword.
        case name(String)
        /// A number, a date or a text.
        case literal(Scalar)
        case symbol(String)
        case end
    }

    private let scalars: [Unicode.Scalar]
    private var position = 0
    /// The next token, and where it begins.
    private var next = Token.end
    private var start = 0
    /// How deep parentheses and `not` are nested, which bounds the stack.
    private var depth = 0

    typealias SyntaxError = Query.SyntaxError

    init(_ text: String) {
        scalars = Array(text.unicodeScalars)
    }

    mutating func query() throws(SyntaxError) -> Query {
        var query = Query()
        try advance()
        if next != .end, !isNext(["sort", "limit", "offset"]) {
            query.condition = try alternatives()
        }
        while next != .end {
            if try take("sort") {
                guard query.sorts.isEmpty else { throw error("There is a sort already.") }
                _ = try take("by")
                repeat {
                    let field = try self.field()
                    let isDescending = try take("desc")
                    if !isDescending { _ = try take("asc") }
                    query.sorts.append(.init(field: field, isDescending: isDescending))
                } while try take(",")
            } else if try take("limit") {
                query.limit = try count()
            } else if try take("offset") {
                query.offset = try count()
            } else {
                throw error("Expected 'and', 'or', 'sort', 'limit', 'offset' or the end.")
            }
        }
        return query
    }

    // MARK: Conditions

    private mutating func alternatives() throws(SyntaxError) -> Query.Condition {
        var parts = [try conjunction()]
        while try take("or", "||") { parts.append(try conjunction()) }
        return { object in parts.contains { $0(object) } }
    }

    private mutating func conjunction() throws(SyntaxError) -> Query.Condition {
        var parts = [try negation()]
        while try take("and", "&&") { parts.append(try negation()) }
        return { object in parts.allSatisfy { $0(object) } }
    }

    private mutating func negation() throws(SyntaxError) -> Query.Condition {
        depth += 1
        defer { depth -= 1 }
        guard depth < 100 else { throw error("This is nested too deep.") }
        if try take("not", "!") {
            let inner = try negation()
            return { !inner($0) }
        }
        guard try take("(") else { return try test() }
        let inner = try alternatives()
        guard try take(")") else { throw error("Expected ')'.") }
        return inner
    }

    private mutating func test() throws(SyntaxError) -> Query.Condition {
        let field = try self.field()
        func order(_ isRight: @escaping (Int) -> Bool) throws(SyntaxError) -> Query.Condition {
            guard let literal = try self.literal() else {
                return { _ in false }
            }
            return { Scalar.order(Scalar($0[field]), literal).map(isRight) ?? false }
        }
        if try take("==", "=") {
            return Self.isEqual(field, to: [try literal()])
        }
        if try take("!=", "<>") {
            let isEqual = Self.isEqual(field, to: [try literal()])
            return { !isEqual($0) }
        }
        if try take("<=") { return try order { $0 <= 0 } }
        if try take("<") { return try order { $0 < 0 } }
        if try take(">=") { return try order { $0 >= 0 } }
        if try take(">") { return try order { $0 > 0 } }
        if try take("contains") {
            return Self.contains(field, try literal())
        }
        if try take("begins") {
            _ = try take("with")
            guard case .literal(.text(let start)) = next else {
                throw error("Expected a text in quotes.")
            }
            try advance()
            return { object in
                guard case .text(let text) = Scalar(object[field]) else {
                    return false
                }
                return text.starts(with: start)
            }
        }
        guard try take("in") else {
            throw error("Expected '==', '!=', '<', '<=', '>', '>=', 'in', 'begins' or 'contains'.")
        }
        guard try take("(") else { throw error("Expected '('.") }
        var literals = [Scalar?]()
        repeat { literals.append(try literal()) } while try take(",")
        guard try take(")") else { throw error("Expected ',' or ')'.") }
        return Self.isEqual(field, to: literals)
    }

    private static func isEqual(_ field: FieldPath, to literals: [Scalar?]) -> Query.Condition {
        { object in
            let value = Scalar(object[field])
            return literals.contains { Scalar.order(value, $0) == 0 }
        }
    }

    /// A part of a text, or an element of a list.
    private static func contains(_ field: FieldPath, _ literal: Scalar?) -> Query.Condition {
        { object in
            let value = object[field]
            if case .array(let elements) = value {
                return elements.contains { Scalar.order(Scalar($0), literal) == 0 }
            }
            guard case .text(let part) = literal, case .text(let text) = Scalar(value) else {
                return false
            }
            return part.isEmpty || text.contains(part)
        }
    }

    private mutating func field() throws(SyntaxError) -> FieldPath {
        var names: FieldPath = []
        while true {
            switch next {
            case .word(let word) where names.isEmpty && Self.keywords.contains(word.lowercased()):
                throw error("Expected a field. One that is named '\(word)' stands in back quotes.")
            case .word(let name), .name(let name):
                names.append(name)
            default: throw error("Expected a field.")
            }
            try advance()
            guard next == .symbol(".") else { return names }
            try advance(isInPath: true)
        }
    }

    private mutating func literal() throws(SyntaxError) -> Scalar? {
        switch next {
        case .literal(let literal):
            try advance()
            return literal
        case .word(let word):
            let literal: Scalar? =
                switch word.lowercased() {
                case "true": .bool(true)
                case "false": .bool(false)
                case "null", "nil": nil
                default: throw error("Expected a value. A text stands in quotes.")
                }
            try advance()
            return literal
        default:
            throw error(
                "Expected a value: a text in quotes, a number, a date, true, false or null."
            )
        }
    }

    private mutating func count() throws(SyntaxError) -> Int {
        guard case .literal(.integer(let number)) = next, number >= 0 else {
            throw error("Expected a number that is not negative.")
        }
        try advance()
        return Int(clamping: number)
    }

    private static let keywords: Set = [
        "and", "or", "not", "in", "begins", "contains", "sort", "limit", "offset", "asc", "desc",
        "true", "false", "null", "nil",
    ]

    // MARK: Tokens

    private func error(_ message: String) -> SyntaxError {
        SyntaxError(offset: start, message: message)
    }

    private func isNext(_ words: Set<String>) -> Bool {
        if case .word(let word) = next {
            words.contains(word.lowercased())
        } else {
            false
        }
    }

    /// Goes past a keyword or symbol, if that is next.
    private mutating func take(_ texts: String...) throws(SyntaxError) -> Bool {
        guard
            texts.contains(where: { next == .symbol($0) })
                || isNext(Set(texts))
        else {
            return false
        }
        try advance()
        return true
    }

    /// - Parameter isInPath: Whether digits are the number of an element.
    private mutating func advance(isInPath: Bool = false) throws(SyntaxError) {
        while position < scalars.count, scalars[position].properties.isWhitespace { position += 1 }
        start = position
        guard position < scalars.count else { return next = .end }
        let first = scalars[position]
        let isLast = position + 1 == scalars.count
        let second = isLast ? " " : scalars[position + 1]
        switch first {
        case "0"..."9" where isInPath: next = .word(taken { $0.isPartOfName })
        case "\"", "'": next = .literal(.text(try quoted(first)))
        case "`": next = .name(try quoted(first))
        case "0"..."9": next = .literal(try numberOrDate())
        case "-" where "0"..."9" ~= second: next = .literal(try numberOrDate())
        case _ where first.properties.isIDStart || first == "_" || first == "$":
            next = .word(taken { $0.isPartOfName })
        default:
            let pair = "\(first)\(second)"
            let symbol =
                ["==", "!=", "<>", "<=", ">=", "&&", "||"].contains(pair) ? pair : "\(first)"
            guard symbol == pair || "=<>()!,.".unicodeScalars.contains(first) else {
                throw error("This character has no meaning here.")
            }
            position += symbol == pair ? 2 : 1
            next = .symbol(symbol)
        }
    }

    private mutating func taken(while isPart: (Unicode.Scalar) -> Bool) -> String {
        let part = scalars[position...].prefix(while: isPart)
        position = part.endIndex
        return String(String.UnicodeScalarView(part))
    }

    /// A text up to the same mark, with the escapes of JSON and those that the tool prints.
    private mutating func quoted(_ mark: Unicode.Scalar) throws(SyntaxError) -> String {
        var text = String.UnicodeScalarView()
        position += 1
        while position < scalars.count {
            let scalar = scalars[position]
            position += 1
            if scalar == mark { return String(text) }
            text.append(scalar == "\\" ? try escaped() : scalar)
        }
        throw error("The quote is not closed.")
    }

    /// What stands behind a backslash.
    private mutating func escaped() throws(SyntaxError) -> Unicode.Scalar {
        guard position < scalars.count else { throw error("The quote is not closed.") }
        let scalar = scalars[position]
        position += 1
        switch scalar {
        case "b": return "\u{8}"
        case "f": return "\u{C}"
        case "n": return "\n"
        case "r": return "\r"
        case "t": return "\t"
        case "u": break
        default: return scalar
        }
        var code = try digits()
        if 0xD800..<0xDC00 ~= code, scalars[position...].starts(with: "\\u".unicodeScalars) {
            position += 2
            let low = try digits()
            guard 0xDC00..<0xE000 ~= low else { throw error("An escape is no character.") }
            code = 0x10000 + (code - 0xD800) << 10 + (low - 0xDC00)
        }
        guard let scalar = Unicode.Scalar(code) else {
            throw error("An escape is no character.")
        }
        return scalar
    }

    /// Four digits of base 16, or some in braces.
    private mutating func digits() throws(SyntaxError) -> UInt32 {
        let rest = scalars[position...]
        let hasBraces = rest.first == "{"
        let inside = rest.dropFirst().prefix(7).prefix { $0 != "}" }
        let digits = hasBraces ? inside : rest.prefix(4)
        position = min(digits.endIndex + (hasBraces ? 1 : 0), scalars.count)
        let text = String(String.UnicodeScalarView(digits))
        guard hasBraces || digits.count == 4, let code = UInt32(text, radix: 16) else {
            throw error("An escape is no character.")
        }
        return code
    }

    private mutating func numberOrDate() throws(SyntaxError) -> Scalar {
        var text = ""
        repeat {
            text.unicodeScalars.append(scalars[position])
            position += 1
        } while position < scalars.count && Self.continues(text, scalars[position])
        if text.utf8.count >= 10, text.dropFirst(4).first == "-" {
            guard let date = Scalar.date(text) else {
                throw error("This is not a date. Write 2026-03-01 or 2026-03-01T08:00:00Z.")
            }
            return .date(date)
        }
        guard let number = Scalar.number(text) else {
            throw error("This is not a number that can be compared.")
        }
        return number
    }

    private static func continues(_ text: String, _ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "0"..."9", "A"..."Z", "a"..."z", ".", ":": true
        case "-", "+":
            text.last == "e" || text.last == "E" || [4, 7].contains(text.utf8.count)
                || text.utf8.contains(UInt8(ascii: "T"))
        default: false
        }
    }
}

extension Unicode.Scalar {
    /// Whether a field may have the scalar in its name without quotes.
    fileprivate var isPartOfName: Bool { properties.isIDContinue || isJoiner || self == "$" }
}
