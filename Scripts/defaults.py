#!/usr/bin/env python3
"""Fails where a requirement of a public protocol has a default that Scripts/defaults.txt does not decide about, or where that decides about one that is
gone. A slip in the name or the type of an implementation selects the default without a word of the compiler, so that each must be what a type means
that says nothing. Reads the declarations in Documentation/API.

`defaults.txt` has a line for each: the protocol and the name of the requirement, a colon, and why the default is what is meant."""
import re
import sys
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent.parent


def name_of(declaration):
    """The name of a requirement, with the labels of its arguments."""
    word = re.search(r"\b(func|var|associatedtype|init|subscript) ?([^\s(<:]*)(\(.*)?", declaration)
    labels = re.findall(r"(?:^\(|, )(\w+)(?: \w+)?: ", word[3] or "")
    return word[2] + ("(" + "".join(f"{label}:" for label in labels) + ")" if word[3] else "")


def defaults(lines):
    """The requirements that have a default, in an extension of their protocol or of one that refines it."""
    protocols = {match[1] for match in (re.match(r"(?:@\w+ )*protocol (\w+)", line) for line in lines) if match}
    declared = {}
    for line in lines:
        where, bar, text = line.partition(" | ")
        kind, _, constraint = where.partition(" where ")
        if bar and kind in protocols and not text.startswith(("requirement ", "typealias ")):
            declared.setdefault(name_of(text), set()).add(kind)
    refined = {(one, other) for one, colon, other in (line.partition(" : ") for line in lines) if colon}
    for line in lines:
        kind, _, text = line.partition(" | requirement ")
        if not text:
            continue
        plain = text.removeprefix("with default ")
        if plain != text or any(other == kind or (other, kind) in refined for other in declared.get(name_of(plain), ())):
            yield f"{kind}.{name_of(plain)}"


def main():
    """Compares the defaults with what is decided."""
    lines = [line for path in sorted((PACKAGE / "Documentation" / "API").glob("[A-Z]*.txt")) for line in path.read_text().split("\n")]
    found = set(defaults(lines))
    decided, wrong = set(), []
    for line in (PACKAGE / "Scripts" / "defaults.txt").read_text().split("\n"):
        name, _, reason = line.rpartition(": ")
        if line.startswith("#") or not line:
            continue
        if len(reason) < 20:
            wrong.append(f"{line}: why is the default what is meant?")
        decided.add(name)
    wrong += [f"{name} has a default that a slip selects: say in Scripts/defaults.txt why it is meant, or make it an error"
              for name in sorted(found - decided)]
    wrong += [f"{name} has no default any more: remove it from Scripts/defaults.txt" for name in sorted(decided - found)]
    print("\n".join(wrong), end="\n" if wrong else "")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
