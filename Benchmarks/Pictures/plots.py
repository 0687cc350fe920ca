"""What is drawn of a run: each plot chooses its measurements and says what it misses."""
import re

import histogram
import lines
import ratios
import svg

# The sections of the ratios, and what belongs to each.
SECTIONS = [
    ("Archives", r"(memoryHit|diskHit|record(New|Over|PowerSafe)|bulk|opening|recordIndexed|bulkIndexed)"),
    ("Queries", r"(query.*|growth.*|unindexed)"),
    ("MiniCache", r"cache.*"),
    ("Shallows", r"shallows.*"),
    ("Coders", r"coder.*"),
]
# Their sides differ from the first in what they do, not only in how: the table has them, and the cost of an index is a limit.
NOT_DRAWN = ["recordIndexed", "bulkIndexed"]
# Of several comparisons of one operation the first of these is drawn; the table below the plot has all.
SUBJECTS = ["six fields", "residents", "1 KiB", "100 B"]
SCALES = ["20 k", "100 k", "1 M", "10 k", "28 k", "1 k", "100", "8"]
ENTRIES = {"1 k": 1e3, "10 k": 1e4, "20 k": 2e4, "100 k": 1e5, "1 M": 1e6}
SIZES = {"100 B": 100, "1 KiB": 1024, "64 KiB": 65_536, "4 MiB": 4_194_304}
COLOURS = {
    "Vellum": "ours", "an archive": "ours", "leanest table": "c4", "point read": "c4", "a locked dictionary each": "c4", "locked Dictionary": "c4",
    "GRDB": "c1", "NSCache": "c1", "LMDB": "c2", "LMDB, MDB_NOSYNC": "c2", "LMDB, synced": "c5", "LRUCache": "c2", "MMKV": "c3",
    "one locked dictionary for all": "c3", "a file each": "c6", "MiniCache, by subscript": "c5", "MemoryStorage": "c6", "LRUStorage": "loss",
}


# What nobody would pick instead, and shows how close one can get: on the page, and not among the pictures of README.md.
FLOORS = {
    "same statements", "leanest table", "point read", "locked Dictionary", "SQL by hand", "LMDB", "LMDB, MDB_NOSYNC", "LMDB, synced", "MMKV",
    "an archive", "access and record, not atomic", "record", "a call for each",
}


# The classes of a histogram for each power of ten (`Tools/Report/Summary.swift`).
CLASSES = 12


class Plot:
    """A picture: its title, what it shows, how it is drawn at a width, and its numbers."""

    def __init__(self, title, note, draw, table, is_small=False):
        self.title = title
        self.note = note
        self.draw = draw
        self.table = table
        # Whether two stand beside each other on a wide page.
        self.is_small = is_small


def of_page(run):
    """The sections of the page: a title, the plots, and why there is none if there is none."""
    return [
        ("Time of ours divided by time beside it", [_ratios(run, *section) for section in SECTIONS]),
        ("Time by size of value", [
            _by_size(run, "diskHit", "A read from the disk"), _by_size(run, "recordNew", "A record under a new key, crash-safe"),
            _by_size(run, "recordPowerSafe", "A record under a new key, power-safe")]),
        ("Hits in memory by number of threads", [_by_threads(run)]),
        ("How long a record takes", [_latency(run, "recordOver", "20 k"), _latency(run, "recordNew", "20 k"), _latency(run, "recordNew", "1 M")]),
        ("Time by number of entries", [
            _by_entries(run, "memoryHit", "A hit in memory"), _by_entries(run, "diskHit", "A read from the disk"),
            _by_entries(run, "recordNew", "A record under a new key, crash-safe"), _by_entries(run, "bulk", "A record, 1000 in one transaction")]),
    ]


def of_readme(run):
    """The pictures of README.md, by the names of their files."""
    chosen = ["memoryHit", "diskHit", "recordNew", "recordOver", "update", "bulk", "queryOne"]
    groups = [comparison for work in chosen for comparison in _chosen(run, f"{work}$") if comparison["subject"] != "numbers"]
    groups += [comparison for comparison in _chosen(run, "cacheSetNew|cacheDiskHit") if comparison["subject"] == "numbers"]
    groups = [{**group, "sides": [side for side in group["sides"] if side["name"] not in FLOORS]} for group in groups]
    groups = [group for group in groups if len(group["sides"]) > 1]
    ratio = _plot_of_ratios("Time of ours divided by time beside it", groups, groups) if groups else None
    latency = _latency(run, "recordOver", "20 k", without=FLOORS)
    return {"ratios": ratio, "record-times": latency}


# Ratios


def _ratios(run, title, works):
    groups = _chosen(run, works)
    every = [comparison for comparison in run["comparisons"] if re.fullmatch(works, comparison["work"])]
    return _plot_of_ratios(title, groups, every) if groups else None


def _chosen(run, works):
    """One comparison of each operation, and one of those beside Python."""
    best = {}
    for comparison in run["comparisons"]:
        if re.fullmatch(works, comparison["work"]) and comparison["work"] not in NOT_DRAWN:
            key = (comparison["work"], comparison["subject"] == "numbers")
            if key not in best or _rank(comparison) < _rank(best[key]):
                best[key] = comparison
    return list(best.values())


def _rank(comparison):
    def place(value, order):
        return order.index(value) if value in order else len(order)

    return place(comparison["subject"], SUBJECTS), place(comparison["scale"], SCALES)


