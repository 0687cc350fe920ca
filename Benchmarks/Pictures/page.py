"""The page: every plot at two widths, its numbers below it, and what the run did not measure."""
import html

import plots
import svg

STYLE = """
body { margin: 0 auto; max-width: 860px; padding: 24px 16px 64px; background: var(--page); color: var(--ink); line-height: 1.5;
  font-family: system-ui, "Segoe UI", Roboto, "Helvetica Neue", sans-serif; font-variant-numeric: tabular-nums; }
h1 { font-size: 26px; margin: 0 0 4px; } h2 { font-size: 20px; margin: 48px 0 4px; } h3 { font-size: 15px; margin: 28px 0 8px; }
p { margin: 6px 0; } .note, footer { color: var(--soft); font-size: 14px; }
section { min-width: 0; } .pairs { display: grid; grid-template-columns: 1fr 1fr; gap: 0 20px; }
svg { display: block; max-width: 100%; height: auto; } .narrow { display: none; }
summary { cursor: pointer; color: var(--soft); font-size: 13px; margin-top: 8px; }
.table { overflow-x: auto; } table { border-collapse: collapse; font-size: 12.5px; white-space: nowrap; }
th, td { padding: 2px 14px 2px 0; text-align: left; border-bottom: 1px solid var(--grid); } th { color: var(--soft); font-weight: 500; }
td.number { text-align: right; } .missed { color: var(--loss); font-weight: 600; }
ul { margin: 6px 0; padding-left: 20px; font-size: 14px; }
@media (max-width: 640px) { .wide { display: none; } .narrow { display: block; } .pairs { display: block; } h1 { font-size: 22px; } }
"""


def machine(run):
    """What was measured on, and when, in two lines."""
    known = run["machine"]
    commit = f", commit {known['commit']}" if known.get("commit") else ""
    load = f", at a load average of {known['load']:g}" if known.get("load") else ""
    return [
        ", ".join(filter(None, [known["processor"], f"{known['cores']} cores", known["system"], known["swift"]])),
        f"{known['date']}{commit}{', a quick run' if run['isQuick'] else ''}{load}. Benchmarks/README.md says what each side does, and what its writes survive.",
    ]


def _plot(plot):
    title = html.escape(plot.title)
    wide, narrow = plot.draw(400 if plot.is_small else 820).element(plot.title), plot.draw(360).element(plot.title)
    note = f'<p class="note">{html.escape(plot.note)}</p>' if plot.note else ""
    return (f"<h3>{title}</h3>{note}\n<div class=\"wide\">{wide}</div>\n<div class=\"narrow\">{narrow}</div>\n"
            f"<details><summary>The numbers</summary>{_table(*plot.table)}</details>\n")


def _table(head, rows):
    def cell(words):
        is_number = words[:1].isdigit() or words == "–"
        style = ' class="number"' if is_number else ' class="missed"' if words.endswith("missed") else ""
        return f"<td{style}>{html.escape(words)}</td>"

    lines = "\n".join("<tr>" + "".join(cell(words) for words in row) + "</tr>" for row in rows)
    names = "".join(f"<th>{html.escape(name)}</th>" for name in head)
    return f'<div class="table"><table><thead><tr>{names}</tr></thead><tbody>\n{lines}\n</tbody></table></div>'


def _limits(run):
    """How many limits are met, and which are not."""
    missed = [limit["title"] for limit in run["limits"] if not limit["isMet"]]
    ratios = [side["ratio"] for comparison in run["comparisons"] for side in comparison["sides"] if side.get("ratio")]
    slower = sum(ratio > 1 for ratio in ratios)
    words = (f"{len(run['limits']) - len(missed)} of {len(run['limits'])} limits are met. "
             f"Ours is slower in {slower} of {len(ratios)} comparisons of two sides.")
    if not missed:
        return f"<p>{words}</p>"
    items = "".join(f"<li>{html.escape(title)}</li>" for title in missed)
    return f"<p>{words}</p><details><summary>The {len(missed)} limits that are not met</summary><ul>{items}</ul></details>"


def _not_measured(run, titles):
    """What is missing, if anything is."""
    sides = {(side["name"], side["notRun"]) for comparison in run["comparisons"] for side in comparison["sides"] if side.get("notRun")}
    words = [f"{name}: {reason}." for name, reason in sorted(sides)]
    if run.get("filter"):
        words.insert(0, f"Only the comparisons that match {run['filter']} were run, and no probe.")
    if run["isQuick"]:
        words.insert(0, "A quick run: no store of a million entries, and fewer turns.")
    words += [f"No plot of “{title}”." for title in titles]
    if not words:
        return ""
    return "<h2>Not measured in this run</h2><ul>" + "".join(f"<li>{html.escape(line)}</li>" for line in words) + "</ul>"


def _contents(run):
    sections, missing = [], []
    for title, found in plots.of_page(run):
        drawn = [plot for plot in found if plot]
        if drawn:
            plots_of_section = "".join(f"<section>{_plot(plot)}</section>" for plot in drawn)
            kind = ' class="pairs"' if drawn[0].is_small else ""
            sections.append(f"<h2>{html.escape(title)}</h2>\n<div{kind}>{plots_of_section}</div>")
        else:
            missing.append(title)
    figures = [[figure["title"], f"{svg.number(figure['value'])} {figure['unit']}", _verdict(figure)] for figure in run["figures"]]
    if figures:
        sections.append("<h2>Processes of their own</h2><details><summary>The numbers</summary>"
                        + _table(["figure", "value", "limit"], figures) + "</details>")
    first, second = machine(run)
    return (f"<p class=\"note\">{html.escape(first)}<br>{html.escape(second)}</p>\n"
            + _limits(run) + _not_measured(run, missing) + "\n".join(sections))


def _verdict(figure):
    limit = figure.get("limit")
    return "" if limit is None else f"≤ {svg.number(limit)} {'met' if figure['value'] <= limit else 'missed'}"


def whole(run):
    return (f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            f"<title>Vellum: benchmarks</title>\n<style>\n{svg.COLOURS}{svg.STYLE}{STYLE}</style>\n</head>\n<body>\n"
            f"<h1>Vellum beside what one would use instead</h1>\n{_contents(run)}\n</body>\n</html>\n")
