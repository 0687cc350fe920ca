#!/usr/bin/env python3
"""Another library's CBOR, and what it reads in ours: cbor2 6.3.0 of PyPI is the oracle of `ForeignTests`.

python3 -m venv /tmp/cbor2 && /tmp/cbor2/bin/pip install cbor2==6.3.0
/tmp/cbor2/bin/python make.py            writes maps.bin, dates.bin and numbers.bin
VELLUM_CBOR_FILE=/tmp/ours.bin make quick ARGUMENTS='--filter ForeignTests'
/tmp/cbor2/bin/python make.py /tmp/ours.bin

The last command decodes what `CBOREncoder` wrote, compares it with the values, and writes their digests to `ours.txt`, which the test compares.
Random values are those of SplitMix64, and the test makes the same ones: a file has only what cbor2 made of them. Each item in it follows its
length in two bytes.
"""
import math
import struct
import sys
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path

import cbor2

FOLDER, MASK = Path(__file__).parent, (1 << 64) - 1
EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
LETTERS = ["a", "b", "Z", "0", "1", " ", "\"", "\n", "é", "ß", "水", "😀"]
NUMERALS = ["1", "01", "+1", "-1", "2", "0", "-0"]


class Random:
    """SplitMix64."""

    def __init__(self, seed):
        self.state = seed

    def next(self):
        self.state = self.state + 0x9E3779B97F4A7C15 & MASK
        word = self.state
        word = (word ^ word >> 30) * 0xBF58476D1CE4E5B9 & MASK
        word = (word ^ word >> 27) * 0x94D049BB133111EB & MASK
        return word ^ word >> 31

    def below(self, bound):
        return self.next() % bound

    def small(self):
        return self.next() >> self.below(64)

    def text(self):
        return "".join(LETTERS[self.below(len(LETTERS))] for _ in range(self.below(7)))

    def bytes(self):
        return bytes(self.below(256) for _ in range(self.below(7)))

    def float(self):
        if self.below(2) == 0:
            return (self.below(1 << 20) - (1 << 19)) / 64
        number, = struct.unpack(">d", self.next().to_bytes(8, "big"))
        return math.inf if math.isnan(number) else number

    def key(self):
        kind = self.below(12)
        if kind < 4:
            return self.text()
        if kind < 7:
            return NUMERALS[self.below(len(NUMERALS))]
        if kind < 10:
            return self.below(5) - 2
        return self.small() if kind == 10 else self.bytes()

    def map(self, depth, limit):
        pairs = {}
        for _ in range(self.below(limit)):
            key = self.key()
            pairs[key] = self.value(depth)
        return pairs

    def value(self, depth):
        kind = self.below(12 if depth < 3 else 8)
        if kind == 0:
            return self.small()
        if kind == 1:
            return -1 - self.small()
        if kind == 2:
            large = (self.next() << 64 | self.next()) >> 1 + self.below(70)
            return -1 - large if self.below(2) == 0 else large
        if kind == 3:
            return self.float()
        if kind == 4:
            return self.text()
        if kind == 5:
            return self.bytes()
        if kind == 6:
            simple = self.below(5)
            return cbor2.CBORSimpleValue(32 + self.below(200)) if simple == 4 else [False, True, None, cbor2.undefined][simple]
        if kind == 7:
            digits, exponent = self.below(1_000_000) - 500_000, self.below(20) - 10
            return Decimal(digits).scaleb(exponent)
        if kind == 8:
            tag = 40_000 + self.below(1000)
            return cbor2.CBORTag(tag, self.value(depth + 1))
        if kind == 9:
            return [self.value(depth + 1) for _ in range(self.below(4))]
        return self.map(depth + 1, 4)


def same(left, right):
    """Whether two values are equal and of one type, at every level. In a tag, cbor2 reads collections that cannot be changed."""
    left, right = (list(value) if isinstance(value, tuple) else dict(value) if isinstance(value, cbor2.frozendict) else value
                   for value in (left, right))
    if type(left) is not type(right):
        return False
    if isinstance(left, dict):
        # A key is a text, an integer or bytes, none of which is equal to one of another type.
        return left.keys() == right.keys() and all(same(value, right[key]) for key, value in left.items())
    if isinstance(left, list):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, cbor2.CBORTag):
        return left.tag == right.tag and same(left.value, right.value)
    return left.as_tuple() == right.as_tuple() if isinstance(left, Decimal) else left == right


def maps():
    random = Random(48)
    return [random.map(0, 8) for _ in range(10_000)]