def _plot_of_ratios(title, groups, every):
    named = [(f"{group['title'].replace(', crash-safe (per entry)', '')} — {group['subject']}, {group['scale']}", _others(group)) for group in groups]
    rows = [
        [comparison["title"], f"{comparison['subject']}, {comparison['scale']}", side["name"], side.get("durability") or ""] + _numbers(side)
        for comparison in every for side in comparison["sides"]
    ]
    head = ["operation", "of", "side", "survives", "median", "p99.9", "maximum", "ours ÷", "limit"]
    return Plot(title, "", lambda width: ratios.draw(named, width), (head, rows))


def _others(comparison):
    """The sides beside ours, with what their writes survive where that differs."""
    ours, others = comparison["sides"][0], comparison["sides"][1:]
    same = (None, ours.get("durability"))
    return [side if side.get("durability") in same else {**side, "survives": side["durability"]} for side in others]


def _numbers(side):
    if side.get("notRun"):
        return ["not run: " + side["notRun"], "", "", "", ""]
    ratio, limit = side.get("ratio"), side.get("limit")
    verdict = f"≤ {svg.number(limit)} {'met' if ratio <= limit else 'missed'}" if limit and ratio else ""
    return [svg.time(side["median"]), svg.time(side["p999"]), svg.time(side["maximum"]), svg.number(ratio) if ratio else "", verdict]


# Lines


def _by_size(run, work, title):
    found = {c["subject"]: c for c in run["comparisons"] if c["work"] == work and c["subject"] in SIZES}
    points = [(SIZES[name], name, found[name]) for name in SIZES if name in found]
    return _plot_of_times(title, points, "size of a value, logarithmic")


def _by_entries(run, work, title):
    found = {c["scale"]: c for c in run["comparisons"] if c["work"] == work and c["subject"] == "six fields"}
    points = [(ENTRIES[name], name, found[name]) for name in ENTRIES if name in found]
    return _plot_of_times(title, points, "number of entries, logarithmic")


def _plot_of_times(title, points, name_of_x):
    """A line for each side of several comparisons: (x, name of x, comparison)."""
    if len(points) < 2:
        return None
    times = {}
    for x, _, comparison in points:
        for side in comparison["sides"]:
            if not side.get("notRun") and side["name"] in COLOURS:
                times.setdefault(side["name"], []).append((x, side["median"]))
    series = [(name, COLOURS[name], places) for name, places in times.items()]
    scale = lines.Scale([(x, name) for x, name, _ in points], name_of_x, "ns")
    head = ["side"] + [name for _, name, _ in points]
    rows = [[name] + [svg.time(dict(places)[x]) if x in dict(places) else "–" for x, _, _ in points] for name, places in times.items()]
    return Plot(title, "", lambda width: lines.draw(series, scale, min(width, 400)), (head, rows), is_small=True)


def _by_threads(run):
    # The probe names its figures so (`Tools/Probe/HitTimes.swift`).
    pattern = re.compile(r"Hits of (.+), (\d+) threads?")
    rates = {}
    for figure in run["figures"]:
        match = pattern.fullmatch(figure["title"])
        if match:
            rates.setdefault(match[1], []).append((int(match[2]), figure["value"]))
    threads = sorted({x for places in rates.values() for x, _ in places})
    if len(threads) < 2:
        return None
    series = [(name, COLOURS.get(name, "c4"), places) for name, places in rates.items()]
    cores = run["machine"]["cores"]
    ticks = [(x, str(x)) for x in threads]
    scale = lines.Scale(ticks, f"threads (the machine has {cores} cores)", "million hits a second, all threads together", False)
    rows = [[name] + [svg.number(dict(places).get(x, 0)) for x in threads] for name, places in rates.items()]
    note = ("Every thread reads random keys of 20,000. “A locked dictionary each” shares nothing between the threads: "
            "it is what the machine can do.")
    head = ["side"] + [f"{x} threads" for x in threads]
    return Plot("Million hits a second", note, lambda width: lines.draw(series, scale, width), (head, rows))


# Histograms


def _latency(run, work, scale, without=()):
    sides = {"Vellum": "ours", "leanest table": "c4", "GRDB": "c1", "a file each": "c6"}
    sides = {name: colour for name, colour in sides.items() if name not in without}
    for found in run["histograms"]:
        if (found["work"], found["scale"]) == (work, scale):
            drawn = [(side, sides[side["name"]]) for side in found["sides"] if side["name"] in sides]
            times = {side["name"]: [_median(run, found, side["name"]), side["p999"], side["maximum"]] for side in found["sides"]}
            rows = [[side["name"], f"{sum(side['counts']):,}"] + [svg.time(time) for time in times[side["name"]]] for side in found["sides"]]
            head = ["side", "turns", "median", "p99.9", "maximum"]
            title = f"{found['title']} — {found['subject']}, {scale} entries"
            return Plot(title, "", lambda width: histogram.draw(drawn, CLASSES, width), (head, rows)) if drawn else None
    return None


def _median(run, histogram_of_run, name):
    for comparison in run["comparisons"]:
        if all(comparison[key] == histogram_of_run[key] for key in ("work", "subject", "scale")):
            return next(side["median"] for side in comparison["sides"] if side["name"] == name)
    return 0
