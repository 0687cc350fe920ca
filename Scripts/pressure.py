#!/usr/bin/env python3
"""Puts a process that holds objects in memory under real pressure, and fails if it does not give them back.

    pressure.py CRASHCHILD

Needs root, and control groups of version 2 with the memory controller (`memory.high`) or, where that belongs to version 1, its limit and
the stalls that version 2 measures. Says what could not be tried.
"""
import os
import pathlib
import subprocess
import sys
import tempfile
import time

MEGABYTES = 100


def mounts(kind):
    for line in open("/proc/self/mountinfo"):
        words = line.split()
        dash = words.index("-")
        if words[dash + 1] == kind:
            yield pathlib.Path(words[4]), words[dash + 3]


def write(path, text):
    path.write_text(str(text))


class Child:
    def __init__(self, program, folder):
        self.process = subprocess.Popen([program, "pressure", folder, str(MEGABYTES)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def send(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def held(self):
        self.send("held")
        entries, kilobytes = map(int, self.process.stdout.readline().split())
        return entries, kilobytes

    def gives_back(self, seconds=30):
        """How long it takes until half of the objects are gone; None if they stay."""
        (first, _), begin = self.held(), time.monotonic()
        while time.monotonic() - begin < seconds:
            if self.held()[0] <= first // 2:
                return time.monotonic() - begin
            time.sleep(0.1)
        return None


def groups():
    """A new group of version 2, whether it limits memory, and one of version 1 that does; None for what there is not."""
    two = next((path for path, _ in mounts("cgroup2")), None)
    if two is None:
        return None, False, None
    new = two / f"vellum-{os.getpid()}"
    controllers = (two / "cgroup.controllers").read_text().split()
    if "memory" in controllers:
        write(two / "cgroup.subtree_control", "+memory")
    new.mkdir()
    one = next((path for path, options in mounts("cgroup") if "memory" in options.split(",")), None)
    if one is not None:
        one = one / f"vellum-{os.getpid()}"
        one.mkdir()
    return new, (new / "memory.high").exists(), one


def main():
    if os.geteuid() != 0:
        return print("Memory pressure: not tried, this needs root.")
    try:
        group, has_high, one = groups()
    except OSError as error:
        return print(f"Memory pressure: not tried, no control group can be made here: {error}.")
    if group is None or not has_high and one is None:
        return print("Memory pressure: not tried, there are no control groups that limit memory.")
    failed = False
    try:
        for follows in (True, False):
            with tempfile.TemporaryDirectory() as folder:
                child = start(sys.argv[1], folder, group)
                if not follows:
                    child.send("ignore")
                before = child.held()
                squeeze(child, folder, group, has_high, one, before[1])
                seconds = child.gives_back(20 if follows else 5)
                time.sleep(3)  # What was evicted is released then.
                after = child.held()
                events = (group / "memory.events").read_text().split() if has_high else ["by", "stalls", "alone"]
                print(f"{'Followed' if follows else 'Ignored'}: {before[0]:,} objects, {before[1]:,} kB; then {after[0]:,}, {after[1]:,} kB"
                      f"{f', after {seconds:.1f} s' if seconds is not None else ''} ({' '.join(events)})")
                failed |= (seconds is not None) != follows
                child.process.kill()
                child.process.wait()
    finally:
        for folder in (group, one):
            if folder is not None:
                time.sleep(0.5)
                folder.rmdir()
    if not has_high:
        print("Not tried: memory.high and memory.events. The memory controller belongs to version 1 here.")
    sys.exit(failed)


def start(program, folder, group):
    # In the group before it opens its archive, which looks for it.
    ready = os.path.join(folder, "archives")
    os.mkdir(ready)
    write(group / "cgroup.procs", os.getpid())
    try:
        return Child(program, ready)
    finally:
        write(next(path for path, _ in mounts("cgroup2")) / "cgroup.procs", os.getpid())


def squeeze(child, folder, group, has_high, one, kilobytes):
    if has_high:
        return write(group / "memory.high", kilobytes * 1024 * 3 // 4)
    # What is no file cannot go, so that a file that is read again and again has no room: its reads wait for memory.
    big = os.path.join(folder, "big")
    with open(big, "wb") as file:
        for _ in range(300):
            file.write(os.urandom(1 << 20))
    with open(big, "rb") as file:
        os.sync()
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    write(one / "cgroup.procs", child.process.pid)
    write(one / "memory.limit_in_bytes", 64 << 20)
    for _ in range(8):
        child.send(f"read {big}")


if __name__ == "__main__":
    main()
