#!/usr/bin/env python3
"""Fails where a function is nested deeper than four levels or has more than six parameters, where a file that is not on the list makes a queue,
a thread or a lane, or ends the process, where a public declaration has no sentence, where a public parameter is not tested with negative, huge and
empty values, where the privacy manifest does not say what is called, and where a page of the documentation has a line of code that needs a
scroll bar, where a class has more than fourteen stored properties, where more than eight files extend one class, and
where a decision is cited nowhere. Reads sources as
swift-format leaves them."""
import plistlib
import re
import sys
from pathlib import Path

PACKAGE = Path(__file__).parent.parent
SOURCES = PACKAGE / "Sources"
# How many characters of code DocC shows in a window that is 1280 pixels wide, and in an item of a list.
CODE_WIDTH, CODE_WIDTH_IN_LIST = 74, 72
# What blocks or runs in the background.
QUEUES = {"VellumCore/Concurrency/Lane.swift", "VellumEngine/File/Maintenance.swift"}
# Who has a lane of its own, which is one thread while it works. Everybody else uses those of the process.
LANES = {
    "VellumCore/Concurrency/Lane.swift", "VellumCore/Concurrency/SerialQueue.swift", "VellumEngine/File/WriteLane.swift",
    "VellumEngine/File/ChangeWatcher.swift", "Shallows/Coordination/KeyedMutex+Call.swift", "VellumFiles/LineBuffer.swift",
    "VellumCore/Pressure/PressureSource.swift",
}
# What ends the process, and how often: for what no input can reach, or the system has no memory. A precondition prints nothing in a release build.
TRAPS = {
    "CBORCoding/Format/GrowingBuffer.swift": 2, "MiniCache/Engine/CachedValue.swift": 1, "MiniCache/GroupedCache.swift": 1, "MiniCache/MiniCache+Loading.swift": 1,
    "MiniCache/MiniCache+Updating.swift": 1, "MiniCache/Unavailable.swift": 2, "MiniCacheValkey/SharedCache.swift": 1,
    "Shallows/AsyncStorageProtocol.swift": 5, "Shallows/Reply.swift": 1, "Shallows/Coordination/KeyedMutex+Call.swift": 1,
    "ScriptedDisk/ScriptedDisk.swift": 1, "ScriptedDisk/ScriptedFile.swift": 1,
    "ShallowsSQLite/Engine/SharedFile.swift": 1, "Vellum/ArchiveStore+Loading.swift": 1, "Vellum/Query/IndexedProperty.swift": 1,
    "Vellum/Query/PredicateCompiling.swift": 2, "Vellum/Unavailable.swift": 2, "VellumCore/Concurrency/ForkGuard.swift": 1,
    "VellumCore/Concurrency/Locked.swift": 1, "VellumCore/Concurrency/ReadMostly.swift": 2, "VellumCore/Loading/LoadCoordinator.swift": 3,
    "VellumCore/Loading/SingleFlight.swift": 5, "VellumCore/Keys/EntryKey.swift": 1, "VellumCore/Memory/EntryList.swift": 1,
    "VellumCore/Memory/LRUList.swift": 6, "VellumCore/Memory/UseOrder.swift": 1, "VellumEngine/SQLite/Statement.swift": 1,
    "VellumEngine/Store/Store+Update.swift": 1, "VellumRemote/RemoteKeys.swift": 1, "VellumValkey/Server/ValkeyServer.swift": 1,
}
TRAP = re.compile(r"\b(?:precondition|preconditionFailure|fatalError|assert|assertionFailure)\(|\btry!|\bas! ")
# Initializers of options, each of which has a default.
OPTIONS = {"VellumCore/Loading/LoadOptions.swift"}
# The calls for which Apple wants a reason, by category, and the reason of this package.
PRIVACY = {
    "FileTimestamp": ("C617.1", r"\b(?:[fl]?stat|fstatat|f?getattrlist(?:at|bulk)?)\(|\b(?:file|content)?(?:[mM]odificationDate|[cC]reationDate)"),
    "DiskSpace": ("E174.1", r"\bf?statv?fs\(|\bvolume(?:Available|Total)Capacity|\bsystem(?:Free)?Size\b"),
    "SystemBootTime": ("35F9.1", r"\bsystemUptime\b|\bmach_absolute_time\("),
    "UserDefaults": ("CA92.1", r"\bUserDefaults\b"),
    "ActiveKeyboards": ("54BD.1", r"\bactiveInputModes\b"),
}
FUNCTION = re.compile(r"( *)(?:@\S+ )*(?:(?:public|package|private|fileprivate|internal|static|mutating|override|convenience|final|"
                      r"nonisolated|consuming|borrowing|required) )*(?:func |init[?]?[(<]|subscript[(<]|deinit|var .*\{$)")
