"""The conditions of a modelled time: the core whose timings were used, its clock, and the wait
states of flash. Every command prints them with its figures, in text and in JSON."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from microgen.running.timing.core import CoreTimings


@dataclass(frozen=True, slots=True)
class Conditions:
    """A core, its clock (0 if it is not known), and the wait states of flash at that clock."""

    core: CoreTimings
    clock_hz: int
    wait_states: int

    def milliseconds(self, cycles: int) -> float | None:
        """The time of a number of cycles; None if the clock is not known."""
        return 1000 * cycles / self.clock_hz if self.clock_hz else None

    def waiting(self, waited: int, followed: int) -> int:
        """The cycles in which the core waits for lines of flash (``Flash.waiting``)."""
        return self.core.flash.waiting(self.wait_states, waited, followed)

    def __str__(self) -> str:
        fitted = ", fitted" if self.core.is_fitted else ""
        clock = f"{self.clock_hz / 1e6:g} MHz" if self.clock_hz else "clock unknown"
        flash = f"{self.wait_states} wait states of flash"
        return f"cycles are modelled: {self.core.title}{fitted}, {clock}, {flash}"

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "core": self.core.title,
            "fitted": self.core.is_fitted,
            "clock_hz": self.clock_hz or None,
            "flash_wait_states": self.wait_states,
        }
