"""The calls that a run must make, in order, computed without the generated code."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

# An operator's function, and the device that it runs on, or "".
Operator = tuple[str, str]


@dataclass
class Run:
    """The calls so far. ``failing`` maps a call's number, from 1, to the status that it returns."""

    failing: Mapping[int, int]
    called: list[str] = field(default_factory=list)
    status: int = 0

    def call(self, what: str) -> int:
        self.called.append(what)
        status = self.failing.get(len(self.called), 0)
        self.status = self.status or status
        return status


def run(
    devices: Sequence[str], operators: Sequence[Operator], failing: Mapping[int, int] = {}
) -> Run:
    """Activates all devices, runs operators between open and close, deactivates active devices."""
    state = Run(failing)
    active: list[str] = []
    for device in devices:
        if state.call(f"{device} Activate"):
            break
        active.append(device)
    else:
        _run_operators(state, operators)
    for device in reversed(active):
        state.call(f"{device} Deactivate")
    return state


def _run_operators(state: Run, operators: Sequence[Operator]) -> None:
    for function, device in operators:
        if device and state.call(f"{device} Open"):
            return
        failed = state.call(function)
        if device and state.call(f"{device} Close"):
            return
        if failed:
            return


def hooks(called: Sequence[str]) -> Iterator[str]:
    """The calls that are hooks of devices."""
    return (what for what in called if " " in what)