PUBLIC = re.compile(r"(?:@\S+(?:\([^)]*\))? )*(?:public (?!import|extension)|open (?:class|func|var))")


def parameters(text):
    """How many parameters the declaration that begins `text` has."""
    start, depth, count = text.find("("), 0, 0
    for index, character in enumerate(text[start:], start):
        if character in "([<{":
            depth += 1
        elif character in ")]}" or character == ">" and text[index - 1] != "-":
            depth -= 1
        if depth == 1 and character == ":":
            count += 1
        if depth == 0:
            return count
    return count


def open_braces(line):
    """How many more braces a line opens than it closes."""
    code = re.sub(r'"(?:\\.|[^"\\])*"|//.*', "", line)
    return code.count("{") - code.count("}")


def problems(path):
    """What is wrong with a file."""
    lines = path.read_text().split("\n")
    name = str(path.relative_to(SOURCES))
    traps = sum(len(TRAP.findall(line)) for line in lines if not line.strip().startswith("//"))
    if traps != TRAPS.get(name, 0):
        yield f"{name}: ends the process in {traps} places, not {TRAPS.get(name, 0)}. Throw an error, or say in TRAPS why no input reaches it"
    function = None
    # How many braces are open where a line begins, and where the body of the function does.
    braces = body = 0
    for number, line in enumerate(lines, 1):
        indent = len(line) - len(line.lstrip())
        opened, braces = braces, braces + open_braces(line)
        if function is not None and line.strip() and indent <= function and line.strip()[0] in "})":
            function = None
        if function is None and (match := FUNCTION.match(line)):
            function, body = len(match[1]), opened + 1
            if "(" in line and name not in OPTIONS and parameters("\n".join(lines[number - 1:number + 30])) > 6:
                yield f"{name}:{number}: more than six parameters"
        elif function is not None and braces > opened and opened - body >= 3:
            yield f"{name}:{number}: nested deeper than four levels"
        if re.search(r"\bLane\(", line) and name not in LANES:
            yield f"{name}:{number}: a lane of its own"
        if re.search(r"\b(DispatchQueue|Thread)[.(]", line) and not line.strip().startswith("//") and name not in QUEUES:
            if "Thread.sleep" not in line and "Thread.isMainThread" not in line and "Thread.current" not in line:
                yield f"{name}:{number}: a queue or a thread"
        if PUBLIC.match(line.strip()):
            above = number - 2
            # Attributes may take several lines.
            while number - above < 20 and lines[above].strip() and not lines[above].strip().startswith(("///", "}")):
                above -= 1
            if not lines[above].strip().startswith("///"):
                yield f"{name}:{number}: a public declaration without a sentence"


CLASS = re.compile(r"( *)(?:@\S+ |package |public |private |fileprivate |final |open )*class (?!func |var )(\w+)")
PROPERTY = re.compile(r"(?:@\w+(?:\([^)]*\))? |package |public |private |fileprivate |lazy |weak |unowned(?:\(\w+\))? |\w+\(set\) |nonisolated(?:\(\w+\))? )*"
                      r"(?:let|var) (.*)")


def class_problems():
    """What is wrong with the size of classes."""
    extended, classes = {}, {}
    for path in sorted(SOURCES.rglob("*.swift")):
        lines = path.read_text().split("\n")
        name = str(path.relative_to(SOURCES))
        for number, line in enumerate(lines):
            if match := re.match(r"extension (\w+)\b", line):
                extended.setdefault(match[1], set()).add(name)
            if not (match := CLASS.match(line)) or line.strip().startswith("//"):
                continue
            classes[match[2]], stored = name, 0
            for index, inner in enumerate(lines[number + 1:], number + 1):
                if inner.startswith(match[1] + "}"):
                    break
                found = PROPERTY.match(inner.strip()) if len(inner) - len(inner.lstrip()) == len(match[1]) + 4 else None
                # What has a body and no value is computed, unless it is observed.
                if found and " static " not in inner and not inner.strip().startswith("static "):
                    is_computed = "{" in found[1] and "=" not in found[1].split("{")[0]
                    stored += not is_computed or "didSet" in lines[index + 1]
            if stored > 14:
                yield f"{name}: {match[2]} has {stored} stored properties, more than 14"
    for name, own in classes.items():
        if len(files := extended.get(name, set()) - {own}) > 8:
            yield f"{own}: {len(files)} files extend {name}, more than 8: {', '.join(sorted(files))}"


