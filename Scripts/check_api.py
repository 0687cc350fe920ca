#!/usr/bin/env python3
"""Compares the public declarations of the modules with those that are checked in, and fails where a program that compiled would no longer do so.

    check_api.py BUILD_FOLDER               compares; additions are no breaks
    check_api.py BUILD_FOLDER --update      writes what was added into Documentation/API
    check_api.py BUILD_FOLDER --update-all  writes Documentation/API anew, with every break: for a new major version

BUILD_FOLDER was built with the traits `Valkey` and `Metrics`. Documentation/API has a file for each module, with a line for each public declaration and
conformance, and `allowed.txt`, with the breaks that are accepted. `swift-api-digester` says which declarations there are, and the symbol graph
spells them: decision 66."""
import json
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from os import environ
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent.parent
BASELINES = PACKAGE / "Documentation" / "API"
# The products, then what they export again.
MODULES = ["Vellum", "MiniCache", "Shallows", "ShallowsSQLite", "CBORCoding", "VellumFiles", "VellumTesting", "MiniCacheValkey", "ShallowsValkey", "VellumMetrics",
           "ModelVersions", "VellumCore", "VellumRemote", "VellumValkey"]
# Modules without a public declaration.
EMPTY = ["CodableFormats", "Originals", "VellumEngine"]
SWIFT = environ.get("SWIFT", "swift")
# What a type conforms to without a word.
IMPLIED = {"Copyable", "Escapable", "BitwiseCopyable"}


class Failure(Exception):
    """What ends the check, in a sentence."""


