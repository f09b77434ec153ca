"""Ops that move elements and compute nothing."""

from __future__ import annotations

from collections.abc import Sequence

from microgen.graph.ir.graph import Attrs
from microgen.graph.ops import bounds
from microgen.graph.ops import cost as costs
from microgen.graph.ops.base import Check, Infer, OpDefinition, Reference
from microgen.graph.ops.constraints import unchanged


def mover(
    name: str,
    attrs: type[Attrs],
    infer: Infer,
    reference: Reference,
    *,
    check: Check = unchanged,
    data: Sequence[int] | None = None,
    cost: costs.Rule = costs.moved,
    is_view: bool = False,
) -> OpDefinition:
    """The definition of an op that moves elements of the inputs ``data``, by default of all."""
    bound = bounds.moves(reference, data)
    return OpDefinition(
        name, attrs, infer, check, reference, cost=cost, bound=bound, is_view=is_view
    )
