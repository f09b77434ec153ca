"""The op, attributes and constants of a recurrent layer that was recognised."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from microgen.frontends.cell_values import Matrix
from microgen.frontends.cells import RecurrentCell
from microgen.graph.ir.graph import Array, Quant
from microgen.graph.ops.recurrent.recurrent import RecurrentAttrs
from microgen.graph.ops.recurrent.recurrent_hybrid import RecurrentHybridAttrs


@dataclass(frozen=True, slots=True)
class RecurrentNode:
    """A node whose inputs are data [steps, batches, features], the ``constants`` by their roles,
    and the states before the first step."""

    op: str
    attrs: RecurrentAttrs
    constants: dict[str, tuple[Array, Quant | None]]


def of(cell: RecurrentCell, steps: int, batches: int, *, keeps: bool) -> RecurrentNode:
    """The layer of a cell: float32, or with int8 weights. If it ``keeps`` them, its output has the
    hidden states of all steps."""
    own: dict[str, Any] = {"keeps": keeps, "resets_after": cell.resets_after}
    sides = {"weight": cell.weight, "recurrent": cell.recurrent}
    ways = {each.asymmetric for side in sides.values() for each in side if each.scales is not None}
    if ways:
        hybrid = RecurrentHybridAttrs(cell.kind, cell.functions, asymmetric=ways.pop(), **own)
        constants = {role: _rows(side) for role, side in sides.items()} | {
            "bias": (cell.bias, None)
        }
        return RecurrentNode("nn.recurrent_hybrid", hybrid, constants)
    arrays = {role: np.stack([each.values for each in side]) for role, side in sides.items()}
    arrays |= {"bias": cell.bias, "lengths": np.full(batches, steps, np.int32)}
    attrs = RecurrentAttrs(cell.kind, cell.functions, **own)
    return RecurrentNode("nn.recurrent", attrs, {role: (a, None) for role, a in arrays.items()})


def _rows(side: Sequence[Matrix]) -> tuple[Array, Quant | None]:
    """Matrices as one, below each other."""
    values = np.concatenate([each.values for each in side])
    scales = [each.scales for each in side if each.scales is not None]
    if not scales:
        return values, None
    every = np.concatenate(scales)
    each = every[:1] if np.all(every == every[0]) else every
    return values, Quant(tuple(map(float, each)), (0,) * each.size, 0 if each.size > 1 else None)
