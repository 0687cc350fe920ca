/// Words, names and numbers that vary, and are the same in every run.
struct Prose {
    private var numbers: Numbers

    init(_ index: Int) { numbers = Numbers(seed: UInt64(index)) }

    mutating func number(_ range: ClosedRange<Int>) -> Int {
        Int.random(in: range, using: &numbers)
    }
    mutating func number(_ range: ClosedRange<Double>) -> Double {
        Double.random(in: range, using: &numbers)
    }

    /// Rounded to the number of decimals of such measurements.
    mutating func number(_ range: ClosedRange<Double>, places: Int) -> Double {
        let scale = [1.0, 10, 100, 1000, 10_000, 100_000, 1_000_000][places]
        return (number(range) * scale).rounded() / scale
    }

    mutating func isTrue(oneIn count: Int) -> Bool { number(1...count) == 1 }

    mutating func one<Element>(of elements: [Element]) -> Element {
        elements[number(0...elements.count - 1)]
    }

    mutating func digits(_ count: Int) -> String {
        String((0..<count).map { _ in one(of: Self.numerals) })
    }

    // MARK: People and places

    mutating func firstName() -> String {
        one(of: [
            "Ann", "Bruno", "Chiara", "Dmitri", "Elif", "Fatou", "Jürgen", "Mei", "Noah", "Zoë",
        ])
    }

    mutating func lastName() -> String {
        one(of: [
            "Abara", "Brown", "Castellanos", "Dubois", "García", "Ivanova", "Müller", "Okafor",
            "Smith", "Tanaka",
        ])
    }

    mutating func city() -> String {
        one(of: [
            "Berlin", "Dakar", "Kyoto", "Lisbon", "London", "Malmö", "Paris", "São Paulo",
            "Toronto",
        ])
    }

    mutating func street() -> String {
        """
        \(number(1...400)) \
        \(one(of: ["Bridge", "Church", "Garden", "Harbour", "Mill", "Station"])) \
        \(one(of: ["Lane", "Road", "Street"]))
        """
    }

    // MARK: Text

    /// The approximate length of a sentence in each language.
    enum Language: CaseIterable {
        case english, french, greek, russian, japanese

        fileprivate var words: [String] {
            switch self {
            case .english: Prose.english
            case .french: Prose.french
            case .greek: Prose.greek
            case .russian: Prose.russian
            case .japanese: Prose.japanese
            }
        }

        fileprivate var space: String { self == .japanese ? "" : " " }
        fileprivate var stop: String { self == .japanese ? "。" : "." }
    }

    /// Returns sentences of at least so many bytes, with quotes and paragraphs.
    mutating func text(_ language: Language, bytes: Int) -> String {
        var text = ""
        while text.utf8.count < bytes {
            let sentence = sentence(language)
            text += isTrue(oneIn: 8) ? "\"\(sentence)\"" : sentence
            text += isTrue(oneIn: 5) ? "\n\n" : language.space
        }
        return text
    }

    mutating func sentence(_ language: Language) -> String {
        let words = (0..<number(5...16)).map { _ in one(of: language.words) }
        return words.joined(separator: language.space) + language.stop
    }

    private static let numerals: [Character] = Array("0123456789")
    private static let english = split(
        """
        the a of and to in harbour morning light wrote answered carefully because between winter \
        station letters remember nothing old 
        """
            + "window river they had been would never quiet people across distance began"
    )
    private static let french = split(
        """
        le la de et à été où garçon forêt château naïve déjà près cœur matin lumière souvenir \
        fenêtre rivière jamais écrit réponse hiver
        """
    )
    private static let greek = split(
        """
        το και της θάλασσα πρωί φως έγραψε χειμώνας γράμματα ποτέ παράθυρο ποτάμι άνθρωποι \
        απόσταση ήσυχα
        """
    )
    private static let russian = split(
        """
        и в на утро свет писал зима письма никогда окно река люди расстояние тихо помнить станция \
        старый
        """
    )
    private static let japanese = split("朝 光 港 手紙 冬 窓 川 人々 静かに 思い出す 遠い 駅 決して 古い は を に が の")

    private static func split(_ words: String) -> [String] {
        words.split(separator: " ").map(String.init)
    }
}
