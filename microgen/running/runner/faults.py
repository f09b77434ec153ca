"""Finds the reason why a run failed, from its exit code, the console and the emulator's
messages."""

from __future__ import annotations

import re
import signal
from pathlib import Path

from microgen.base.errors import RunError, StatusRunError
from microgen.running.runner import statuses
from microgen.running.runner.image import Image

# Exit codes of templates/project/src/main.c.j2 and of crt/src/platform/start.c.
EXIT_RUN, EXIT_FILE, EXIT_FAULT = 1, 2, 3

_STATUS = re.compile(r"^microgen: status=(-?\d+) samples=(\d+) stack=(\d+)$", re.M)
_FAILED = re.compile(r"^microgen: failed=(\w+)$", re.M)  # one of several models
# The firmware prints the four registers in hexadecimal, see crt/src/platform/start.c.
_FAULT = re.compile(
    r"^microgen: fault=(\w+) pc=(0x[0-9a-f]+) lr=(0x[0-9a-f]+) cfsr=(0x[0-9a-f]+)$", re.M | re.I
)
_ABORT = re.compile(r"^microgen: abort=(0x[0-9a-f]{8})$", re.M)
_SANITIZER = re.compile(r"ERROR: \w+Sanitizer: .*|.*: runtime error: .*")
# QEMU prints all registers when a core locks up; R15 is the pc.
_LOCKUP_PC = re.compile(r"\bR15=([0-9a-f]{8})", re.I)

# Armv7-M and Armv8-M Architecture Reference Manuals (DDI 0403, DDI 0553), register CFSR.
_CFSR = {
    0: "an instruction was fetched from memory that contains no code",
    1: "data was accessed where the memory map does not allow it",
    3: "unstacking at an exception's return failed",
    4: "stacking for an exception failed: the stack is too small",
    5: "saving the FPU's state failed",
    8: "an instruction was fetched from where there is no memory",
    9: "data was accessed where there is no memory",
    10: "a write to where there is no memory",
    11: "unstacking at an exception's return failed",
    12: "stacking for an exception failed: the stack is too small",
    13: "saving the FPU's state failed",
    16: "an undefined instruction",
    17: "a jump to an address without the Thumb bit",
    18: "an invalid exception return",
    19: "a coprocessor that is off or absent: the FPU or MVE",
    20: "the stack overflowed",
    24: "an unaligned access",
    25: "a division by zero",
}

# RISC-V gives only a fault's name. Privileged Architecture, table 3.6 (mcause).
_TRAPS = {
    "InstructionAddressMisaligned": "a jump to an odd address",
    "InstructionAccessFault": "an instruction was fetched from where there is no code",
    "IllegalInstruction": "an undefined instruction",
    "Breakpoint": "a breakpoint: the program gave up",
    "LoadAddressMisaligned": "an unaligned read",
    "LoadAccessFault": "a read from where there is no memory, or none that may be read",
    "StoreAddressMisaligned": "an unaligned write",
    "StoreAccessFault": "a write to where there is no memory, or none that may be written",
}


def status_line(console: str) -> tuple[int, int, int] | None:
    """(status, samples, painted stack in bytes) from the firmware's last line; None if there is no
    such line."""
    lines = _STATUS.findall(console)
    # The last line counts: the application may print text that looks the same before it.
    if not lines:
        return None
    status, samples, stack = map(int, lines[-1])
    return status, samples, stack


def failure(code: int, console: str, diagnostics: str, image: Image) -> RunError:
    """The error for a run that ended with exit code ``code``, negative for a signal."""
    where = str(image.path)
    # The firmware's own report comes first, because no other has the registers.
    fault = _FAULT.search(console)
    if fault:
        return RunError(_fault(fault, image), where=where)
    # From the most to the least specific message: a sanitizer ends the program with a signal, too.
    for what in (_sanitizer(diagnostics), _lockup(diagnostics, image), _signal(code)):
        if what:
            return RunError(what, where=where)
    line = status_line(console)
    if code == EXIT_RUN and line:
        status, module = line[0], (*_FAILED.findall(console), "")[0]
        meaning, hint = statuses.described(status), statuses.hint(status)
        return StatusRunError(status, line[1] - 1, module, meaning, where=where, hint=hint)
    return RunError(_exit(code, console, diagnostics), where=where)


def hang(limit: float, doing: str, place: str, elf: Path) -> RunError:
    """The error for a run that made no progress for ``limit`` seconds."""
    at = f", at {place}" if place else ""
    return RunError(
        f"no progress for {limit:g} s, {doing}{at}",
        where=str(elf),
        hint="if the model is only slow, allow more time",
    )


def _fault(match: re.Match[str], image: Image) -> str:
    is_riscv = image.machine == "EM_RISCV"  # pushes no frame, so its pc and lr are always known
    kind, pc, caller, status = match[1], *(int(number, 16) for number in match.groups()[1:])
    # Bits of CFSR are independent: one fault can have several causes.
    causes = [text for bit, text in _CFSR.items() if status >> bit & 1]
    causes += [_TRAPS[kind]] if kind in _TRAPS else []
    cause = f": {'; '.join(causes)}" if causes else ""
    ended = f"the firmware ended in {'an' if kind[0] in 'IE' else 'a'} {kind}{cause}"
    if pc == 0 and not is_riscv:
        return f"{ended}; the place is unknown, because its stack overflowed"
    # The return address of Thumb code has bit 0 set.
    return f"{ended}; pc {image.place(pc)}, called from {image.place(caller & ~1)}"


def _sanitizer(diagnostics: str) -> str:
    match = _SANITIZER.search(diagnostics)
    return f"the program was stopped by a sanitizer: {match[0]}" if match else ""


def _lockup(diagnostics: str, image: Image) -> str:
    """The reason why QEMU stopped, if a core faulted while it handled a fault, because QEMU then
    ends."""
    if "Lockup" not in diagnostics:
        return ""
    pc = _LOCKUP_PC.search(diagnostics)
    at = f" at {image.place(int(pc[1], 16))}" if pc else ""
    return f"the core locked up (a fault in a fault handler){at}"


def _signal(code: int) -> str:
    if code >= 0:
        return ""
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = f"signal {-code}"
    return f"the program was ended by {name}"


def _exit(code: int, console: str, diagnostics: str) -> str:
    # The end of a long output has the reason, and 300 characters fit an error message.
    printed = " ".join((diagnostics or console).split())[-300:] or "nothing"
    abort = _ABORT.search(console)
    if code == EXIT_RUN and abort:
        return f"the firmware aborted: {statuses.described(int(abort[1], 16))}"
    return f"the firmware ended with exit code {code}; it said: {printed}"
