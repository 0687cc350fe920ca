#!/usr/bin/env python3
"""Writes `Sources/VellumCore/Text/CaseFoldingData.swift`: what case folding and leaving out diacritics need to know of Unicode 15.0.

Reads the files of Debian's package `unicode-data` (`UnicodeData.txt` and `CaseFolding.txt`):
python3 Scripts/case_folding.py /usr/share/unicode
"""
import sys
from pathlib import Path

from normal_form import COLUMNS, VERSION, digits

TARGET = Path(__file__).parent / "../Sources/VellumCore/Text/CaseFoldingData.swift"


def is_diacritic(category, combining):
    """Whether a nonspacing mark is an accent, or a point of Hebrew, Arabic or Syriac, and neither a vowel nor a part of a letter."""
    return category == "Mn" and (10 <= combining <= 36 or combining >= 200)


def main():
    """Writes the file anew."""
    folder = Path(sys.argv[1])
    lines = (folder / "CaseFolding.txt").read_text().splitlines()
    if VERSION not in lines[0]:
        raise SystemExit(f"{folder} does not have Unicode {VERSION}.")
    diacritics, starters, decomposed = [], set(), set()
    for line in (folder / "UnicodeData.txt").read_text().splitlines():
        scalar, _, category, combining, _, mapping = line.split(";")[:6]
        if mapping and "<" not in mapping:
            decomposed.add(int(scalar, 16))
        elif is_diacritic(category, int(combining)):
            diacritics.append(int(scalar, 16))
        elif combining == "0":
            starters.add(int(scalar, 16))
    foldings = []
    for line in lines:
        fields = line.split("#")[0].split("; ")
        if len(fields) < 3 or fields[1] not in "CF" or int(fields[0], 16) in decomposed:
            continue
        parts = [int(part, 16) for part in fields[2].split()]
        # Neither needs to be decomposed, reordered or folded again.
        assert starters.issuperset(parts), line
        foldings.append((int(fields[0], 16), parts))
    # Runs of scalars, each one or two after the one before, whose folding is as far away.
    runs, longer = [], []
    for scalar, parts in foldings:
        if len(parts) > 1:
            longer.append((scalar, parts))
            continue
        run, difference = runs[-1] if runs else None, parts[0] - scalar
        step = scalar - run[0] - (run[1] - 1) * run[2] if run else 0
        if run and run[3] == difference and step in (1, 2) and (run[1] == 1 or step == run[2]):
            run[1:3] = [run[1] + 1, step]
        else:
            runs.append([scalar, 1, 1, difference])
    numbers, previous = [len(runs)], 0
    for start, count, step, difference in runs:
        numbers += [start - previous, count * 2 + step - 1, abs(difference) * 2 + (difference < 0)]
        previous = start
    numbers.append(len(longer))
    previous = 0
    for scalar, parts in longer:
        numbers += [scalar - previous, len(parts)] + parts
        previous = scalar
    runs = []
    for scalar in diacritics:
        if runs and sum(runs[-1]) == scalar:
            runs[-1][1] += 1
        else:
            runs.append([scalar, 1])
    numbers.append(len(runs))
    previous = 0
    for start, count in runs:
        numbers += [start - previous, count]
        previous = start
    text = "".join(map(digits, numbers))
    lines = [text[start:start + COLUMNS] for start in range(0, len(text), COLUMNS)]
    TARGET.write_text(f'''\
// Made by Scripts/case_folding.py of Unicode {VERSION}.
extension CaseFolding {{
    /// Numbers, each in digits of five bits, as in `NormalForm.data`.
    ///
    /// First the runs of characters of which each is folded to one character: their count, then of
    /// each the difference to the start of the run before; the length, twice, and 1 more if every
    /// other character is in the run; the distance to the folded character, twice, and 1 more if it
    /// is negative. Then the characters that are folded to several: their count, then of each the
    /// difference to the character before, the count of its parts, and these. Then the runs of
    /// diacritics: their count, then of each the difference to the start of the run before, and the
    /// length. Characters that have a canonical decomposition are left out.
    static let data: StaticString = #"""
''' + "".join(f"        {line}\n" for line in lines) + '''        """#
}
''')


if __name__ == "__main__":
    main()
