/// A part of a page. Texts and attributes are made safe where they are written down.
indirect enum Node: Sendable {
    case element(String, [(name: String, value: String)], [Node])
    /// A text of a file, or of this program; a long one is shortened in the middle.
    case text(String)
    /// The same, shortened to a width in characters.
    case short(String, Int)
    /// Text of this program that is no text of a page: a style sheet.
    case style(StaticString)

    /// Returns an element.
    static func tag(
        _ name: String,
        _ attributes: KeyValuePairs<String, String>,
        _ children: [Node]
    ) -> Node {
        .element(
            name,
            attributes.map { (name: $0.key, value: $0.value) },
            children
        )
    }

    /// Returns an element without attributes.
    static func tag(_ name: String, _ children: [Node]) -> Node {
        .element(name, [], children)
    }

    /// Returns an element with a text.
    static func tag(
        _ name: String,
        _ attributes: KeyValuePairs<String, String>,
        _ text: String
    ) -> Node {
        tag(name, attributes, [Node.text(text)])
    }

    /// Returns an element with a text and without attributes.
    static func tag(_ name: String, _ text: String) -> Node {
        .element(name, [], [.text(text)])
    }

    /// Returns an element without content.
    static func tag(_ name: String, _ attributes: KeyValuePairs<String, String>) -> Node {
        tag(name, attributes, [Node]())
    }

    private static let withoutEnd: Set = ["meta", "rect", "line", "path"]
    /// Elements that stand on a line of their own.
    private static let blocks: Set = [
        "head", "meta", "title", "style", "body", "header", "main", "footer", "section", "div",
        "figure", "table", "thead", "tbody", "tr",
        "h1",
        "h2", "h3", "p", "dl", "svg",
    ]

    /// Adds the markup to a text.
    func write(to page: inout String) {
        switch self {
        case .style(let style): page += "\(style)"
        case .short(let text, let width): page += HTMLText.shown(text, width: width)
        case .text(let text): page += HTMLText.shown(text, width: 160)
        case .element(let name, let attributes, let children):
            if Self.blocks.contains(name) { page += "\n" }
            page += "<\(name)"
            for attribute in attributes {
                page += " \(attribute.name)=\"\(HTMLText.escaped(attribute.value))\""
            }
            guard !Self.withoutEnd.contains(name) else {
                page += "/>"
                return
            }
            page += ">"
            for child in children { child.write(to: &page) }
            page += "</\(name)>"
        }
    }
}
