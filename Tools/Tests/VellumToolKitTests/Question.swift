import Foundation
import VellumFiles

@testable import VellumToolKit

/// A condition as text, and what it means in Swift.
struct Question {
    var text: String
    var holds: (Thing) -> Bool

    /// A text as JSON has it, or between other marks.
    static func quoted(_ text: String, _ random: inout Seeded) -> String {
        if .random(using: &random) { return CBORValue.text(text).json() }
        let mark = random.one(of: ["'", "\""])
        let scalars = text.unicodeScalars.map { scalar in
            (mark + "\\").unicodeScalars.contains(scalar) ? "\\\(scalar)" : "\(scalar)"
        }
        return mark + scalars.joined() + mark
    }

    /// A name of a field between back quotes.
    static func quoted(field: String) -> String {
        let scalars = field.unicodeScalars.map { "`\\".contains("\($0)") ? "\\\($0)" : "\($0)" }
        return "`\(scalars.joined())`"
    }

    private static func order<Value: Comparable>(
        _ field: String,
        _ text: String,
        _ operand: Value,
        _ random: inout Seeded,
        _ read: @escaping (Thing) -> Value?
    ) -> Question {
        let tests: [(String, (Value, Value) -> Bool)] = [
            ("==", ==), ("=", ==), ("<", <), ("<=", <=), (">", >), (">=", >=),
        ]
        if Int.random(in: 0..<6, using: &random) == 0 {
            let sign = random.one(of: ["!=", "<>"])
            return Question(text: "\(field) \(sign) \(text)") { read($0) != operand }
        }
        let test = random.one(of: tests)
        return Question(text: "\(field) \(test.0) \(text)") { thing in
            read(thing).map { test.1($0, operand) } ?? false
        }
    }

    private static func ofText(
        _ field: String,
        _ random: inout Seeded,
        _ read: @escaping (Thing) -> String?
    ) -> Question {
        let text = random.text()
        let quoted = quoted(text, &random)
        switch Int.random(in: 0..<8, using: &random) {
        case 0:
            return Question(text: "\(field) begins \(quoted)") {
                read($0)?.starts(with: text) ?? false
            }
        case 1:
            return Question(text: "\(field) contains \(quoted)") {
                read($0).map { text.isEmpty || $0.contains(text) } ?? false
            }
        case 2: return Question(text: "\(field) == null") { read($0) == nil }
        case 3: return Question(text: "\(field) != null") { read($0) != nil }
        case 4:
            return Question(text: "\(field) in (\(quoted), null, 'a')") {
                [text, nil, "a"].contains(read($0))
            }
        default: return order(field, quoted, text, &random, read)
        }
    }

    static func random(_ random: inout Seeded, depth: Int = 0) -> Question {
        switch Int.random(in: depth > 2 ? 3...11 : 0...11, using: &random) {
        case 0, 1:
            let left = Question.random(&random, depth: depth + 1)
            let right = Question.random(&random, depth: depth + 1)
            if .random(using: &random) {
                return Question(text: "(\(left.text)) and \(right.text)") {
                    left.holds($0) && right.holds($0)
                }
            }
            return Question(text: "(\(left.text) or \(right.text))") {
                left.holds($0) || right.holds($0)
            }
        case 2:
            let inner = Question.random(&random, depth: depth + 1)
            return Question(text: "not (\(inner.text))") { !inner.holds($0) }
        case 3...5: return ofAnyText(&random)
        case 6...9: return ofNumber(&random)
        default: return ofOthers(&random)
        }
    }

    private static func ofAnyText(_ random: inout Seeded) -> Question {
        switch Int.random(in: 0...8, using: &random) {
        case 0: ofText("name", &random, \.name)
        case 1: ofText("nick", &random, \.nick)
        case 2, 3: ofText("note", &random, \.note.text)
        case 4: ofText("home.city", &random, \.home.city)
        case 5: ofText("labels.0", &random, \.labels.first)
        case 6: ofText("numbers.2", &random) { $0.numbers[2] }
        case 7: ofText("numbers.`-1`", &random) { $0.numbers[-1] }
        default:
            ofText("state.kept._0", &random) { thing in
                if case .kept(let text) = thing.state { text } else { nil }
            }
        }
    }

    private static func ofNumber(_ random: inout Seeded) -> Question {
        switch Int.random(in: 0...9, using: &random) {
        case 0:
            let count = random.one(of: Thing.counts)
            return order("count", "\(count)", count, &random, \.count)
        case 1:
            let big = random.one(of: Thing.bigs)
            return order("big", "\(big)", big, &random, \.big)
        case 2:
            let weight = random.one(of: Thing.weights)
            return order("weight", "\(weight)", weight, &random, \.weight)
        case 3, 4:
            // Exact, also between floats.
            let count = random.one(of: Thing.counts)
            return order("weight", "\(count)", Exact(count), &random) {
                $0.weight.isNaN ? nil : Exact($0.weight)
            }
        case 5:
            let big = random.one(of: Thing.bigs)
            return order("price", "\(big)", Decimal(big), &random, \.price)
        case 6, 7:
            let price = random.one(of: Thing.prices)
            return order("price", "\(price)", price, &random, \.price)
        case 8: return order("home.zip", "3", 3, &random, \.home.zip)
        default:
            let key = random.text()
            return order("counts.\(quoted(field: key))", "1", 1, &random) { $0.counts[key] }
        }
    }

    private static func ofOthers(_ random: inout Seeded) -> Question {
        switch Int.random(in: 0...8, using: &random) {
        case 0, 1:
            let text = random.one(of: Thing.births)
            return order("born", text, Scalar.date(text) ?? Date(), &random, \.born)
        case 2: return Question(text: "isOn == true", holds: \.isOn)
        case 3:
            let tag = random.one(of: Thing.tags)
            return Question(text: "tag != '\(tag.uuidString)'") { $0.tag != tag }
        case 4:
            let data = Data(random.text().utf8)
            return Question(text: "data == \"\(data.base64EncodedString())\"") { $0.data == data }
        case 5:
            return Question(text: "state.wild != null and kind = 'bird'") {
                $0.state == .wild && $0.kind == .bird
            }
        case 6:
            return Question(text: "state.between.high >= 3") { thing in
                if case .between = thing.state { true } else { false }
            }
        case 7:
            return Question(text: "link == 'https://example.org/1'") {
                $0.link?.absoluteString == "https://example.org/1"
            }
        default:
            let text = random.text()
            return Question(text: "labels contains \(quoted(text, &random))") {
                $0.labels.contains(text)
            }
        }
    }
}

/// A number that is compared exactly: its whole part, and what is left.
private struct Exact: Comparable {
    var whole: Double
    var integer: Int128?

    init(_ number: Int) {
        whole = Double(number)
        integer = Int128(number)
    }

    init(_ number: Double) {
        whole = number
        integer = Int128(exactly: number)
    }

    static func == (left: Exact, right: Exact) -> Bool {
        if let left = left.integer, let right = right.integer { return left == right }
        return left.whole == right.whole
    }

    static func < (left: Exact, right: Exact) -> Bool {
        if let left = left.integer, let right = right.integer { return left < right }
        return left.whole < right.whole
    }
}
