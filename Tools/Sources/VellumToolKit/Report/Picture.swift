internal import Foundation
internal import VellumFiles

/// A picture of numbers as SVG, with its title and a description for those who do not see it.
struct Picture: Sendable {
    /// A number with its names.
    struct Item: Sendable {
        var label: String
        var value: Int
        /// The number as it is written.
        var text: String
    }

    /// Names the parts of a picture for screen readers: unique in a page.
    var id: String
    var title: String
    var description: String

    /// The width of every picture, in its own units, which are pixels on a small screen.
    static let width = 360

    private func svg(height: Int, _ children: [Node]) -> Node {
        .tag(
            "svg",
            [
                "viewBox": "0 0 \(Self.width) \(height)",
                "role": "img",
                "aria-labelledby": "\(id)-title \(id)-text",
                "xmlns": "http://www.w3.org/2000/svg",
            ],
            [
                .tag("title", ["id": "\(id)-title"], title),
                .tag("desc", ["id": "\(id)-text"], description),
            ] + children
        )
    }

    /// A bar for each item, one below the other.
    func bars(_ items: [Item]) -> Node {
        let row = 36
        let most = max(1, items.map(\.value).max() ?? 1)
        let children = items.enumerated().flatMap { index, item -> [Node] in
            let top = index * row
            return [
                .tag(
                    "text",
                    ["class": "name", "x": "0", "y": "\(top + 13)"],
                    [.short(item.label, 38)]
                ),
                .tag(
                    "text",
                    [
                        "class": "figure",
                        "x": "\(Self.width)",
                        "y": "\(top + 13)",
                        "text-anchor": "end",
                    ],
                    item.text
                ),
                Self.rectangle(
                    "track",
                    y: Double(top) + 20,
                    width: Double(Self.width),
                    height: 7
                ),
                Self.rectangle(
                    "bar",
                    y: Double(top) + 20,
                    width: Self.length(item.value, of: most, within: Self.width),
                    height: 7
                ),
            ]
        }
        return svg(height: max(row, items.count * row), children)
    }

    /// A column for each item, side by side.
    func columns(_ items: [Item]) -> Node {
        let height = 130
        // Above the columns is room for a figure, below for a label.
        let base = 150.0
        let most = max(1, items.map(\.value).max() ?? 1)
        let step = min(
            60,
            Double(Self.width) / Double(max(1, items.count))
        )
        let gap = step > 12 ? 4.0 : 1.0
        // As many labels as have room side by side.
        let every = max(1, Int((50 / step).rounded(.up)))
        var children: [Node] = [
            .tag(
                "line",
                [
                    "class": "axis",
                    "x1": "0",
                    "x2": "\(Self.width)",
                    "y1": Self.number(base),
                    "y2": Self.number(base),
                ]
            )
        ]
        for (index, item) in items.enumerated() {
            let tall = Self.length(item.value, of: most, within: height)
            let left = Double(index) * step + gap / 2
            let wide = max(0.5, step - gap)
            children.append(
                Self.rectangle(
                    "bar",
                    x: left,
                    y: base - tall,
                    width: wide,
                    height: tall
                )
            )
            if item.value == most {
                children.append(
                    Self.label(
                        "figure",
                        item.text,
                        x: left + wide / 2,
                        y: base - tall - 6
                    )
                )
            }
            if index.isMultiple(of: every) {
                children.append(
                    Self.label(
                        "tick",
                        item.label,
                        x: left + wide / 2,
                        y: base + 16
                    )
                )
            }
        }
        return svg(height: 174, children)
    }

