"""A canvas that writes SVG, the axes, and the colours of all pictures."""
import html
import math

# The colours of light and dark: Okabe and Ito's, which people who see fewer colours can tell apart, as dark or as bright as text has to be.
LIGHT = """--page: #ffffff; --ink: #1f2328; --soft: #59636e; --grid: #d8dee4;
  --ours: #0060b0; --loss: #c04a00; --c1: #00785a; --c2: #a8457f; --c3: #8a6100; --c4: #4f5b66; --c5: #5b4fc0; --c6: #0e7c93;"""
DARK = """--page: #0d1117; --ink: #e6edf3; --soft: #a0a9b4; --grid: #30363d;
  --ours: #58b0ff; --loss: #ff9a4d; --c1: #3fc79b; --c2: #e58fc0; --c3: #e0b13f; --c4: #b3bdc8; --c5: #aaa2ff; --c6: #5ccfe6;"""
STYLE = """
text { font: 12px system-ui, "Segoe UI", Roboto, "Helvetica Neue", sans-serif; fill: var(--ink); font-variant-numeric: tabular-nums;
  paint-order: stroke; stroke: var(--page); stroke-width: 3px; }
.soft { fill: var(--soft); } .small { font-size: 11px; } .bold { font-weight: 600; } .title { font-size: 15px; font-weight: 600; }
.grid { stroke: var(--grid); } .axis { stroke: var(--soft); } .limit { stroke: var(--ink); stroke-width: 2; }
.line { fill: none; stroke-width: 1.75; } .thick { stroke-width: 3; } .leader { stroke-width: 0.75; opacity: 0.6; }
"""
COLOURS = f":root {{ color-scheme: light dark; {LIGHT} }}\n@media (prefers-color-scheme: dark) {{ :root {{ {DARK} }} }}\n"

# The width of a character of the labels, in pixels, in the widest of the fonts.
CHARACTER = 7


class Canvas:
    """Collects the elements of one picture of a given width."""

    def __init__(self, width):
        self.width = width
        self.height = 0
        self.elements = []

    def text(self, x, y, words, style="", anchor="start", aside=""):
        kind = f' class="{style}"' if not style.startswith("fill") else f' style="{style}"'
        self.elements.append(f'<text x="{x:.1f}" y="{y:.1f}"{kind} text-anchor="{anchor}">{html.escape(words)}'
                             + (f'<tspan class="soft small"> · {html.escape(aside)}</tspan>' if aside else "") + "</text>")

    def line(self, start, end, style, colour=None):
        stroke = f' style="stroke: var(--{colour})"' if colour else ""
        self.elements.append(
            f'<line x1="{start[0]:.1f}" y1="{start[1]:.1f}" x2="{end[0]:.1f}" y2="{end[1]:.1f}" class="{style}"{stroke}/>')

    def path(self, points, colour, style="line"):
        steps = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        self.elements.append(f'<polyline points="{steps}" class="{style}" style="stroke: var(--{colour})"/>')

    def bar(self, x, y, width, height, colour):
        self.elements.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" style="fill: var(--{colour})"/>')

    def dot(self, x, y, colour, radius=4.5):
        self.elements.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius}" style="fill: var(--{colour})"/>')

    def triangle(self, x, y, colour):
        corners = f"{x:.1f},{y - 6:.1f} {x + 6:.1f},{y + 5:.1f} {x - 6:.1f},{y + 5:.1f}"
        self.elements.append(f'<polygon points="{corners}" style="fill: var(--{colour})"/>')

    def element(self, title):
        """The picture as an element of a page."""
        return (f'<svg viewBox="0 0 {self.width} {self.height:.0f}" width="{self.width}" height="{self.height:.0f}" role="img" '
                f'aria-label="{html.escape(title)}">\n' + "\n".join(self.elements) + "\n</svg>")


class Axis:
    """Places values between two ends, on a logarithmic or a linear scale."""

    def __init__(self, values, ends, is_log=True):
        self.is_log = is_log
        (self.start, self.end) = ends
        (self.low, self.high) = values

    def at(self, value):
        place = math.log10 if self.is_log else float
        share = (place(value) - place(self.low)) / (place(self.high) - place(self.low))
        return self.start + share * (self.end - self.start)

    def ticks(self):
        """Some round values."""
        if not self.is_log:
            step = 10 ** math.floor(math.log10(self.high - self.low))
            while (self.high - self.low) / step < 4:
                step /= 2
            return [self.low + step * number for number in range(int((self.high - self.low) / step + 1e-9) + 1)]
        numbers = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
        for steps in [(1,), (1, 3), (1, 2, 5)]:
            values = [step * 10.0**number for number in numbers for step in steps if self.low <= step * 10.0**number <= self.high]
            if len(values) >= 3:
                break
        return values


def file(draw, title, machine):
    """A picture as a file of its own, with the machine and the date below, and a background: the page around it may be of another colour."""
    canvas = draw(780)
    lines = [title] + machine
    canvas.elements = [f'<g transform="translate(20, 44)">'] + canvas.elements + ["</g>"]
    height = canvas.height + 60 + 15 * len(machine)
    canvas.text(20, 28, title, "title")
    for number, line in enumerate(lines[1:]):
        canvas.text(20, canvas.height + 62 + 15 * number, line, "soft small")
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 820 {height:.0f}" width="820" height="{height:.0f}" role="img">\n'
            f"<title>{html.escape(title)}</title>\n<style>{COLOURS}{STYLE}</style>\n"
            f'<rect width="820" height="{height:.0f}" rx="8" style="fill: var(--page)"/>\n' + "\n".join(canvas.elements) + "\n</svg>\n")


def time(nanoseconds):
    """Three digits and a unit."""
    for unit, size in [("s", 1e9), ("ms", 1e6), ("µs", 1e3)]:
        if nanoseconds >= 0.9995 * size:
            return f"{number(nanoseconds / size)} {unit}"
    return f"{number(nanoseconds)} ns"


def number(value):
    if value == 0:
        return "0"
    value *= 1 + 1e-9  # So that halves are rounded up, as in the table of the run.
    if abs(value) < 0.0995:
        return f"{value:.3f}"
    return f"{value:.2f}" if abs(value) < 9.995 else f"{value:.1f}" if abs(value) < 99.95 else f"{value:,.0f}"


def tick(value, unit):
    """A round value of an axis, with its unit."""
    if unit == "ns":
        size, name = next((size, name) for size, name in [(1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1, "ns")] if value >= size or size == 1)
        return f"{value / size:g} {name}"
    return f"{value:,g}" if value < 1e6 else f"{value:,.0f}"
