#!/usr/bin/env python3
"""Compares what is final with the copies in Documentation/Frozen, and fails if something has changed or is gone.

    check_frozen.py             compares
    check_frozen.py --update    writes the copies anew, and prints what has changed

`fixtures.txt` has the SHA-256 of each file of `Tests/Fixtures`. `layout.txt` has what decides which bytes lie in a file of format 1 and in its
`-changes`: the SQL of the tables, numbers, tags and words, as the sources spell them, and the words of `-changes` with their meanings, as
`Documentation/Format.md` says them. `api.txt` has the lines of `Documentation/API`. A later version may add fixtures and public
declarations; the layout stays as it is."""
import hashlib
import re
import sys
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent.parent
FROZEN = PACKAGE / "Documentation" / "Frozen"
ENGINE, PAGE = "Sources/VellumEngine", "Sources/VellumEngine/Sharing/ChangePage.swift"
# What it is, where it is said, by which pattern, and the least number of places where it must be found.
LAYOUT = [
    ("SQL", f"{ENGINE}/Tables/*.swift", r'"""\s*(CREATE (?!TEMP)(?s:(?!""").)*?)\s*"""|(?<!")"(CREATE (?!TEMP).*)"', 14),
    ("SQL", f"{ENGINE}/Tables/Features.swift", r'"(INSERT INTO features.*)"', 1),
    ("SQL", f"{ENGINE}/SQLite/SQL.swift", r'"(PRAGMA (?:journal_mode|auto_vacuum) = \w+)"', 2),
    ("header", f"{ENGINE}/Tables/Schema.swift", r"(formatVersion = \d+)", 1),
    ("header", f"{ENGINE}/Tables/FileHeader.swift", r"case (\w+ = 0x\w+)", 3),
    ("numbers", f"{ENGINE}/Tables/EntryTable.swift", r"static let (bits: Int64 = .*|lastArchive: Int64 = .*)", 2),
    ("hash", "Sources/VellumCore/Keys/*Hash.swift", r"(0x[\dA-F]{4}_[\dA-F_]+)", 2),
    ("checksum", "Sources/CChecksum/crc32c.c", r"#define (POLYNOMIAL \w+)", 1),
    ("tags", "Sources/CBORCoding/Format/MajorType.swift", r"static let (\w+: UInt64 = \d+)", 10),
    ("remembered miss", "Sources/MiniCache/Engine/CachedValue.swift", r"(Data\(\[\d+\]\) \+ Data\(count: \d+\))", 1),
    ("-changes", PAGE, r"static let (?!mostKeys)(\w+(?:: \w+)? = .*?)(?: *//.*)?$", 10),
    ("-changes", PAGE, r"case (\w+ = \d+)", 0),
    ("-changes", PAGE, r"(?:var|let) (\w+): [^\n]*(\{ word\(\d+\) \})", 2),
    ("-changes", PAGE, r"(word\(\d+\)|\bslot \+ \d+)", 9),
    ("-changes", PAGE, r"\borigin\b.*?((?:<<|>>|&) [\dx]\w*)", 1),
    ("-changes", "Documentation/Format.md", r"(?s)## The file `-changes`.*?\| --- \|\n(.*?)\n\n", 1),
]


def lines(text):
    """The lines of a file without its first, which says what it is."""
    return set(text.split("\n")[1:]) - {""}


def fixtures():
    """A line for each file: its name and its digest."""
    folder = PACKAGE / "Tests" / "Fixtures"
    return {f"{path.relative_to(folder).as_posix()} {hashlib.sha256(path.read_bytes()).hexdigest()}"
            for path in folder.rglob("*") if path.is_file() and path.suffix != ".py"}


def layout():
    """A line for each thing that is found: what it is, and how it is said."""
    found = set()
    for name, files, pattern, least in LAYOUT:
        texts = [" ".join(filter(None, match.groups())) for path in sorted(PACKAGE.glob(files))
                 for match in re.finditer(pattern, path.read_text(), re.MULTILINE)]
        if len(texts) < least:
            sys.exit(f"{files} has {len(texts)} of {least} places with the layout of {name}. {Path(__file__).name} must say where they are.")
        # Each row of a table of a document is a line of its own; SQL is one, however it is broken.
        texts = [re.sub(r"\\\n\s*|\n\s*(?=\.)", "", text) for text in texts]
        rows = [row for text in texts for row in (text.split("\n") if files.endswith(".md") else [text])]
        found |= {f"{name}: {' '.join(row.split())}" for row in rows}
    return found


def api():
    """The public declarations, with their modules."""
    return {f"{path.stem}: {line}" for path in (PACKAGE / "Documentation" / "API").glob("*.txt")
            if path.stem not in ("allowed", "toolchain") for line in lines(path.read_text())}


# What is compared, and whether something may be added.
KINDS = [("fixtures", fixtures, True), ("layout", layout, False), ("api", api, True)]


def main():
    """Compares, or writes the copies."""
    update, wrong, count = sys.argv[1:] == ["--update"], [], 0
    if sys.argv[1:] and not update:
        sys.exit(__doc__)
    for name, find, may_grow in KINDS:
        path, present = FROZEN / f"{name}.txt", find()
        frozen = lines(path.read_text()) if path.exists() else set()
        changes = [f"- {line}" for line in frozen - present]
        if update or not may_grow:
            changes += [f"+ {line}" for line in present - frozen]
        wrong += [f"{change[:2]}{name}: {change[2:]}" for change in sorted(changes, key=lambda change: (change[2:], change[0]))]
        count += len(frozen)
        if update:
            FROZEN.mkdir(exist_ok=True)
            path.write_text(f"# What is final of {name}. Compared by `make frozen`.\n" + "".join(f"{line}\n" for line in sorted(present)))
    for line in wrong:
        print(line)
    if wrong and not update:
        sys.exit(f"{len(wrong)} lines of what is final have changed. Files that are written, and programs that were compiled, rely on them: "
                 "undo it. An addition to the layout that a program of today ignores is written down by `make frozen UPDATE=1`.")
    print("Written to Documentation/Frozen." if update else f"All {count} lines of what is final are as they were.")


main()