    /// Ratios from 0 to 1 by sizes, which stand as far apart as their logarithms.
    func curve(_ points: [Sizing.Point], mark: Int?) -> Node {
        let head = 20
        let height = 150
        let foot = 24
        let base = Double(head + height)
        let first = log2(Double(max(1, points.first?.limit.bytes ?? 1)))
        let last = log2(Double(max(2, points.last?.limit.bytes ?? 2)))
        func x(_ bytes: Int) -> Double {
            (log2(Double(max(1, bytes))) - first) / max(0.001, last - first) * Double(Self.width)
        }
        func y(_ ratio: Double) -> Double {
            base - min(1, max(0, ratio)) * Double(height)
        }
        var children: [Node] = []
        for part in [0, 0.5, 1] {
            let place = Self.number(y(part))
            children.append(
                .tag(
                    "line",
                    ["class": "axis", "x1": "0", "x2": "\(Self.width)", "y1": place, "y2": place]
                )
            )
            children.append(
                .tag(
                    "text",
                    ["class": "tick", "x": "0", "y": Self.number(y(part) - 4)],
                    "\(Int(part * 100)) %"
                )
            )
        }
        let path = points.enumerated().map {
            "\($0 == 0 ? "M" : "L")\(Self.number(x($1.limit.bytes))) \(Self.number(y($1.hitRatio)))"
        }.joined()
        children.append(.tag("path", ["class": "curve", "d": path]))
        if let mark,
            let least = points.first?.limit.bytes,
            let most = points.last?.limit.bytes,
            least <= mark,
            mark <= most
        {
            let place = Self.number(x(mark))
            children.append(
                .tag(
                    "line",
                    [
                        "class": "mark",
                        "x1": place,
                        "x2": place,
                        "y1": "\(head)",
                        "y2": Self.number(base),
                    ]
                )
            )
            children.append(
                Self.label(
                    "figure",
                    "limit \(Numbers.size(mark))",
                    x: x(mark),
                    y: Double(head) - 6
                )
            )
        }
        for point in [points.first, points.last].compactMap(\.self) {
            children.append(
                Self.label(
                    "tick",
                    Numbers.size(point.limit.bytes),
                    x: x(point.limit.bytes),
                    y: base + 16
                )
            )
        }
        return svg(height: head + height + foot, children)
    }

    /// How full something is, and where a mark stands in it. Each number is written beside its end.
    func gauge(part: Item, whole: Item, mark: Item?) -> Node {
        let most = max(1, whole.value, part.value, mark?.value ?? 0)
        func length(_ item: Item) -> Double {
            Self.length(item.value, of: most, within: Self.width)
        }
        var children: [Node] = [
            .tag(
                "text",
                ["class": "figure", "x": "0", "y": "13"],
                "\(part.label) \(part.text)"
            ),
            // Over the end of the limit, and never over the number before it.
            Self.label(
                "tick",
                "\(whole.label) \(whole.text)",
                x: max(length(whole), 150),
                y: 13
            ),
            Self.rectangle("track", y: 22, width: length(whole), height: 14),
            Self.rectangle("bar", y: 22, width: length(part), height: 14),
        ]
        guard let mark else { return svg(height: 38, children) }
        let place = min(Double(Self.width) - 1, max(1, length(mark)))
        let x = Self.number(place)
        children.append(
            .tag(
                "line",
                ["class": "mark", "x1": x, "x2": x, "y1": "17", "y2": "41"]
            )
        )
        children.append(
            Self.label("tick", "\(mark.label) \(mark.text)", x: place, y: 56)
        )
        return svg(height: 60, children)
    }

    /// A short text around a place, moved inward at the edges.
    private static func label(
        _ kind: String,
        _ text: String,
        x: Double,
        y: Double
    ) -> Node {
        let half = Double(text.count) * 3.4
        let inside = min(max(x, half), Double(width) - half)
        return .tag(
            "text",
            ["class": kind, "x": number(inside), "y": number(y), "text-anchor": "middle"],
            text
        )
    }

    private static func rectangle(
        _ kind: String,
        x: Double = 0,
        y: Double,
        width: Double,
        height: Double
    ) -> Node {
        .tag(
            "rect",
            [
                "class": kind,
                "x": number(x),
                "y": number(y),
                "width": number(width),
                "height": number(height),
                "rx": "2",
            ]
        )
    }

    /// The length of a number beside the greatest. What is there is seen.
    private static func length(_ value: Int, of most: Int, within room: Int) -> Double {
        guard value > 0 else { return 0 }
        return min(
            Double(room),
            max(1.5, Double(value) / Double(most) * Double(room))
        )
    }

    private static func number(_ number: Double) -> String {
        let tenths = Int((number * 10).rounded())
        return tenths.isMultiple(of: 10) ? "\(tenths / 10)" : "\(tenths / 10).\(tenths % 10)"
    }
}