def run(*command):
    """What a command prints. A command that fails ends the check."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode:
        raise Failure(f"{Path(command[0]).name} failed:\n{done.stderr[-2000:]}")
    return done.stdout


def toolchain():
    """The version of Swift and the platform, and the path of the digester beside it."""
    target = json.loads(run(SWIFT, "-print-target-info"))
    digester = Path(target["paths"]["runtimeResourcePath"]).parent.parent / "bin" / "swift-api-digester"
    version = re.search(r"Swift version (\d+\.\d+)", target["compilerVersion"])
    system = re.search(r"linux|macos", target["target"]["unversionedTriple"])
    if not digester.exists():
        raise Failure(f"{digester} does not exist.")
    return f"Swift {version[1] if version else '?'} on {system[0] if system else 'another system'}", digester


# The declarations of a module


class Module:
    """The public declarations of a compiled module, as lines: what they are declared in, ` | `, and the declaration; or a type, ` : `, and what
    it conforms to. `needs` has the lines that a conforming type must satisfy, or that a `switch` must handle, with the type they belong to."""

    def __init__(self, name, flags, digester, folder):
        self.name, self.lines, self.needs = name, set(), {}
        folder = Path(folder) / name
        folder.mkdir()
        run(digester, "-dump-sdk", "-swift-only", "-avoid-location", "-avoid-tool-args", "-module", name, *flags, "-o", folder / "dump.json")
        run(SWIFT, "symbolgraph-extract", "-minimum-access-level", "public", "-skip-synthesized-members", "-skip-inherited-docs",
            "-module-name", name, *flags, "-output-dir", folder)
        graphs = [json.loads(path.read_text()) for path in sorted(folder.glob("*.symbols.json"))]
        # Members that a type gets from protocols of other modules are not declared here.
        self.symbols = {symbol["identifier"]["precise"]: symbol for graph in graphs for symbol in graph["symbols"]
                        if "::SYNTHESIZED::" not in symbol["identifier"]["precise"]}
        self.relations = [relation for graph in graphs for relation in graph["relationships"]]
        self.names, hidden = {}, []
        self.digest(json.loads((folder / "dump.json").read_text())["ABIRoot"], [], hidden)
        if hidden:
            raise Failure(f"{name}: the symbol graph leaves out {', '.join(sorted(hidden))}.")
        self.names |= {usr: ".".join(symbol["pathComponents"]) for usr, symbol in self.symbols.items()}
        self.declare()
        self.conform()

    def digest(self, node, path, hidden):
        """Finds the names of what the digester counts as public, and which of it the symbol graph leaves out."""
        for child in node.get("children", []):
            if child.get("isInternal") or child.get("implicit") or child.get("spi_group_names") or "usr" not in child:
                continue
            if child["kind"].startswith("Type") and child["kind"] not in ("TypeDecl", "TypeAlias"):
                continue
            here = path + [child["printedName"]]
            self.names[child["usr"]] = ".".join(here)
            unavailable = "Available" in child.get("declAttributes", [])
            if child["usr"] not in self.symbols and not child.get("isExternal") and not unavailable:
                hidden.append(".".join(here))
            self.digest(child, here, hidden)

    def declare(self):
        """Makes the lines of the declarations."""
        required = {relation["source"]: relation["target"] for relation in self.relations if relation["kind"] == "requirementOf"}
        # A default that only some conforming types get is none.
        defaulted = {relation["target"] for relation in self.relations
                     if relation["kind"] == "defaultImplementationOf" and relation["source"] in self.symbols
                     and not conditions(self.symbols[relation["source"]])
                     and self.symbols[relation["source"]]["pathComponents"][:-1] == self.parent(relation["target"])}
        for usr, symbol in self.symbols.items():
            text = spelled(symbol)
            where = ".".join(symbol["pathComponents"][:-1])
            if usr in required:
                default = usr in defaulted or text.startswith("associatedtype") and " = " in text
                text = ("requirement with default " if default else "requirement ") + text
            if conditions(symbol):
                where += " where " + conditions(symbol)
            line = f"{where} | {text}" if where else text
            self.lines.add(line)
            if usr in required and not default:
                self.needs[line] = ".".join(symbol["pathComponents"][:-1])
            if symbol["kind"]["identifier"] == "swift.enum.case":
                self.needs[line] = ".".join(symbol["pathComponents"][:-1])

    def parent(self, usr):
        """The path of what a declaration is declared in."""
        return self.symbols[usr]["pathComponents"][:-1] if usr in self.symbols else None

    def conform(self):
        """Makes the lines of conformances and superclasses."""
        conformances = [(relation["source"], self.named(relation), conditions(relation)) for relation in self.relations
                        if relation["kind"] in ("conformsTo", "inheritsFrom")]
        for source, protocol, when in conformances:
            # `Sendable` says it, too.
            implied = protocol in IMPLIED or protocol == "SendableMetatype" and (source, "Sendable", when) in conformances
            if source not in self.names or implied or source not in self.symbols and protocol in ("Sendable", "SendableMetatype"):
                continue
            line = f"{self.names[source]} : {protocol}" + (f" where {when}" if when else "")
            self.lines.add(line)
            if source in self.symbols and self.symbols[source]["kind"]["identifier"] == "swift.protocol":
                self.needs[line] = self.names[source]

    def named(self, relation):
        """The name of what a type conforms to or inherits from."""
        fallback = relation.get("targetFallback", "")
        return fallback.partition(".")[2] or self.names.get(relation["target"], relation["target"])


def conditions(item):
    """The conditions of an extension or a conformance."""
    found = item.get("swiftConstraints") or item.get("swiftExtension", {}).get("constraints") or []
    kinds = {"conformance": ":", "superclass": ":", "sameType": "=="}
    return ", ".join(sorted({f"{one['lhs']} {kinds[one['kind']]} {one['rhs']}" for one in found if one["rhs"] not in IMPLIED}))


def spelled(symbol):
    """A declaration, with its access only if it is open, and without the values of its defaults."""
    text = " ".join("".join(fragment["spelling"] for fragment in symbol["declarationFragments"]).split())
    text = re.sub(r"\b(public|open) ", "", text)
    if re.match(r"(@\S+ )*(\w+ )*(func|init|subscript|case)\b", text):
        text = without_defaults(text)
    kind = symbol["kind"]["identifier"]
    if kind == "swift.protocol":
        # What it inherits from has lines of its own.
        text = re.sub(r" : .*?(?= where |$)", "", text)
    if kind.endswith("property") or kind == "swift.var":
        text = re.sub(r"\blet (.*)", r"var \1 { get }", text)
        text = text if text.endswith("}") else text + " { get set }"
    return ("open " if symbol.get("accessLevel") == "open" else "") + text


def without_defaults(text):
    """A declaration in which each default is `…`."""
    kept, depth, skipping, string = "", 0, False, False
    for index, character in enumerate(text):
        if character == '"' and text[index - 1] != "\\":
            string = not string
        if not string:
            depth -= character in ")]}"
            if skipping and (depth == 0 or depth == 1 and character == ","):
                skipping = False
                kept += "…"
        if not skipping:
            kept += character
        if not string:
            depth += character in "([{"
            if depth == 1 and kept.endswith(" = "):
                skipping = True
    return kept


def exports(module, sources):
    """What a module exports again. Conditions of the compiler are not evaluated."""
    found = set()
    for path in sorted((sources / module).rglob("*.swift")):
        found |= {f"export {name}" for name in re.findall(r"^@_exported public import (.*)$", path.read_text(), re.MULTILINE)}
    return found


# The comparison


def wider(old, new):
    """Whether each use of a declaration compiles, too, where `new` is declared in its place: one more default, a setter, `open`."""
    new = new.replace("requirement with default ", "requirement ") if "requirement with default " not in old else new
    for gained in ("open ", "@discardableResult ", "@frozen "):
        new = new.replace(gained, "") if gained not in old else new
    if "final " not in new:
        old = old.replace("final ", "")
    if "| requirement" not in old and "{ get }" in old:
        new = new.replace("{ get set }", "{ get }")
    # The new defaults, parameter by parameter.
    mine, theirs = old.split(", "), new.split(", ")
    if len(mine) == len(theirs):
        new = ", ".join(other if " = …" in one else other.replace(" = …", "") for one, other in zip(mine, theirs))
    return old == new


def name_of(line):
    """What a line declares, without its types: by this, a declaration that has changed is found again."""
    where, _, text = line.rpartition(" | ")
    if not where and re.match(r"\S+ : ", text):
        return line.partition(" where ")[0]
    word = re.search(r"\b(func|case|var|typealias|associatedtype|class|struct|enum|protocol|actor) ([^\s(<:]+)|\b(init|subscript)\b", text)
    return f"{where.partition(' where ')[0]} | {word[2] or word[3] if word else text}"


def breaks(old, module):
    """The breaks between the lines `old` and a module: `- ` and what is gone, or `+ ` and what must not come, each with a sentence."""
    come = {}
    for line in sorted(module.lines - old):
        come.setdefault(name_of(line), []).append(line)
    explained = set()
    for line in sorted(old - module.lines):
        candidates = come.get(name_of(line), [])
        better = [other for other in candidates if wider(line, other)]
        explained.update(better or candidates)
        if not better:
            yield f"- {module.name}: {line}", "\n".join(f"    is now: {other}" for other in candidates) or "    is gone"
    known = {name_of(line).replace(" | ", ".").lstrip(".") for line in old if re.search(r"(^|\| )([@\w()]+ )*(protocol|enum) ", line)}
    for line in sorted(module.lines - old - explained):
        if module.needs.get(line) in known:
            yield f"+ {module.name}: {line}", "    is new, and " + (
                "a `switch` does not handle it" if " | case " in line or " | indirect case " in line else "types that conform do not satisfy it")


def allowed(path):
    """The accepted breaks with their lines in the file, and what is wrong with it."""
    accepted, wrong = {}, []
    for number, line in enumerate(path.read_text().split("\n"), 1):
        if line.startswith("#") or not line.strip():
            continue
        entry, _, reason = line.partition("  # ")
        if len(reason.strip()) < 10:
            wrong.append(f"{path.name}:{number}: a break without a reason. Write it behind the break, after two spaces and `# `.")
        accepted[entry.strip()] = number
    return accepted, wrong


def compare(modules, folder, update=None):
    """What is wrong, as lines, and how many lines are new. Writes the baselines if asked to, and if nothing is wrong."""
    accepted, wrong = allowed(folder / "allowed.txt")
    matched, added, baselines = set(), 0, {}
    for module in modules:
        path = folder / f"{module.name}.txt"
        old = set(path.read_text().split("\n")[1:]) - {""} if path.exists() else set()
        found = dict(breaks(old, module)) if update != "all" else {}
        matched |= found.keys() & accepted.keys()
        wrong += [f"{line}\n{sentence}" for line, sentence in found.items() if line not in accepted]
        # An accepted break stays in the baseline as it was: the list of them says what has changed since the last major version.
        kept = {sign: {line.partition(": ")[2] for line in found if line.startswith(sign)} for sign in "-+"}
        baselines[path] = f"# Public declarations of {module.name}. Written by `make api UPDATE=1`: decision 66.\n" + "".join(
            line + "\n" for line in sorted((module.lines | kept["-"]) - kept["+"]))
        added += len(module.lines - old - kept["+"])
    wrong += [f"allowed.txt:{accepted[line]}: matches no break any more: {line}" for line in sorted(accepted.keys() - matched)]
    for path, text in baselines.items():
        if update and not wrong:
            path.write_text(text)
    return wrong, added


# The package


def flags_of(build):
    """The flags with which the modules of a build folder are imported."""
    maps = [PACKAGE / "Sources/CSQLite/module.modulemap", *sorted(build.glob("*.build/module.modulemap"))]
    for checkouts in (build.parent / "checkouts", build.parent.parent / "checkouts"):
        maps += sorted(checkouts.glob("*/Sources/*/include/module.modulemap"))
    return ["-I", build / "Modules"] + [word for path in maps for word in ("-Xcc", f"-fmodule-map-file={path}")]


def check(build, update):
    """Compares the modules of a build folder. Returns what to print, and whether it failed."""
    tools, digester = toolchain()
    record = BASELINES / "toolchain.txt"
    recorded = record.read_text().strip() if record.exists() else "no toolchain"
    if update != "all" and recorded != tools:
        return f"The public API was not compared: its baseline was made with {recorded}, and this is {tools}.", update is not None
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as pool:
        modules = list(pool.map(lambda name: Module(name, flags_of(build), digester, folder), MODULES + EMPTY))
    for module in modules:
        module.lines |= exports(module.name, PACKAGE / "Sources")
    public = [module.name for module in modules if module.name in EMPTY and any(" | " in line for line in module.lines)]
    if public:
        raise Failure(f"{', '.join(public)} has public declarations now: Scripts/check_api.py must compare it.")
    wrong, added = compare([module for module in modules if module.name in MODULES], BASELINES, update)
    if wrong:
        return "\n".join(wrong) + f"\n{len(wrong)} in all. A break that must be goes into Documentation/API/allowed.txt, with a reason.", True
    if update == "all":
        record.write_text(tools + "\n")
    count = sum(len(module.lines) for module in modules)
    advice = f" {added} are new: `make api UPDATE=1`." if added and not update else ""
    return f"The public API has {count} declarations and conformances, and breaks no program.{advice}", False


def main(arguments):
    """Runs what the arguments say."""
    update = {"--update": "additions", "--update-all": "all"}.get(arguments[1]) if len(arguments) == 2 else None
    if not arguments or len(arguments) > 2 or len(arguments) == 2 and update is None:
        print(__doc__)
        return 2
    text, failed = check(Path(arguments[0]).resolve(), update)
    print(text)
    return int(failed)


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except Failure as failure:
        print(failure)
        sys.exit(1)