def decision_problems():
    """The decisions that nothing cites where it acts."""
    paths = [*SOURCES.rglob("*.swift"), PACKAGE / "Package.swift", *(PACKAGE / "Scripts").glob("*.py")]
    cited = {int(number) for path in paths for number in re.findall(r"[Dd]ecision[\s/]+0*(\d+)", path.read_text())}
    for record in sorted(PACKAGE.glob("Documentation/Decisions/0*.md")):
        if int(record.name[:4]) not in cited:
            yield f"{record.relative_to(PACKAGE)}: cited nowhere in Sources, Package.swift or Scripts, as (decision {int(record.name[:4])})"


def api_parameters():
    """The public parameters and variables that are numbers, durations, sizes, texts or URLs, as rows of the table in the tests name them."""
    simple = (r"(?:Duration|TimeInterval|Double|Int|DataSize|Expiration|CacheMaxAge|CacheVersion|Capacity|LoadOptions|Date|URL|String|"
              r"\[String\])\??")
    for path in sorted(PACKAGE.glob("Documentation/API/[A-Z]*.txt")):
        for line in path.read_text().split("\n"):
            owner, _, declaration = line.partition(" | ")
            # The types of Foundation have initializers that Shallows calls for casts only.
            owner = "" if owner.startswith("NS") else re.split(" where | : ", owner)[0]
            if match := re.search(rf"\bvar (\w+): {simple} {{ get set }}$", declaration):
                yield f"{owner}.{match[1]}"
            elif match := re.search(r"(?:\bfunc |\bcase |\b(?=init[?(<]|subscript[(<]))(\w+|[-+<>=*/&|]+)\??(?:<.*?>)?\((.*)", declaration):
                for label in re.findall(rf"(?:^|, )(\w+)(?: \w+)?: {simple}(?=[,) ])", match[2]) if owner and "rawValue" not in match[2] else []:
                    yield f"{owner}.{match[1]} {label}"


def wide_lines(page):
    """The lines of code of a page, or of the comments of a source, that are wider than DocC shows them."""
    fence = None
    for number, line in enumerate(page.read_text().split("\n"), 1):
        if page.suffix == ".swift":
            comment = re.match(r" *///(?: |$)", line)
            fence, line = (fence, line[comment.end():]) if comment else (None, "")
        if line.lstrip().startswith("```"):
            fence = len(line) - len(line.lstrip()) if fence is None else None
        elif fence is not None and len(line) - fence > (CODE_WIDTH_IN_LIST if fence else CODE_WIDTH):
            yield f"{page.relative_to(PACKAGE)}:{number}: code is wider than {CODE_WIDTH_IN_LIST if fence else CODE_WIDTH} characters"


def privacy_problems():
    """What is wrong with the privacy manifest."""
    paths = [path for path in SOURCES.rglob("*") if path.suffix in (".swift", ".c", ".h")]
    lines = [line for path in paths for line in path.read_text().split("\n") if not line.strip().startswith("//")]
    called = {category: reason for category, (reason, calls) in PRIVACY.items() if any(re.search(calls, line) for line in lines)}
    manifest = plistlib.loads((SOURCES / "VellumCore" / "PrivacyInfo.xcprivacy").read_bytes())
    expected = {
        "NSPrivacyTracking": False, "NSPrivacyTrackingDomains": [], "NSPrivacyCollectedDataTypes": [],
        "NSPrivacyAccessedAPITypes": [{"NSPrivacyAccessedAPIType": f"NSPrivacyAccessedAPICategory{category}",
                                       "NSPrivacyAccessedAPITypeReasons": [reason]} for category, reason in called.items()]}
    if manifest != expected:
        yield f"VellumCore/PrivacyInfo.xcprivacy: does not say what the sources call: {', '.join(called)}"


pages = [*PACKAGE.glob("Documentation/*.md"), *PACKAGE.glob("Documentation/*.docc/**/*.md"), *SOURCES.glob("*/*.docc/**/*.md"),
         # Nothing of the engine is public.
         *(source for source in SOURCES.rglob("*.swift") if "VellumEngine" not in source.parts)]
found = [problem for path in sorted(SOURCES.rglob("*.swift")) for problem in problems(path)]
found += [problem for page in sorted(pages) for problem in wide_lines(page)]
found += privacy_problems()
found += class_problems()
found += decision_problems()
tables = "\n".join(path.read_text() for path in (PACKAGE / "Tests").rglob("*InputTests*.swift"))
found += [f"{name}: no row of a table in Tests/*InputTests*.swift" for name in sorted(set(api_parameters())) if f'"{name}"' not in tables]
print("\n".join(found))
sys.exit(bool(found))
