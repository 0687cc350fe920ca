#!/usr/bin/env python3
"""Writes `Sources/VellumCore/Text/NormalFormData.swift`: what normal form C needs to know of Unicode 15.0.

Reads the files of Debian's package `unicode-data` (`UnicodeData.txt` and `CompositionExclusions.txt`):
python3 Scripts/normal_form.py /usr/share/unicode
"""
import re
import sys
from pathlib import Path

VERSION, COLUMNS = "15.0.0", 92
TARGET = Path(__file__).parent / "../Sources/VellumCore/Text/NormalFormData.swift"


def digits(number):
    """`number` in digits of five bits, the least significant first; all but the last are marked by 32."""
    text = ""
    while number > 31:
        text += chr(48 + 32 + number % 32)
        number //= 32
    return text + chr(48 + number)


def main():
    """Writes the file anew."""
    folder = Path(sys.argv[1])
    if VERSION not in (folder / "DerivedAge.txt").read_text().splitlines()[0]:
        raise SystemExit(f"{folder} does not have Unicode {VERSION}.")
    excluded = {int(scalar, 16) for scalar in
                re.findall(r"^([0-9A-F]+)", (folder / "CompositionExclusions.txt").read_text(), re.MULTILINE)}
    classes, decompositions = {}, {}
    for line in (folder / "UnicodeData.txt").read_text().splitlines():
        scalar, _, _, combining, _, mapping = line.split(";")[:6]
        if combining != "0":
            classes[int(scalar, 16)] = int(combining)
        if mapping and "<" not in mapping:
            decompositions[int(scalar, 16)] = [int(part, 16) for part in mapping.split()]
    numbers, previous = [len(decompositions)], 0
    for scalar, parts in sorted(decompositions.items()):
        # A scalar of one part, and one that begins with a mark, are never composed (UAX 15, 5).
        is_composed = len(parts) == 2 and scalar not in excluded and not classes.get(scalar) and not classes.get(parts[0])
        numbers += [(scalar - previous) * 2 + is_composed, parts[0], parts[1] if len(parts) == 2 else 0]
        previous = scalar
    runs = []
    for scalar, combining in sorted(classes.items()):
        if runs and runs[-1][2] == combining and runs[-1][0] + runs[-1][1] == scalar:
            runs[-1][1] += 1
        else:
            runs.append([scalar, 1, combining])
    numbers.append(len(runs))
    previous = 0
    for start, count, combining in runs:
        numbers += [start - previous, count, combining]
        previous = start
    text = "".join(map(digits, numbers))
    lines = [text[start:start + COLUMNS] for start in range(0, len(text), COLUMNS)]
    TARGET.write_text(f'''\
// Made by Scripts/normal_form.py of Unicode {VERSION}.
extension NormalForm {{
    /// Numbers, each in digits of five bits, the least significant first; a digit is a character
    /// from `0` on, and 32 more before another digit.
    ///
    /// First the canonical decompositions: their count, then of each the difference to the scalar
    /// before, twice, and 1 more if the parts are composed again; the first part; the second part,
    /// or 0. Then the runs of scalars with one combining class: their count, then of each the
    /// difference to the start of the run before, the length and the class.
    static let data: StaticString = #"""
''' + "".join(f"        {line}\n" for line in lines) + '''        """#
}
''')


if __name__ == "__main__":
    main()
