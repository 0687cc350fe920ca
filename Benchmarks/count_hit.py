#!/usr/bin/env python3
"""Counts what a hit of memory does that other cores notice: locks, atomic read-modify-writes, and lines of memory that two threads write.

    count_hit.py PROBE

Runs `PROBE trace-hits` and steps through the hits of two threads, one instruction at a time (ptrace). `capstone`, from PyPI, tells what
each instruction writes. A line of 64 bytes is shared if hits of both threads wrote it; every write to it counts, because another core may have
fetched it since the last one. Only for Linux on x86-64.
"""
import collections
import ctypes
import os
import platform
import signal
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
SCRATCH = os.environ.get("BENCH_SCRATCH", os.path.join(HERE, ".build"))
TRACEME, PEEK, CONT, STEP, GETREGS, SETOPTIONS = 0, 1, 7, 9, 12, 0x4200
TRACECLONE, WALL, LINE = 8, 0x40000000, 64
REGISTERS = (
    "r15 r14 r13 r12 rbp rbx r11 r10 r9 r8 rax rcx rdx rsi rdi orig_rax rip cs eflags rsp ss fs_base gs_base ds es fs gs"
).split()


def python_with_capstone():
    """Runs this script again with the capstone of a virtual environment."""
    python = os.path.join(SCRATCH, "capstone", "bin", "python")
    if not os.path.exists(python):
        subprocess.run([sys.executable, "-m", "venv", os.path.join(SCRATCH, "capstone")], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "capstone==5.0.9"], check=True)
    os.execv(python, [python, os.path.abspath(__file__), *sys.argv[1:]])


class Registers(ctypes.Structure):
    _fields_ = [(name, ctypes.c_ulonglong) for name in REGISTERS]


class Tracer:
    def __init__(self, capstone):
        self.libc = ctypes.CDLL(None, use_errno=True)
        self.libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
        self.libc.ptrace.restype = ctypes.c_long
        self.capstone = capstone
        self.decoder = capstone.Cs(capstone.CS_ARCH_X86, capstone.CS_MODE_64)
        self.decoder.detail = True
        self.decoded = {}

    def call(self, request, thread, address=0, data=0):
        return self.libc.ptrace(request, thread, address, data)

    def instruction(self, thread, place):
        if place not in self.decoded:
            code = b""
            for offset in (0, 8):
                word = self.call(PEEK, thread, place + offset)
                code += (word & (1 << 64) - 1).to_bytes(8, "little")
            self.decoded[place] = next(self.decoder.disasm(code, place, 1), None)
        return self.decoded[place]

    def writes(self, instruction, registers):
        """The addresses that the instruction writes, except by push and call, which write the stack."""
        found = []
        for operand in instruction.operands:
            if operand.type != self.capstone.x86.X86_OP_MEM or not operand.access & self.capstone.CS_AC_WRITE:
                continue
            memory, address = operand.mem, operand.mem.disp
            for number, factor in ((memory.base, 1), (memory.index, memory.scale)):
                if number:
                    name = instruction.reg_name(number)
                    value = registers.rip + instruction.size if name == "rip" else getattr(registers, name, 0)
                    address += value * factor
            if memory.segment:
                address += getattr(registers, instruction.reg_name(memory.segment) + "_base", 0)
            found.append(address & (1 << 64) - 1)
        return found

    def step_through(self, thread, lock):
        """Steps until the thread sends SIGUSR1 again. Returns the locks taken, the atomic operations, and how often each line
        was written."""
        locks, atomics, lines = 0, 0, collections.Counter()
        registers = Registers()
        while True:
            self.call(STEP, thread, 0, 0)
            _, status = os.waitpid(thread, WALL)
            if not os.WIFSTOPPED(status):
                sys.exit("The program ended while it was traced.")
            if os.WSTOPSIG(status) == signal.SIGUSR1:
                return locks, atomics, lines
            self.call(GETREGS, thread, 0, ctypes.addressof(registers))
            locks += registers.rip == lock
            instruction = self.instruction(thread, registers.rip)
            if instruction is None:
                continue
            addresses = self.writes(instruction, registers)
            prefixed = instruction.prefix[0] == 0xF0 or instruction.mnemonic == "xchg" and bool(addresses)
            atomics += prefixed
            lines.update(a // LINE for a in addresses if not registers.rsp - 4096 <= a < registers.rsp + (1 << 20))


def main():
    if not sys.platform.startswith("linux") or platform.machine() != "x86_64":
        sys.exit("What a hit writes: not run, this is not Linux on x86-64.")
    try:
        import capstone
    except ImportError:
        return python_with_capstone()
    tracer = Tracer(capstone)
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        tracer.call(TRACEME, 0)
        os.dup2(writing, 1)
        os.execv(sys.argv[1], [sys.argv[1], "trace-hits"])
    os.close(writing)
    os.waitpid(child, 0)
    tracer.call(SETOPTIONS, child, 0, TRACECLONE)
    tracer.call(CONT, child)
    output = os.fdopen(reading)
    # The address of pthread_mutex_lock, and how many hits are traced at once. Then the name of each side before its two threads.
    header, name, seen = None, None, []
    print(f"{'What a hit of memory does':34}{'locks':>8}{'atomic':>8}{'writes':>8}{'shared':>8}")
    while True:
        try:
            thread, status = os.waitpid(-1, WALL)
        except ChildProcessError:
            return
        if not os.WIFSTOPPED(status):
            if thread == child:
                return
            continue
        sent = os.WSTOPSIG(status)
        if sent == signal.SIGUSR1:
            if header is None:
                header = [int(word) for word in output.readline().split()]
            if not seen:
                name = output.readline().strip()
            seen.append(tracer.step_through(thread, header[0]))
            if len(seen) == 2:
                hits = header[1]
                (locks, atomics, lines), (_, _, others) = seen
                shared = sum(count for line, count in lines.items() if line in others)
                print(f"{name:34}{locks / hits:8.1f}{atomics / hits:8.1f}{lines.total() / hits:8.1f}{shared / hits:8.2f}", flush=True)
                seen = []
            sent = 0
        tracer.call(CONT, thread, 0, 0 if sent in (signal.SIGTRAP, signal.SIGSTOP) else sent)


main()
