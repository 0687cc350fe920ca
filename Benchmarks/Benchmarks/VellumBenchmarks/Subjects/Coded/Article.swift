/// Long strings: a text of some kilobytes, in one of five languages.
struct Article: Coded {
    static let title = "long strings"
    static let batch = 10

    let id: Int
    let title: String
    let summary: String
    let body: String

    static func make(_ index: Int) -> Article {
        var prose = Prose(index)
        let languages = Prose.Language.allCases
        // Every other one is in English.
        let language =
            index.isMultiple(of: 2)
            ? Prose.Language.english : languages[index / 2 % languages.count]
        let length = prose.number(2000...8000)
        return Article(
            id: 100_000 + index,
            title: prose.sentence(language),
            summary: prose.text(language, bytes: 300),
            body: prose.text(language, bytes: length)
        )
    }

    var message: ArticleMessage {
        .with { ($0.id, $0.title, $0.summary, $0.body) = (Int64(id), title, summary, body) }
    }
}
