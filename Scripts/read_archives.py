#!/usr/bin/env python3
"""Prints what is in a file of Vellum, MiniCache or ShallowsSQLite, one JSON object per line. Opens it read-only: nothing is changed."""
import io
import json
import re
import sqlite3
import struct
import sys
from base64 import b64decode, b64encode
from pathlib import Path
from uuid import UUID

CACHES, APPLICATION_IDS, MISS = 0x56454C43, (0x56454C4D, 0x56454C43, 0x56454C53), b"\x02" + bytes(63)
FLOATS, SIMPLE_VALUES, BREAK = {25: ">e", 26: ">f", 27: ">d"}, {20: False, 21: True, 22: None, 23: None}, object()
CBOR_TAG, TAGS = b"\xD9\xD9\xF7", {(4, list): "decimal", (32, str): "url", (37, bytes): "uuid"}
CRC_TABLE = range(256)
for _ in range(8):
    CRC_TABLE = [crc >> 1 ^ (0x82F63B78 if crc & 1 else 0) for crc in CRC_TABLE]


def take(stream, count):
    """The next `count` bytes, or `struct.error` if there are fewer."""
    return struct.unpack(f"{count}s", stream.read(count))[0]


def read_item(stream):
    """The next item of CBOR, or `BREAK`. The argument of a break and of an indefinite length is `None`."""
    major, info = divmod(take(stream, 1)[0], 32)
    if info > 27 and (info < 31 or major in (0, 1, 6)):
        raise ValueError("not the head of an item")
    encoded = take(stream, 1 << info - 24) if 24 <= info <= 27 else bytes([info])
    argument = None if info == 31 else int.from_bytes(encoded, "big")
    if major <= 1:
        return argument if major == 0 else -1 - argument
    if major <= 3 and argument is not None:
        return take(stream, argument) if major == 2 else take(stream, argument).decode()
    if major <= 5:
        items = (list(iter(lambda: read_item(stream), BREAK)) if argument is None else
                 [read_item(stream) for _ in range(argument * 2 if major == 5 else argument)])
        if major <= 4:
            return items if major == 4 else (b"" if major == 2 else "").join(items)
        pairs = list(zip(items[::2], items[1::2], strict=True))
        return dict(pairs) if all(isinstance(key, str) for key, _ in pairs) else {"map": pairs}
    if major == 6:
        content = read_item(stream)
        if argument in (2, 3):
            return int.from_bytes(content, "big") if argument == 2 else -1 - int.from_bytes(content, "big")
        return {TAGS[argument, type(content)]: str(UUID(bytes=content)) if argument == 37 else content}
    if info in FLOATS:
        return struct.unpack(FLOATS[info], encoded)[0]
    return BREAK if argument is None else SIMPLE_VALUES.get(argument, {"simple": argument})


def decode_cbor(data):
    """The only item in `data`, with or without the tag of CBOR."""
    stream = io.BytesIO(data.removeprefix(CBOR_TAG))
    item = read_item(stream)
    if stream.read():
        raise ValueError("there are bytes after the item")
    return item


def decode_value(data, is_cache):
    """The value in the `bytes` of an entry."""
    if is_cache and data.startswith(b"\x00"):
        return data[1:]
    if data.startswith(CBOR_TAG):
        return decode_cbor(data)
    return json.loads(data.decode()) if re.match(rb'[{\["0-9tfn-]', data) else data


def decode_key(key, is_cache):
    """The key of an entry; in a cache, the one that the program used."""
    text = key.decode()
    if not is_cache or not text.startswith("\x01"):
        return text
    if text[1] == ":":
        return decode_cbor(b64decode(text[2:], validate=True))
    return text[1:] if text[1] == "\x01" else int(re.fullmatch("-?[0-9]+", text[1:])[0])


def decoded(decode, data, is_cache):
    """What `decode` makes of `data`, as JSON expresses it; `data` itself if there is no such thing."""
    try:
        return json.loads(to_json(decode(data, is_cache)))
    except (ValueError, LookupError, TypeError, ArithmeticError, RecursionError, struct.error):
        return data


def to_json(value):
    """`value` on a line of JSON."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, default=lambda it: {"base64": b64encode(it).decode()})


def crc32c(data):
    """The CRC-32C of `data` as a signed integer."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc = CRC_TABLE[(crc ^ byte) & 0xFF] ^ crc >> 8
    return (crc ^ 0xFFFFFFFF ^ 1 << 31) - (1 << 31)


