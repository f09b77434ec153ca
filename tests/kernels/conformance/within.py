"""Whether results of kernels and of LiteRT are within an op's bound of its reference."""

from __future__ import annotations

import numpy as np

from microgen.frontends.tflite import litert
from microgen.graph.ir import beside
from microgen.graph.ir.beside import Expected, Slack, no_slack
from microgen.graph.ir.graph import Array, Attrs, Graph, Node, Origin
from microgen.graph.ops import registry
from microgen.graph.ops.base import Operands

RANGE = 1e-5  # relative to a tensor's range: how far a whole, well-conditioned network may be off


def expected(
    op: str,
    attrs: Attrs,
    operands: Operands,
    found: tuple[Array, ...],
    slack: Slack = no_slack,
) -> list[Expected]:
    """The values that a node should have, with the found ones: its outputs, then its variables."""
    names = tuple(f"in{k}" for k in range(len(operands.inputs)))
    outputs = tuple(f"out{k}" for k in range(len(operands.output_types)))
    node = Node(op, names, outputs, attrs, Origin("case", op))
    written = [names[k] for k in registry()[op].writes(attrs, len(names))]
    types = dict(
        zip((*names, *outputs), (*operands.input_types, *operands.output_types), strict=True)
    )
    constants = dict(zip(names, operands.inputs, strict=True))
    graph = Graph("case", (), outputs, (node,), types, constants)
    known = dict(zip((*outputs, *written), found, strict=True))
    return list(beside.walk(graph, {}, registry(), known, slack=slack))


def wrong(one: Expected) -> Array:
    """Which elements are beyond their bounds."""
    assert one.found is not None
    return beside.exceeds(one.found, one.values, one.bound)


def beyond_litert(op: str, attrs: Attrs, operands: Operands, found: tuple[Array, ...]) -> Array:
    """Where LiteRT's output exceeds the op's bound and the slack for LiteRT's own choices."""
    (one,) = expected(op, attrs, operands, found, litert.slack)
    return wrong(one)


def far(found: Array, wanted: Array, roundings: int = 1) -> bool:
    """Whether a network's outputs differ. Integers must be equal, floats within ``RANGE`` times the
    roundings of each product that kernels add to a sum: 1 if they are fused, else 2."""
    if wanted.dtype.kind != "f":
        return bool((found != wanted).any())
    span = max(np.ptp(wanted), np.abs(wanted).max())
    return not (np.abs(found - wanted) <= roundings * RANGE * span).all()