def texts(pairs):
    """The map with texts for keys, as a `[String: CBORValue]` has them; `None` if it would lose an entry."""
    if any(isinstance(key, bytes) or isinstance(key, int) and key >= 1 << 63 for key in pairs):
        return None
    names = {str(key): value for key, value in pairs.items()}
    return names if len(names) == len(pairs) else None


def moments():
    """Seconds since 1970 from year 1 to 9999, microseconds, and the minutes by which a clock somewhere is ahead."""
    random = Random(49)
    first, last = (int((datetime(*day, tzinfo=timezone.utc) - EPOCH).total_seconds()) for day in [(1, 1, 1), (9999, 12, 31, 23, 59, 59)])
    for year in range(1, 10_000, 33):
        for month in 1, 3:
            seconds = int((datetime(year, month, 1, tzinfo=timezone.utc) - EPOCH).total_seconds())
            yield from [(seconds, 0, 0), (max(first, seconds - 1), 999_999, 0)]
    for seconds in first, last:
        yield seconds, 0, 0
    for _ in range(2500):
        seconds = first + 86_400 + random.below(last - first - 2 * 86_400)
        yield seconds, random.below(1_000_000) if random.below(3) > 0 else 0, random.below(1681) - 840 if random.below(2) == 0 else 0


def decimals():
    random = Random(50)
    for _ in range(2000):
        digits, exponent = random.below(10 ** 18) * 10 ** random.below(20) + random.below(10 ** 18), random.below(160) - 100
        digits //= 10 ** random.below(38)
        yield Decimal((random.below(2), [int(digit) for digit in str(digits)], exponent))


def integers():
    random = Random(51)
    for _ in range(1000):
        number = sum(random.next() << 64 * word for word in range(16)) >> 3 + random.below(1021)
        # Ones or zeros at the end, so that many are near the middle of two floating-point numbers.
        zeros = max(0, number.bit_length() - 54)
        if random.below(2) == 0:
            number = (number >> zeros << zeros) + random.below(3) - 1
        yield -1 - number if random.below(2) == 0 else number


def write(name, items):
    data = b"".join(struct.pack(">H", len(item)) + item for item in items)
    (FOLDER / name).write_bytes(data)
    print(name, len(data))


def write_all():
    write("maps.bin", [cbor2.dumps(value, canonical=index % 4 == 1, indefinite_containers=index % 4 == 3) for index, value in enumerate(maps())])
    dates = []
    for seconds, micros, minutes in moments():
        moment = EPOCH + timedelta(seconds=seconds, microseconds=micros)
        parts = [seconds, micros, moment.astimezone(timezone(timedelta(minutes=minutes))), moment.date()]
        dates.append(b"\x86" + b"".join(map(cbor2.dumps, parts)) + cbor2.dumps(moment, datetime_as_timestamp=True)
                     + cbor2.dumps(moment.date(), datetime_as_timestamp=True))
    write("dates.bin", dates)
    numbers = [b"\x82" + cbor2.dumps(str(number)) + cbor2.dumps(number) for number in decimals()]
    write("numbers.bin", numbers + [b"\x82" + cbor2.dumps(float(number)) + cbor2.dumps(number) for number in integers()])


def expected():
    """What our encodings must mean, in the order in which the test writes them."""
    for value in maps():
        yield value
        if texts(value) is not None:
            yield texts(value)
    for seconds, _, _ in moments():
        yield EPOCH + timedelta(seconds=seconds)
        yield EPOCH + timedelta(seconds=seconds)
    yield from decimals()


def digest(items):
    """FNV-1a, of 64 bits."""
    state = 0xCBF29CE484222325
    for item in items:
        for byte in item:
            state = (state ^ byte) * 0x100000001B3 & MASK
    return state


def check(path):
    data, items = Path(path).read_bytes(), []
    while data:
        size, = struct.unpack_from(">H", data)
        items.append(data[2:2 + size])
        data = data[2 + size:]
    values = list(expected())
    if len(items) != len(values):
        raise SystemExit(f"{len(items)} items, not {len(values)}")
    for index, (item, value) in enumerate(zip(items, values)):
        read = cbor2.loads(item)
        if not (read == value if isinstance(value, (Decimal, datetime)) else same(read, value)):
            raise SystemExit(f"item {index}: {item.hex()} is {read!r}, not {value!r}")
    lines = [f"{digest(items[start:start + 1000]):016x}" for start in range(0, len(items), 1000)]
    (FOLDER / "ours.txt").write_text("\n".join(lines) + "\n")
    print(len(items), "items mean what was encoded")


if __name__ == "__main__":
    check(sys.argv[1]) if len(sys.argv) > 1 else write_all()
