#!/usr/bin/env python3
"""Fails where a file is removed, renamed, replaced or cut off by a call that is not in the table below, which says what makes the file one that the
caller may remove. A name that fits a pattern is not enough: users choose names that look like ours."""
import re
import sys
from pathlib import Path

PACKAGE = Path(__file__).parent.parent
CALL = re.compile(
    r"(?<!func )(?<!_ )\b(?:unlink|rename|rmdir|removeItem|moveItem|replaceItem\w*|vellum_rename_new|ftruncate|truncate\(atOffset|moveIfPresent|"
    r"removeFolder|(?:FileSystem|FilePaths)\.(?:move|remove))\b(?=[(:])|(?<![.\w])link\(\w+, |\.write\(to: URL|\bO_TRUNC\b|\.atomic\b"
)
CALLS = "the call itself, for those below"
BESIDE = "the database is ours, and the suffix is reserved: Documentation/Format.md, BackingUp.md; no backup gets such a name"
TEMPORARY = "this call made it, under a name of its own"
FOLDER = "the storage owns its folder: names are those of its keys, or begin with its prefix of temporary files"
# By file: a piece of the line, and what makes the file ours.
TABLE = {
    "Sources/Originals/OriginalCaches.swift": [("move(path, to: path + suffix)", "its tables are those of the original; it gets another name")],
    "Sources/Shallows/Storages/Disk/DiskStorage.swift": [("rename(temporary", TEMPORARY + "; it replaces the value of the key")],
    "Sources/Shallows/Storages/Disk/FileWriter.swift": [
        ("rename(name", CALLS), ("unlink(temporary)", TEMPORARY), ("unlink(entry.name)", FOLDER + ", and is an hour old")],
    "Sources/Shallows/Storages/Disk/Folder.swift": [("call.", CALLS)],
    "Sources/Shallows/Storages/Disk/FolderFiles+All.swift": [
        ("removeFolder(", "the caller clears the storage"), ("unlink(inside)", "the caller clears the storage")],
    "Sources/Shallows/Storages/Disk/FolderFiles.swift": [
        ("rename(temporary", TEMPORARY + "; it replaces the value of the key"), ("unlink(found", FOLDER), ("unlink(file.name", FOLDER),
        ("unlink(path", FOLDER)],
    "Sources/VellumCore/System/FileSystem+Paths.swift": [
        ("moveIfPresent(path", CALLS), ("SystemCalls.rename", CALLS), ("SystemCalls.unlink", CALLS), ("Data(text.utf8).write", CALLS)],
    "Sources/VellumCore/System/FileSystem.swift": [("package var", CALLS)],
    "Sources/VellumCore/System/SystemCalls.swift": [("answer(", CALLS)],
    "Sources/VellumEngine/File/TemporaryFolder.swift": [
        ("removeItem(at: url)", "a folder of the prefix among the system's temporary ones, of this user, whose lock nobody holds")],
    "Sources/VellumEngine/Recovery/Recovery+Repair.swift": [
        ("FileSystem.remove(path)", "an empty file, in whose place the complete one goes"), ("FilePaths.remove(name)", BESIDE),
        ("move(whole", "it was written for this"), ("moveIfPresent(complete", "the old file was moved aside under a free name")],
    "Sources/VellumEngine/Recovery/Recovery+Salvage.swift": [("FilePaths.remove(copy)", BESIDE)],
    "Sources/VellumEngine/Recovery/Recovery.swift": [
        ("remove(path + markSuffix)", BESIDE), ("move(path, to: aside)", "the name is free, under the lock of the folder"),
        ("moveIfPresent(path + suffix", BESIDE + "; the name is free")],
    "Sources/VellumEngine/SQLite/FilePaths.swift": [("removeItem(atPath: path)", CALLS)],
    "Sources/VellumEngine/Sharing/ChangesFile.swift": [("ftruncate(", BESIDE)],
    "Sources/VellumEngine/Tables/FileHeader.swift": [("truncate(atOffset", BESIDE), ("FilePaths.remove(copy)", BESIDE)],
    "Sources/VellumFiles/Copies/UnfinishedCopy.swift": [
        ("removeFolder(", "an empty folder of the reserved name"),
        ("SystemCalls.unlink", "what lies in a folder of the reserved name, of this user, and whose lock nobody holds: no backup that is whole"),
        ("path, target)", "it replaces nothing")],
    "Sources/VellumFiles/Export.swift": [("truncate(atOffset", "all lines before are those of an export of such a file")],
    "Sources/VellumTesting/Faults.swift": [("removeItem(", "the temporary folder of a factory in memory")],
    "Tools/Sources/VellumToolKit/Commands/ExportCommand.swift": [
        ("guard unlink(path)", "it begins as an export does, and --force was given"), ("isOurs { unlink(path)", TEMPORARY)],
    "Tools/Sources/VellumToolKit/Output/OutputFile.swift": [
        ("unlink(temporary)", TEMPORARY), ("rename(temporary, path)", "--force was given, or nothing is there"),
        ("link(temporary, path)", "it replaces nothing")],
    "Tools/Sources/VellumToolKit/Running/Interrupts.swift": [("removeItem(atPath: path)", TEMPORARY)],
}


def main():
    problems = []
    unused = {(name, piece) for name, pieces in TABLE.items() for piece, _ in pieces}
    for path in sorted([*PACKAGE.glob("Sources/**/*.swift"), *PACKAGE.glob("Tools/Sources/**/*.swift")]):
        name = str(path.relative_to(PACKAGE))
        for number, line in enumerate(path.read_text().split("\n"), 1):
            if line.lstrip().startswith("//") or not CALL.search(line):
                continue
            pieces = [piece for piece, _ in TABLE.get(name, []) if piece in line]
            unused -= {(name, piece) for piece in pieces}
            if not pieces:
                problems.append(f"{name}:{number}: {line.strip()}: Scripts/check_removals.py does not say what makes the file ours")
    problems += [f"{name}: no call has '{piece}'" for name, piece in sorted(unused)]
    print("\n".join(problems), end="\n" if problems else "")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
