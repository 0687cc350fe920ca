#if Metrics
    import Foundation

    /// Three plots over one time, with the phases of the source behind them.
    struct Chart {
        struct Theme {
            var (paper, ink, faint, grid) = ("#ffffff", "#1d1d1f", "#5a6068", "#dde1e6")
            var phases = ["#f4f6f8", "#fdf0d5", "#fbe1df", "#e4f3e6"]
            var colors = ["#2563b8", "#c4372b", "#8a5cc2", "#c77700", "#2e8b57"]

            static let light = Theme()
            static let dark: Theme = {
                var theme = Theme()
                (theme.paper, theme.ink, theme.faint, theme.grid) = (
                    "#1d1d1f", "#f5f5f7", "#a8aeb6", "#3c4046"
                )
                theme.phases = ["#24262a", "#3a3120", "#402624", "#21362a"]
                theme.colors = ["#6ea8ff", "#ff7b6e", "#c39bff", "#ffb347", "#63d297"]
                return theme
            }()
        }

        struct Line {
            var name: String
            var color: Int
            var value: (Sample) -> Double
        }

        var samples: [Sample]
        var theme: Theme
        private let width = 800.0
        private let left = 64.0
        private let right = 16.0
        private let top = 40.0
        private let height = 132.0
        private let gap = 62.0
        private var end: Double { samples.last?.time ?? 1 }

        init(samples: [Sample], theme: Theme) { (self.samples, self.theme) = (samples, theme) }

        var svg: String {
            let plots = [
                plot(
                    0,
                    "Loads a second, by result",
                    [
                        Line(name: "loaded", color: 0) { $0.loaded },
                        Line(name: "failed", color: 1) { $0.failed },
                    ]
                ),
                plot(
                    1,
                    "Old answers a second, by reason",
                    [
                        Line(name: "revalidating", color: 2) { $0.revalidating },
                        Line(name: "slow", color: 3) { $0.slow },
                        Line(name: "error", color: 1) { $0.error },
                    ]
                ),
                plot(
                    2,
                    "Latency of requests, ms",
                    [
                        Line(name: "p50", color: 4) { $0.p50 },
                        Line(name: "p99", color: 0) { $0.p99 },
                    ],
                    isLogarithmic: true
                ),
            ]
            let total = y(2) + height + 44
            return """
                <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(Int(width)) \(Int(total))" \
                width="\(Int(width))" height="\(Int(total))" role="img">
                <title>A cache under steady load while its source works, hangs, fails and works \
                again: requests are answered throughout</title>
                <g font-family="-apple-system, 'Helvetica Neue', Helvetica, Arial, sans-serif" \
                font-size="13">
                <rect width="\(width)" height="\(total)" fill="\(theme.paper)"/>
                \((phases + plots + timeAxis(total)).joined(separator: "\n"))
                </g>
                </svg>

                """
        }

        private func x(_ time: Double) -> Double { left + time / end * (width - left - right) }
        private func y(_ plot: Int) -> Double { top + 36 + Double(plot) * (height + gap) }

        private func text(
            _ text: String,
            _ x: Double,
            _ y: Double,
            _ anchor: String = "start",
            _ fill: String,
            bold: Bool = false
        ) -> String {
            let weight = bold ? " font-weight=\"600\"" : ""
            return
                """
                <text x=\"\(round(x))\" y=\"\(round(y))\" text-anchor=\"\(anchor)\" \
                fill=\"\(fill)\"\(weight)>\(text)</text>
                """
        }

        private func line(_ x1: Double, _ y1: Double, _ x2: Double, _ y2: Double) -> String {
            """
            <path d=\"M\(round(x1)) \(round(y1))L\(round(x2)) \(round(y2))\" \
            stroke=\"\(theme.grid)\" stroke-width=\"1\"/>
            """
        }

        private func round(_ number: Double) -> String { String(format: "%.1f", number) }

        private var phases: [String] {
            let names = ["the source works", "it hangs", "it fails", "it works again"]
            return names.enumerated().flatMap { index, name -> [String] in
                let (begin, length) = (x(Double(index) * 10), x(10) - x(0))
                return [
                    """
                    <rect x=\"\(round(begin))\" y=\"14\" width=\"\(round(length))\" \
                    height=\"\(round(y(2) + height - 14))\" fill=\"\(theme.phases[index])\"/>
                    """,
                    text(name, begin + length / 2, 33, "middle", theme.ink, bold: true),
                ]
            }
        }

        private func timeAxis(_ total: Double) -> [String] {
            stride(from: 0, through: end, by: 5).map {
                text("\(Int($0)) s", x($0), y(2) + height + 20, "middle", theme.faint)
            }
        }

        private func plot(
            _ index: Int,
            _ title: String,
            _ lines: [Line],
            isLogarithmic: Bool = false
        ) -> String {
            let (above, below) = (y(index), y(index) + self.height)
            let largest = lines.flatMap { line in samples.map(line.value) }.max() ?? 1
            let step = [10.0, 20, 50, 100].first { largest / $0 <= 4 } ?? 200
            let marks =
                isLogarithmic
                ? [0.01, 0.1, 1, 10, 100, 1000]
                : Array(stride(from: 0, through: max(largest, step), by: step))
            let limit = isLogarithmic ? 1000 : max(largest, step) * 1.04
            func height(of value: Double) -> Double {
                let part = isLogarithmic ? (log10(max(value, 0.01)) + 2) / 5 : value / limit
                return below - min(1, part) * self.height
            }
            var parts = marks.flatMap { mark -> [String] in
                let label = mark < 1 && mark > 0 ? "\(mark)" : "\(Int(mark))"
                return [
                    line(left, height(of: mark), width - right, height(of: mark)),
                    text(label, left - 8, height(of: mark) + 4, "end", theme.faint),
                ]
            }
            parts.append(text(title, left, above - 10, theme.ink, bold: true))
            var legend = left + Double(title.count) * 7.4 + 24
            for line in lines {
                let color = theme.colors[line.color]
                let path = samples.map {
                    "\(round(x($0.time - 0.25))) \(round(height(of: line.value($0))))"
                }.joined(separator: "L")
                parts.append(
                    """
                    <path d=\"M\(path)\" fill=\"none\" stroke=\"\(color)\" stroke-width=\"2\" \
                    stroke-linejoin=\"round\"/>
                    """
                )
                parts.append(
                    """
                    <path d=\"M\(round(legend)) \(round(above - 14))h18\" stroke=\"\(color)\" \
                    stroke-width=\"3\"/>
                    """
                )
                parts.append(text(line.name, legend + 24, above - 10, theme.ink))
                legend += Double(line.name.count) * 6.8 + 50
            }
            return parts.joined(separator: "\n")
        }

        private func text(
            _ text: String,
            _ x: Double,
            _ y: Double,
            _ fill: String,
            bold: Bool = false
        ) -> String {
            self.text(text, x, y, "start", fill, bold: bold)
        }
    }
#endif