def hash_of(key, seed):
    """The hash of `key` in an archive with this seed, as a signed integer."""
    half, full, mix = (1 << 32) - 1, (1 << 64) - 1, 0x9E3779B97F4A7C15

    def folded(a, b):
        return a * b >> 64 ^ a * b & full

    def word(start, length=8):
        return int.from_bytes(key[start:start + length], "little")

    seed, count, start = seed & full, len(key), 0
    secret = (seed ^ 0xA4093822299F31D1) | 1
    value = folded(seed ^ mix, secret)
    while count - start > 16:
        value = folded(word(start) ^ secret, word(start + 8) ^ value)
        start += 16
    if count >= 8:
        first, last = word(max(count - 16, 0)), word(count - 8)
    elif count >= 4:
        first, last = word(0, 4), word(count - 4, 4)
    else:
        first, last = (key[0] << 8 | key[count // 2], key[-1]) if key else (0, 0)
    value = folded(folded(first ^ secret, last ^ value) ^ secret, count ^ mix) & half
    return (value ^ 1 << 31) - (1 << 31)


def open_file(path):
    """A read-only connection, in a transaction, and whether the archives are caches."""
    if not Path(path).is_file():
        raise ValueError("not a file" if Path(path).exists() else "no such file")
    # Whoever has the file open has a wal-index beside it. Without one the file does not change, and nothing is created.
    log, index = Path(path + "-wal"), Path(path + "-shm")
    mode = "mode=ro" if index.exists() or (log.exists() and log.stat().st_size) else "mode=ro&immutable=1"
    database = sqlite3.connect(f"{Path(path).absolute().as_uri()}?{mode}", uri=True, isolation_level=None)
    database.row_factory, database.text_factory = sqlite3.Row, bytes
    database.execute("BEGIN")
    application_id, version = database.execute("SELECT * FROM pragma_application_id, pragma_user_version").fetchone()
    if application_id not in APPLICATION_IDS:
        raise ValueError("not a file of Vellum, MiniCache or ShallowsSQLite")
    sql, = database.execute("SELECT max(sql) FROM sqlite_schema WHERE type = 'table' AND name = 'archives'").fetchone()
    versions = [version, *map(int, re.findall(rb"\A[^\n]*-- format (\d+)\n", sql or b""))]
    if versions != [1, 1]:
        raise ValueError(f"{'newer format' if versions == [version] * 2 > [1, 1] else 'damaged'}: versions {versions}")
    features = [tuple(row) for row in database.execute("SELECT word, bits, bits_check FROM features ORDER BY word")]
    if [(word, check) for word, _, check in features] != [(word, -1 - bits) for word, (_, bits, _) in zip(range(3), features)]:
        raise ValueError(f"damaged: features {features}")
    if features[2][1]:
        raise ValueError(f"features of a newer version: {features[2][1]:#x}")
    return database, application_id == CACHES


def read_archive(database, archive, is_cache):
    """What to print for an archive; at last the archive as damaged if its size is not the one of its entries."""
    heading = {"cache" if is_cache else "archive": archive["name"].decode(errors="replace")}
    if archive["cache_version"] is not None:
        heading["version"] = archive["cache_version"].decode(errors="replace")
    if (archive["cleared_check"], archive["hash_seed_check"]) != (-1 - archive["cleared"], -1 - archive["hash_seed"]):
        yield {"damaged": heading}
        return
    base = archive["id"] << 40
    live = f"FROM entries WHERE id > {base + archive['cleared']} AND id < {base + (1 << 40)}"
    count, size = database.execute(f"SELECT count(*) + ?, coalesce(sum(length(bytes)), 0) + ? {live} AND id >= ?",
                                   (archive["entries"], archive["bytes"], base + archive["next"])).fetchone()
    yield {**heading, "entries": count, "bytes": size}
    for entry in database.execute(f"SELECT * {live} ORDER BY id"):
        yield read_entry(archive, entry, is_cache)
        count, size = count - 1, size - len(entry["bytes"])
    if count or size:
        yield {"damaged": heading}


def read_entry(archive, entry, is_cache):
    """What to print for an entry."""
    key, expires, idle, value = (entry[column] for column in ("key", "expires", "idle", "bytes"))
    numbers = struct.pack("<5q", len(key), entry["written"], (1 << 63) - 1 if expires is None else expires,
                          -1 if idle is None else idle, entry["type_version"])
    sums = hash_of(key, archive["hash_seed"]), crc32c(archive["name"] + key + numbers + value)
    key = decoded(decode_key, key, is_cache)
    if sums != (entry["hash"], entry["checksum"]):
        return {"damaged": key}
    is_miss = is_cache and value == MISS
    line = {"key": key, "value": None if is_miss else decoded(decode_value, value, is_cache), "isMiss": is_miss or None,
            "expires": expires, "idle": idle, "typeVersion": entry["type_version"] or None}
    return {name: line[name] for name in line if line[name] is not None or name in ("key", "value")}


def main():
    """Prints a file; the exit code is 1 if it is damaged, and 2 if it cannot be read as a file of format 1."""
    sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")
    exit_code = 0
    try:
        if len(sys.argv) != 2:
            raise ValueError("usage: read_archives.py FILE")
        database, is_cache = open_file(sys.argv[1])
        for archive in database.execute("SELECT * FROM archives ORDER BY id").fetchall():
            for line in read_archive(database, archive, is_cache):
                print(to_json(line))
                exit_code |= "damaged" in line
    except (sqlite3.Error, struct.error, OSError, AttributeError, LookupError, TypeError, ValueError) as error:
        print(f"{sys.argv[-1]}: {error}", file=sys.stderr)
        return 2
    return exit_code


if __name__ == "__main__":
    sys.exit(main())
