internal import Foundation
internal import VellumEngine

/// Reads the text of a query, by recursive descent.
struct QueryParser {
    private enum Token: Equatable {
        case word(String)
        /// A word in back quotes, which is no keyword.
        case name(String)
        case literal(Literal)
        case symbol(String)
        case end
    }

    private let text: String
    private let characters: [Character]
    private var position = 0
    /// The next token, and where it begins.
    private var next = Token.end
    private var start = 0
    /// How deep parentheses and `not` are nested, which bounds the stack.
    private var depth = 0

    private typealias SyntaxError = RawQuery.SyntaxError

    init(_ text: String) {
        self.text = text
        characters = Array(text)
    }

    mutating func query() throws(RawQuery.SyntaxError) -> RawQuery {
        var query = RawQuery()
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

    private mutating func alternatives() throws(RawQuery.SyntaxError) -> Condition<FieldTest> {
        var parts = [try conjunction()]
        while try take("or", "||") { parts.append(try conjunction()) }
        return parts.count == 1 ? parts[0] : .any(parts)
    }

    private mutating func conjunction() throws(RawQuery.SyntaxError) -> Condition<FieldTest> {
        var parts = [try negation()]
        while try take("and", "&&") { parts.append(try negation()) }
        return parts.count == 1 ? parts[0] : .all(parts)
    }

    private mutating func negation() throws(RawQuery.SyntaxError) -> Condition<FieldTest> {
        depth += 1
        defer { depth -= 1 }
        guard depth < 100 else { throw error("This is nested too deep.") }
        if try take("not", "!") { return .not(try negation()) }
        guard try take("(") else { return try test() }
        let inner = try alternatives()
        guard try take(")") else { throw error("Expected ')'.") }
        return inner
    }

    private mutating func test() throws(RawQuery.SyntaxError) -> Condition<FieldTest> {
        let field = try self.field()
        func test(_ relation: FieldTest.Relation) -> Condition<FieldTest> {
            .test(FieldTest(field: field, relation: relation))
        }
        if try take("==", "=") { return test(Self.equality(try literal())) }
        if try take("!=", "<>") {
            return .not(test(Self.equality(try literal())))
        }
        if try take("<=") { return test(.isLess(try literal(), orEqual: true)) }
        if try take("<") { return test(.isLess(try literal(), orEqual: false)) }
        if try take(">=") { return test(.isGreater(try literal(), orEqual: true)) }
        if try take(">") { return test(.isGreater(try literal(), orEqual: false)) }
        if try take("contains") { return test(.contains(try literal())) }
        if try take("begins") {
            _ = try take("with")
            guard case .literal(.text(let start)) = next else {
                throw error("Expected a text in quotes.")
            }
            try advance()
            return test(.begins(start))
        }
        guard try take("in") else {
            throw error("Expected '==', '!=', '<', '<=', '>', '>=', 'in', 'begins' or 'contains'.")
        }
        guard try take("(") else { throw error("Expected '('.") }
        var literals = [Literal]()
        var hasNull = false
        repeat {
            let literal = try self.literal()
            if literal == .null { hasNull = true } else { literals.append(literal) }
        } while try take(",")
        guard try take(")") else { throw error("Expected ',' or ')'.") }
        return hasNull
            ? .any([test(.isIn(literals)), test(.isNull)])
            : test(.isIn(literals))
    }

    private static func equality(_ literal: Literal) -> FieldTest.Relation {
        literal == .null ? .isNull : .isEqual(literal)
    }

    private mutating func field() throws(RawQuery.SyntaxError) -> FieldPath {
        var names: [String] = []
        repeat {
            switch next {
            case .word(let word) where names.isEmpty && Self.keywords.contains(word.lowercased()):
                throw error("Expected a field. One that is named '\(word)' stands in back quotes.")
            case .word(let name), .name(let name): names.append(name)
            default: throw error("Expected a field.")
            }
            try advance()
        } while try take(".")
        return FieldPath(names: names)
    }

    private mutating func literal() throws(RawQuery.SyntaxError) -> Literal {
        switch next {
        case .literal(let literal):
            try advance()
            return literal
        case .word(let word):
            guard let literal = Self.words[word.lowercased()] else {
                throw error("Expected a value. A text stands in quotes.")
            }
            try advance()
            return literal
        default:
            throw error(
                "Expected a value: a text in quotes, a number, a date, true, false or null."
            )
        }
    }

    private mutating func count() throws(RawQuery.SyntaxError) -> Int {
        guard case .literal(.integer(let number)) = next, number >= 0 else {
            throw error("Expected a number that is not negative.")
        }
        try advance()
        return Int(clamping: number)
    }

    private static let words: [String: Literal] = [
        "true": .bool(true),
        "false": .bool(false),
        "null": .null,
        "nil": .null,
    ]
    private static let keywords: Set = [
        "and", "or", "not", "in", "begins", "contains", "sort", "limit", "offset", "asc", "desc",
        "true", "false", "null", "nil",
    ]

    // MARK: Tokens

    private func error(_ message: String) -> RawQuery.SyntaxError {
        RawQuery.SyntaxError(text: text, offset: start, message: message)
    }

    private func isNext(_ words: Set<String>) -> Bool {
        if case .word(let word) = next {
            words.contains(word.lowercased())
        } else {
            false
        }
    }

    /// Goes past a keyword or symbol, if that is next.
    private mutating func take(_ texts: String...) throws(RawQuery.SyntaxError) -> Bool {
        guard
            texts.contains(where: { next == .symbol($0) })
                || isNext(Set(texts))
        else {
            return false
        }
        try advance()
        return true
    }

    private mutating func advance() throws(RawQuery.SyntaxError) {
        while position < characters.count, characters[position].isWhitespace { position += 1 }
        start = position
        guard position < characters.count else { return next = .end }
        let first = characters[position]
        switch first {
        case "\"", "'": next = .literal(.text(try quoted(first)))
        case "`": next = .name(try quoted(first))
        case "0"..."9" where first.isASCII: next = .literal(try numberOrDate())
        case "-" where position + 1 < characters.count && characters[position + 1].isWholeNumber:
            next = .literal(try numberOrDate())
        case _ where first.isLetter || first == "_" || first == "$":
            next = .word(taken { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "$" })
        default:
            let pair =
                position + 1 < characters.count ? String(characters[position...position + 1]) : ""
            let symbol =
                [
                    "==", "!=", "<>", "<=", ">=", "&&", "||",
                ].contains(pair) ? pair : String(first)
            guard symbol.count == 2 || "=<>()!,.".contains(first) else {
                throw error("This character has no meaning here.")
            }
            position += symbol.count
            next = .symbol(symbol)
        }
    }

    private mutating func taken(while isPart: (Character) -> Bool) -> String {
        let begin = position
        while position < characters.count, isPart(characters[position]) { position += 1 }
        return String(characters[begin..<position])
    }

    /// A text up to the same mark, in which a backslash stands before a mark, a backslash, `n` or
    /// `t`.
    private mutating func quoted(_ mark: Character) throws(RawQuery.SyntaxError) -> String {
        var text = ""
        position += 1
        while position < characters.count {
            let character = characters[position]
            position += 1
            if character == mark { return text }
            guard character == "\\" else {
                text.append(character)
                continue
            }
            guard position < characters.count else { break }
            text.append(["n": "\n", "t": "\t"][characters[position]] ?? characters[position])
            position += 1
        }
        throw error("The quote is not closed.")
    }

    private mutating func numberOrDate() throws(RawQuery.SyntaxError) -> Literal {
        var text = ""
        repeat {
            text.append(characters[position])
            position += 1
        } while position < characters.count && Self.continues(text, characters[position])
        if let integer = Int128(text) { return .integer(integer) }
        if text.count >= 10, text.dropFirst(4).first == "-" {
            guard let date = Self.date(text) else {
                throw error("This is not a date. Write 2026-03-01 or 2026-03-01T08:00:00Z.")
            }
            return .date(date)
        }
        guard let number = Double(text), number.isFinite else {
            throw error("This is not a number that can be compared.")
        }
        return .number(number)
    }

    private static func continues(_ text: String, _ character: Character) -> Bool {
        guard character.isASCII else { return false }
        if character.isNumber || character.isLetter || character == "." || character == ":" {
            return true
        }
        return (character == "-" || character == "+")
            && (text.last == "e" || text.last == "E" || [4, 7].contains(text.count)
                || text.contains("T"))
    }

    /// The moment of a date, which begins in Greenwich unless the text has a time.
    private static func date(_ text: String) -> Date? {
        MomentText.seconds(text).map { Date(timeIntervalSince1970: Double($0.whole) + $0.fraction) }
    }
}
