"""How often an operation took how long, both logarithmic: one row for each side above one axis of time."""
import svg

HEIGHT, GAP = 92, 34


def draw(sides, classes_per_decade, width):
    """Draws `sides` as in the run: name, from, counts, p999, maximum; with their colours."""
    canvas = svg.Canvas(width)
    times = [time for side, _ in sides for time in side["from"] + [side["maximum"]]]
    xs = svg.Axis((min(times) / 1.1, max(times) * 1.6), (40, width - 10))
    most = max(count for side, _ in sides for count in side["counts"])
    canvas.text(0, 11, "number of turns, logarithmic", "soft small")
    y = 22
    for side, colour in sides:
        ys = svg.Axis((0.7, most * 1.3), (y + GAP + HEIGHT, y + GAP))
        canvas.text(40, y + 13, side["name"], f"fill: var(--{colour}); font-weight: 600")
        for tick in ys.ticks():
            if width > 500 or tick in (1, 100, 10_000):
                canvas.line((40, ys.at(tick)), (width - 10, ys.at(tick)), "grid")
                canvas.text(34, ys.at(tick) + 4, f"{tick:,.0f}", "soft small", "end")
        for start, count in zip(side["from"], side["counts"]):
            left, right = xs.at(start), xs.at(start * 10 ** (1 / classes_per_decade))
            canvas.bar(left, ys.at(count), max(right - left - 1, 1), ys.start - ys.at(count), colour)
        canvas.line((40, ys.start), (width - 10, ys.start), "axis")
        _mark(canvas, xs, ys, side)
        y += HEIGHT + GAP + 4
    for tick in xs.ticks():
        canvas.line((xs.at(tick), y - 4), (xs.at(tick), y), "axis")
        canvas.text(xs.at(tick), y + 14, svg.tick(tick, "ns"), "soft small", "middle")
    canvas.text((xs.start + xs.end) / 2, y + 31, "time of one record, logarithmic", "soft small", "middle")
    canvas.height = y + 36
    return canvas


def _mark(canvas, xs, ys, side):
    """Marks the 99.9th percentile, and the maximum one line higher."""
    for value, name, lift in [(side["p999"], "p99.9", 4), (side["maximum"], "max", 19)]:
        x = xs.at(value)
        canvas.line((x, ys.end - lift), (x, ys.start), "limit")
        words = f"{name} {svg.time(value)}"
        is_left = name == "p99.9" or x + len(words) * svg.CHARACTER > canvas.width
        canvas.text(x - 4 if is_left else x + 4, ys.end - lift + 6, words, "small", "end" if is_left else "start")
