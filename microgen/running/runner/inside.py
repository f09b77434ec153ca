"""The counts of layers that operators with loops and branches compute by calls of functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from microgen.base.manifest import InnerLayers, ModuleRecord
from microgen.running.runner.costs import RunCost, RunCosts

_Counts = Mapping[tuple[int, int], tuple[int, int]]


@dataclass(frozen=True, slots=True)
class InnerCount:
    """The calls of the function of one or more ``layers`` in call number ``call`` of a module:
    their number, all their instructions, and their modelled cost, None if it is not known."""

    call: int
    layers: InnerLayers
    times: int
    instructions: int
    cost: RunCost | None = None

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "layers": list(dict.fromkeys(step.layer for step in self.layers.steps)),
            "times": self.times,
            "instructions": self.instructions,
            "cycles": self.cost and self.cost.cycles,
        }


Sample = tuple[tuple[InnerCount, ...], ...]  # of each module


def of_run(
    modules: Sequence[ModuleRecord], counted: Sequence[_Counts], modelled: RunCosts | None
) -> tuple[Sample, ...]:
    """The counts of each sample, from those of each inference (``profile.inside``)."""
    width = len(modules)
    return tuple(
        tuple(
            _of_module(
                module, counted[first + i], modelled.inside[first // width][i] if modelled else {}
            )
            for i, module in enumerate(modules)
        )
        for first in range(0, len(counted), width)
    )


def _of_module(
    module: ModuleRecord, counts: _Counts, costs: Mapping[tuple[int, int], RunCost]
) -> tuple[InnerCount, ...]:
    return tuple(
        InnerCount(call.index, layers, *counts.get(key, (0, 0)), costs.get(key))
        for number, call in enumerate(module.calls)
        for share, layers in enumerate(call.inner_layers, start=1)
        for key in [(number, share)]
    )
