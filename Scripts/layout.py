#!/usr/bin/env python3
"""Fails where code is packed: a line holds one thought (decision 97).

usage: layout.py [FOLDER]      the root of a package (default: this one)

Checked are lines of more than 100 columns, assignments that stand in one line with others, files of
more than 450 lines of code, and, in each folder of `Sources` and `Tools/Sources`, the share of the
lines that have many tokens, as `weigh.py` counts them. At most two of a hundred statements may have
more than forty tokens: a token a line is no thought. What stands in braces is a statement of its
own. Comments and blank lines are no code.
"""
import re
import sys
from pathlib import Path

from weigh import code, packed, token, weigh

COLUMNS, LINES_OF_CODE, TOKENS, SHARE = 100, 450, 40, 2.0
# At least so many of a hundred lines have at most 15 tokens, and at most so many more than 25.
LIGHT, DENSE = 85.0, 1.0
# What `weigh.py` does not see: two names in one statement, and a tuple that is made to be taken apart.
SEVERAL = re.compile(r"^ *(?:(?:private|package|public|fileprivate|static) )*(?:let|var) \w+(?:: [\w.?]+)? = [^({\[<,]*, \w+(?:: [\w.?]+)? = ", re.M)
TAKEN_APART = re.compile(r"^ *(?:let |var )?\([^()=]*,[^()=]*\)(?:: \([^()]*\))?\s+=\s+(?:try |await )*(?:[^\n]*\?\s+)?\((?=[^()]*,)", re.M)
CONTINUES = re.compile(r"\s*(?:\.\w|[-+*/%&|^<>=?:]+ |\?\? |(?:else|where|in|throws|catch)\b|->|[{)\]])")
GOES_ON = re.compile(r"(?:[-+*/%&|^=,(\[]|\?\?|->|\b(?:return|try|await|in|else)|&&|\|\|)$")


def statements(text):
    """Yields of each statement its line and how many tokens it has outside of braces."""
    levels, previous = [[0, 0, 0]], ""
    for number, line in enumerate(text.split("\n"), 1):
        words = token.findall(line)
        if not words:
            continue
        count, depth, start = levels[-1]
        goes_on = depth > 0 or CONTINUES.match(line) or count and GOES_ON.search(previous.rstrip())
        if not goes_on and count:
            yield start, count
            levels[-1][0] = 0
        for word in words:
            if word == "}" and len(levels) > 1:
                count, _, start = levels.pop()
                if count:
                    yield start, count
            level = levels[-1]
            if level[0] == 0:
                level[2] = number
            level[0] += 1
            level[1] += (word in "([") - (word in ")]")
            if word == "{":
                levels.append([0, 0, number])
        previous = line


def plain(text):
    """The code of a text, in its lines."""
    return re.sub(r'/\*.*?\*/|"""(?:.|\n)*?"""', lambda match: '""' + "\n" * match[0].count("\n"), text, flags=re.S)


def problems(root):
    """What is packed."""
    paths = [path for folder in ("Sources", "Tools", "Tests") for path in sorted((root / folder).rglob("*"))
             if path.suffix in (".swift", ".c", ".h") and ".build" not in path.parts]
    large = counted = 0
    for path in paths:
        text, name = path.read_text(), path.relative_to(root)
        for number, line in enumerate(text.split("\n"), 1):
            # A letter and its accents are one column.
            if len(re.sub(r"[\u0300-\u036f\u064b-\u0655]", "", line)) > COLUMNS:
                yield f"{name}:{number}: more than {COLUMNS} columns"
        if path.suffix != ".swift":
            continue
        lines = sum(not re.match(r"\s*(?://|$)", line) for line in text.split("\n"))
        if lines > LINES_OF_CODE:
            yield f"{name}: {lines} lines of code, more than {LINES_OF_CODE}"
        if "Tests" in path.parts:
            continue
        bare = code(plain(text))
        for what in (packed, SEVERAL, TAKEN_APART):
            for match in what.finditer(bare):
                yield f"{name}:{bare.count(chr(10), 0, match.end()) + 1}: several statements in one"
        for number, tokens in statements(bare):
            counted += 1
            large += tokens > TOKENS
    if counted and 100 * large / counted > SHARE:
        yield f"{large} of {counted} statements have more than {TOKENS} tokens, more than {SHARE} %"
    for folder in sorted([*(root / "Sources").iterdir(), *(root / "Tools" / "Sources").glob("*")]):
        _, _, _, lines, light, dense = weigh(folder)
        if lines and 100 * light / lines < LIGHT:
            yield f"{folder.name}: only {100 * light / lines:.1f} % of the lines have at most 15 tokens, not {LIGHT} %"
        if lines and 100 * dense / lines > DENSE:
            yield f"{folder.name}: {100 * dense / lines:.1f} % of the lines have more than 25 tokens, more than {DENSE} %"


found = list(problems(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent))
print("\n".join(found))
sys.exit(bool(found))
