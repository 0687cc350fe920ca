"""Lines by a size or a number, with the name of each at its end."""
import svg


class Scale:
    """The axes of a plot: the values of x with their names, and the unit of y."""

    def __init__(self, ticks, title, unit, is_log=True):
        self.ticks = ticks
        self.title = title
        self.unit = unit
        self.is_log = is_log


def draw(series, scale, width):
    """Draws one line for each of `series`: (name, colour, points)."""
    canvas = svg.Canvas(width)
    height = 300
    longest = max(len(name) for name, _, _ in series)
    right = min(longest * svg.CHARACTER + 34, width * 0.44)
    values = [y for _, _, points in series for _, y in points]
    if scale.is_log:
        low, high = min(values) / 1.4, max(values) * 1.4
    else:
        low, high = 0, max(values) * 1.08
    left, bottom = 52, height - 44
    ys = svg.Axis((low, high), (bottom, 30), scale.is_log)
    names = [x for x, _ in scale.ticks]
    xs = svg.Axis((min(names), max(names)), (left + 10, width - right))
    canvas.text(0, 12, scale.unit if scale.unit != "ns" else "time, logarithmic", "soft small")
    for tick in ys.ticks():
        canvas.line((left, ys.at(tick)), (width - right + 4, ys.at(tick)), "grid")
        canvas.text(left - 6, ys.at(tick) + 4, svg.tick(tick, scale.unit), "soft small", "end")
    for x, name in scale.ticks:
        canvas.line((xs.at(x), bottom), (xs.at(x), bottom + 4), "axis")
        canvas.text(xs.at(x), bottom + 18, name, "soft small", "middle")
    canvas.text((xs.start + xs.end) / 2, bottom + 36, scale.title, "soft small", "middle")
    ends = []
    for name, colour, points in series:
        places = [(xs.at(x), ys.at(y)) for x, y in points]
        canvas.path(places, colour, "line thick" if colour == "ours" else "line")
        for x, y in places:
            canvas.dot(x, y, colour, 3)
        ends.append([places[-1][1], name, colour, places[-1]])
    _name_ends(canvas, ends, width - right, bottom)
    canvas.height = height
    return canvas


def _name_ends(canvas, ends, x, bottom):
    """Writes each name where its line ends, apart from the others."""
    ends.sort()
    for number, end in enumerate(ends):
        end[0] = max(end[0], ends[number - 1][0] + 15 if number else 12)
    # What is below the axis goes up again.
    for number in range(len(ends) - 1, -1, -1):
        below = ends[number + 1][0] - 15 if number + 1 < len(ends) else bottom + 6
        ends[number][0] = min(ends[number][0], below)
    for y, name, colour, (last_x, last_y) in ends:
        canvas.line((last_x + 5, last_y), (x + 17, y), "leader", colour)
        room = int((canvas.width - x - 20) / svg.CHARACTER)
        canvas.text(x + 20, y + 4, name if len(name) <= room else name[: room - 1] + "…", f"fill: var(--{colour})")
