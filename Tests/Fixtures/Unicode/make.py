#!/usr/bin/env python3
"""Writes what `NormalFormTests` and `CaseFoldingTests` compare with, from the files of Debian's package `unicode-data` and from `unicodedata2` 15.0.0 of PyPI.

python3 make.py /usr/share/unicode

`NormalizationTest.txt` has the columns of Unicode's file without its comments. `RandomStrings.txt` has a digest of the normal forms of
100,000 strings, for each thousand of them. `FoldedStrings.txt` has digests of the first 25,000 of them without case, and without case and diacritics;
`FoldedCharacters.txt` has those of all characters, for each 4096 of them.
"""
import bz2
import sys
from pathlib import Path

import unicodedata2 as unicodedata

MASK = (1 << 64) - 1
RANGES = [(0x300, 0x370), (0x1100, 0x1200), (0xAC00, 0xD7A4), (0x41, 0x180), (0x900, 0xE00), (0x1E00, 0x2000), (0xF900, 0xFB50), (0x1D000, 0x1D200),
          (0x11000, 0x11800), (0, 0x110000)]


def digest(state, data):
    """FNV-1a, of 64 bits."""
    for byte in data:
        state = (state ^ byte) * 0x100000001B3 & MASK
    return state


def strings(count):
    """Random strings of assigned characters, from SplitMix64 with the seed 15."""
    state = 15

    def number(below):
        nonlocal state
        state = state + 0x9E3779B97F4A7C15 & MASK
        mixed = (state ^ state >> 30) * 0xBF58476D1CE4E5B9 & MASK
        mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EB & MASK
        return (mixed ^ mixed >> 31) % below

    for _ in range(count):
        text, length = "", 1 + number(12)
        while len(text) < length:
            start, end = RANGES[number(len(RANGES))]
            scalar = start + number(end - start)
            if unicodedata.category(chr(scalar)) not in ("Cn", "Cs"):
                text += chr(scalar)
        yield text


def folded(text, foldings, keeps_diacritics):
    """The string without case: The Unicode Standard, 3.13, D145. Then normal form C."""
    text = unicodedata.normalize("NFD", text)
    if not keeps_diacritics:
        text = "".join(mark for mark in text if not (unicodedata.category(mark) == "Mn" and (
            unicodedata.combining(mark) in range(10, 37) or unicodedata.combining(mark) >= 200)))
    return unicodedata.normalize("NFC", "".join(foldings.get(scalar, scalar) for scalar in text))


def write_folded(path, groups, foldings):
    """Writes the two digests of each group of strings."""
    with open(path, "w", encoding="ascii") as output:
        for group in groups:
            states = [0xCBF29CE484222325] * 2
            for text in group:
                for index, keeps_diacritics in enumerate((True, False)):
                    states[index] = digest(states[index], folded(text, foldings, keeps_diacritics).encode() + b"\0")
            print(f"{states[0]:016x} {states[1]:016x}", file=output)


def main():
    """Writes the files."""
    assert unicodedata.unidata_version == "15.0.0"
    here = Path(__file__).parent
    lines = bz2.open(Path(sys.argv[1]) / "NormalizationTest.txt.bz2", "rt", encoding="utf-8").read().splitlines()
    with open(here / "NormalizationTest.txt", "w", encoding="ascii") as output:
        for line in lines:
            if line and line[0] not in "#@":
                print(";".join(line.split(";")[:5]), file=output)
    with open(here / "RandomStrings.txt", "w", encoding="ascii") as output:
        state = 0xCBF29CE484222325
        for index, text in enumerate(strings(100_000), 1):
            state = digest(state, unicodedata.normalize("NFC", text).encode() + b"\0")
            if index % 1000 == 0:
                print(f"{state:016x}", file=output)
    foldings = {}
    for line in (Path(sys.argv[1]) / "CaseFolding.txt").read_text(encoding="utf-8").splitlines():
        fields = line.split("#")[0].split("; ")
        if len(fields) > 2 and fields[1] in "CF":
            foldings[chr(int(fields[0], 16))] = "".join(chr(int(part, 16)) for part in fields[2].split())
    characters = [[chr(scalar) for scalar in range(start, start + 4096) if not 0xD800 <= scalar < 0xE000] for start in range(0, 0x110000, 4096)]
    write_folded(here / "FoldedCharacters.txt", characters, foldings)
    texts = list(strings(25_000))
    write_folded(here / "FoldedStrings.txt", [texts[start:start + 1000] for start in range(0, len(texts), 1000)], foldings)


if __name__ == "__main__":
    main()
