"""Draws what a run of the benchmarks measured. Needs only the standard library.

    python3 Benchmarks/Pictures RUN.json             writes index.html beside RUN.json
    python3 Benchmarks/Pictures --readme RUN.json    writes the pictures of README.md beside RUN.json

RUN.json is written by the tool Report (`Tools/Report/Summary.swift`).
"""
import json
import pathlib
import sys

import page
import plots
import svg


def main():
    is_readme = sys.argv[1:2] == ["--readme"]
    arguments = sys.argv[2:] if is_readme else sys.argv[1:]
    if len(arguments) != 1:
        sys.exit(__doc__)
    path = pathlib.Path(arguments[0])
    run = json.loads(path.read_text())
    if not is_readme:
        (path.parent / "index.html").write_text(page.whole(run))
        return
    for name, plot in plots.of_readme(run).items():
        if plot:
            (path.parent / f"{name}.svg").write_text(svg.file(plot.draw, plot.title, page.machine(run)))
        else:
            print(f"{name}.svg stays as it is: the run did not measure it.", file=sys.stderr)


main()
