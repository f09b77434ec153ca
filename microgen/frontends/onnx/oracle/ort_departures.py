"""Results that ONNX Runtime defines differently from LiteRT. microgen's ops have LiteRT's
definition.

Such elements are no errors of a firmware. They are not compared, and a comparison says so.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping

import numpy as np

from microgen.graph.ir.graph import Array, Node
from microgen.graph.ops import registry
from microgen.graph.ops.base import Inexact

Departure = tuple[Array, str]  # which elements, bool, and why


def of(node: Node, given: Inexact) -> tuple[Array | None, str]:
    """The elements of a node's result that ONNX Runtime defines in another way, and why; None if
    there are none."""
    rule = _RULES.get(node.op)
    if rule is None or given.operands.inputs[0].dtype.kind != "f":
        return None, ""
    where, why = rule(node, given)
    return (where, why) if where.any() else (None, "")


def _of_nan(node: Node, given: Inexact) -> Departure:
    """Extremes of NaN and numbers: ONNX Runtime returns NaN if it comes first, for example."""
    has_nan = np.isnan(given.operands.inputs[0]).astype(np.float32)
    greatest = {"min": "max", "argmin": "argmax"}.get(node.op, node.op)
    why = "LiteRT ignores NaN, ONNX Runtime only in some places"
    if greatest == "argmax":
        axis: int = node.attrs.axis  # type: ignore[attr-defined]
        found = has_nan.any(axis=axis, keepdims=True)
        shape = given.expected[0].shape
        return np.asarray(found).reshape(shape), why
    operands = dataclasses.replace(given.operands, inputs=(has_nan,))
    (found, *_) = registry()[greatest].reference(node.attrs, operands)
    return np.asarray(found > 0), why


def _of_products(_node: Node, given: Inexact) -> Departure:
    """Hard swish, which LiteRT multiplies before it divides by 6."""
    overflows = np.isinf(given.expected[0]) & np.isfinite(given.operands.inputs[0])
    return np.asarray(overflows), "LiteRT's product overflows before it is divided by 6"


_RULES: Mapping[str, Callable[[Node, Inexact], Departure]] = {
    "argmax": _of_nan,
    "argmin": _of_nan,
    "max": _of_nan,
    "min": _of_nan,
    "nn.hard_swish": _of_products,
    "nn.max_pool2d": _of_nan,
}
