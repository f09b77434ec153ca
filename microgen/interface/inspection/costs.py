"""The conditions of measured costs: the core, or the measured core that represents it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

from microgen.kernels import cost
from microgen.running import timing
from microgen.running.timing import Conditions
from microgen.target.cpu import CPUS, Cpu


@dataclass(frozen=True, slots=True)
class CostConditions:
    """The core whose costs were measured with a clock (0 if it does not matter) and the wait states
    of flash; None if nothing was measured, as for the host. ``stands`` names the core with these
    costs, if it is not the CPU itself."""

    conditions: Conditions | None = None
    stands: str = ""

    @classmethod
    def on(cls, cpu: Cpu, clock_hz: int = 0, wait_states: int = 0) -> Self:
        """The conditions for a CPU, or for the core that stands for it."""
        name = cost.measured_core(cpu)
        core = timing.of_cpu(CPUS[name]) if name else None
        return cls(Conditions(core, clock_hz, wait_states), cost.said(cpu)) if core else cls()

    def __str__(self) -> str:
        conditions = str(self.conditions) if self.conditions else ""
        return "; ".join(filter(None, (conditions, self.stands)))

    def lines(self, *, verbose: bool) -> Iterator[str]:
        """The lines about the cycles in reasons: if ``verbose``, the core and that it was measured
        without wait states; then the core whose costs stand for the CPU's."""
        if verbose and self.conditions:
            core = self.conditions.core.title
            yield f"cycles in the reasons are those of {core} with 0 wait states of flash"
        if self.stands:
            yield self.stands

    def to_json(self) -> dict[str, Any]:
        """Plain data: whose costs stand for the CPU's."""
        return {"stands": self.stands or None}
