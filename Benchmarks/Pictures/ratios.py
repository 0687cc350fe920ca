"""How long an operation takes, divided by how long it takes beside it: a row for each side."""
import svg

ROW, HEAD = 21, 27


def draw(groups, width):
    """Draws groups of rows.

    groups: (title, sides) with sides as in the run. A side that was not run has its reason; one whose writes survive something else than
    ours says what, under "survives".
    """
    canvas = svg.Canvas(width)
    is_wide = width > 500
    labels, numbers = (258, 150) if is_wide else (144, 52)
    ratios = [side["ratio"] for _, sides in groups for side in sides if side.get("ratio")]
    limits = [side["limit"] for _, sides in groups for side in sides if side.get("limit")]
    axis = svg.Axis(_range(ratios + limits), (labels, width - numbers))
    y = _legend(canvas, axis, is_wide)
    top = y
    rows = []
    for title, sides in groups:
        rows.append((y + 19, title, None))
        y += HEAD
        for side in sides:
            rows.append((y + 14, title, side))
            y += ROW
    _grid(canvas, axis, top, y)
    for y_of_row, title, side in rows:
        if side is None:
            canvas.text(0, y_of_row, _short(title, int(width / 7.6)), "bold")
        else:
            _row(canvas, axis, y_of_row, side)
    for tick in _ticks(axis, is_wide):
        canvas.text(axis.at(tick), y + 16, f"{tick:g} ×", "soft small", "middle")
    canvas.height = y + 24
    return canvas


def _short(title, room):
    """The title, in little room without its subject, then without what the section says, too."""
    without_subject = title.split(" — ")[0]
    for words in [title, without_subject, without_subject.split(": ")[-1].capitalize()]:
        if len(words) <= room:
            return words
    return words[: room - 1] + "…"


def _range(values):
    low, high = min(values + [0.5]), max(values + [2])
    return low / 1.25, high * 1.25


def _ticks(axis, is_wide):
    some = set(axis.ticks() + [1.0])
    # In little room only those that are far from one another.
    return sorted(tick for tick in some if is_wide or tick == 1 or abs(axis.at(tick) - axis.at(1)) > 34)


def _legend(canvas, axis, is_wide):
    middle = axis.at(1)
    room_left, room_right = middle, canvas.width - middle
    canvas.dot(6, 8, "ours")
    canvas.text(16, 12, "ours is faster", "soft")
    canvas.triangle(116, 8, "loss")
    canvas.text(128, 12, "ours is slower", "soft")
    canvas.line((228, 1), (228, 15), "limit")
    canvas.text(236, 12, "limit promised", "soft")
    if is_wide and min(room_left, room_right) > 120:
        canvas.text(canvas.width, 12, "time of ours ÷ time beside it", "soft", "end")
        return 22
    canvas.text(0, 31, "time of ours ÷ time beside it, logarithmic", "soft")
    return 40


def _grid(canvas, axis, top, bottom):
    for tick in _ticks(axis, canvas.width > 500):
        canvas.line((axis.at(tick), top + 6), (axis.at(tick), bottom), "axis" if tick == 1 else "grid")


def _row(canvas, axis, y, side):
    room = int((axis.start - 18) / svg.CHARACTER)
    name = side["name"] if len(side["name"]) <= room else side["name"][: room - 1] + "…"
    canvas.text(10, y, name, aside=side.get("survives", "") if canvas.width > 500 else "")
    if side.get("notRun"):
        reason = "not run: " + side["notRun"]
        room = int((canvas.width - axis.start - 10) / svg.CHARACTER)
        canvas.text(axis.start + 8, y, reason if len(reason) <= room else "not run", "soft small")
        return
    ratio, limit = side["ratio"], side.get("limit")
    is_loss = ratio > 1
    colour = "loss" if is_loss else "ours"
    canvas.line((axis.at(1), y - 4), (axis.at(ratio), y - 4), "line", colour)
    if limit:
        canvas.line((axis.at(limit), y - 12), (axis.at(limit), y + 4), "limit")
    (canvas.triangle if is_loss else canvas.dot)(axis.at(ratio), y - 4, colour)
    words = svg.number(ratio) + " ×"
    canvas.text(axis.end + 50, y, words, "bold" if is_loss else "", "end")
    if limit and canvas.width > 500:
        verdict = "≤ " + svg.number(limit) + (" met" if ratio <= limit else " missed")
        canvas.text(axis.end + 58, y, verdict, "soft small" if ratio <= limit else "small bold")
