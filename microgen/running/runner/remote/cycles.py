"""The core's counter of its clock's cycles, if it has one that can be trusted.

The counter has to stop while a debugger stops the core. Otherwise it counts the debugger's time.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from microgen.running.runner.gdb import GdbError
from microgen.running.runner.remote.description import Description
from microgen.running.runner.remote.protocol import Remote

# Armv7-M Architecture Reference Manual (DDI 0403), C1.6.5 and C1.8: debug registers of memory.
_DEMCR, _TRACE_ON = 0xE000EDFC, 1 << 24
_DWT_CTRL, _COUNTS, _NO_COUNTER = 0xE0001000, 1, 1 << 25
_DWT_CYCCNT = 0xE0001004
_FASTEST = 1_000_000_000  # Hz, of a core whose clock is not known
_MARGIN = 1.25  # the stated clock of a board may be wrong


@dataclass(frozen=True, slots=True)
class Counter:
    """A counter of ``bits`` bits. ``read`` raises as ``Remote`` does."""

    name: str
    bits: int
    read: Callable[[], int]

    def between(self, start: int, end: int, seconds: float, clock: int) -> int | None:
        """The cycles from one reading to a later one, after at most ``seconds`` of a ``clock`` in
        Hz (0: not known). None if the counter stood still, or may have wrapped around more than
        once."""
        if seconds * (clock * _MARGIN if clock else _FASTEST) >= 1 << self.bits:
            return None
        # Modulo, because the counter may have wrapped around once.
        return (end - start) % (1 << self.bits) or None


@dataclass(frozen=True, slots=True)
class Missing:
    """The reason why the core has no counter that can be used."""

    why: str


def find(remote: Remote, machine: str, description: Description) -> Counter | Missing:
    """The counter of a core that is stopped."""
    try:
        counter = _dwt(remote) if machine == "EM_ARM" else _mcycle(remote, description)
        # The core is stopped, so a counter that can be trusted stands still.
        if isinstance(counter, Counter) and counter.read() != counter.read():
            return Missing(f"{counter.name} also counts while the core is stopped")
    except GdbError as error:
        return Missing(f"the core's counter cannot be read ({error})")
    return counter


def _dwt(remote: Remote) -> Counter | Missing:
    def word(address: int) -> int:
        return int.from_bytes(remote.read(address, 4), "little")

    def put(address: int, value: int) -> None:
        remote.write(address, value.to_bytes(4, "little"))

    put(_DEMCR, word(_DEMCR) | _TRACE_ON)
    control = word(_DWT_CTRL)
    if control & _NO_COUNTER:
        return Missing("the core's DWT has no cycle counter")
    put(_DWT_CTRL, control | _COUNTS)
    if not word(_DWT_CTRL) & _COUNTS:
        return Missing("the core has no DWT cycle counter")
    return Counter("DWT CYCCNT", 32, lambda: word(_DWT_CYCCNT))


def _mcycle(remote: Remote, description: Description) -> Counter | Missing:
    low, high = (description.registers.get(name) for name in ("mcycle", "mcycleh"))
    if low is None:
        return Missing("the server does not show the core's mcycle")
    if high is None:
        return Counter("mcycle", 8 * low.nbytes, lambda: remote.register(low))
    # The core is stopped, so nothing carries from one half to the other between two reads.
    return Counter("mcycle", 64, lambda: remote.register(high) << 32 | remote.register(low))


Mark = tuple[int, float]


class Stopwatch:
    """Cycles between two stops of the core, whose clock is ``clock`` Hz (0: not known)."""

    def __init__(self, counter: Counter, clock: int) -> None:
        self._counter = counter
        self._clock = clock

    def mark(self) -> Mark:
        """A reading of the counter while the core is stopped."""
        return self._counter.read(), time.monotonic()

    def since(self, mark: Mark) -> int | None:
        """The cycles from a mark to now; None if they are not known."""
        start, then = mark
        seconds = time.monotonic() - then
        return self._counter.between(start, self._counter.read(), seconds, self._clock)
