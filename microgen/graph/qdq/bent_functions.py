"""HardSigmoid and HardSwish of int16 values: straight lines with bends, as a few ops of integers.

HardSigmoid is a change of scale, whose zero point is ``beta``, within the stored values of 0 and 1.
HardSwish is its argument times HardSigmoid.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from microgen.graph.arithmetic.terms import Activation, Rounding
from microgen.graph.ir.graph import Array, ArrayType, Attrs, DType, Node, Origin, Quant
from microgen.graph.ops import registry
from microgen.graph.ops.base import Operands
from microgen.graph.ops.elementwise.choices import MaximumAttrs, MinimumAttrs
from microgen.graph.ops.elementwise.product import MultiplyAttrs
from microgen.graph.ops.quantization.rescale import RescaleAttrs
from microgen.graph.ops.unary.real_function import RealFunctionAttrs
from microgen.graph.qdq.rewriting import Rewriting

_MOST = 2**15 - 1
_SWISH = (1 / 6, 1 / 2)  # alpha and beta of the HardSigmoid in HardSwish
# Scales of that HardSigmoid. The first has 1 as a stored value, the second is finer.
_GATES = (2.0**-14, 2.0**-15)


@dataclass(frozen=True, slots=True)
class PlannedOp:
    """A node: its operands are "x", "" for the result of the step before, or a stored number."""

    op: str
    attrs: Attrs
    operands: tuple[str | int, ...]
    quant: Quant


def plans(node: Node, data: ArrayType, output: ArrayType) -> Iterator[tuple[PlannedOp, ...]]:
    """Ways to compute the node's function from ``data`` to ``output``, both int16; none if it is
    another function."""
    assert output.quant is not None
    if isinstance(node.attrs, RealFunctionAttrs) and node.attrs.function == "hard_sigmoid":
        alpha, beta = map(float, node.attrs.numbers[:2])
        # Other zero points saturate all values, or are not finite.
        if alpha > 0 and abs(beta / output.scale) <= _MOST:
            yield _hard_sigmoid(data, alpha, beta, output.quant)
    elif node.op == "nn.hard_swish":
        for scale in _GATES:
            gate = _hard_sigmoid(data, *_SWISH, Quant((scale,), (0,)))
            attrs = MultiplyAttrs(Activation.NONE, in_float32=True)
            yield (*gate, PlannedOp("multiply", attrs, ("", "x"), output.quant))


def _hard_sigmoid(
    data: ArrayType, alpha: float, beta: float, quant: Quant
) -> tuple[PlannedOp, ...]:
    scale = quant.scale[0]
    middle, one = round(beta / scale), min(round(1 / scale), _MOST)
    attrs = RescaleAttrs(0, data.scale * alpha, 0, scale, middle, Rounding.UPWARD)
    return (
        PlannedOp("qnn.rescale", attrs, ("x",), quant),
        PlannedOp("maximum", MaximumAttrs(), ("", 0), quant),
        PlannedOp("minimum", MinimumAttrs(), ("", one), quant),
    )


def computed(plan: tuple[PlannedOp, ...], values: Array, data: ArrayType) -> Array | None:
    """The stored results of a plan for int16 values [n]; None if an op refuses its types."""
    known: dict[str, tuple[Array, ArrayType]] = {
        "x": (values, dataclasses.replace(data, shape=values.shape))
    }
    for step in plan:
        operands = [_operand(each, known, step.quant) for each in step.operands]
        kinds = tuple(kind for _, kind in operands)
        output = ArrayType(values.shape, DType.INT16, step.quant)
        if registry()[step.op].check(step.attrs, kinds, (output,)) is not None:
            return None
        arrays = tuple(array for array, _ in operands)
        (result,) = registry()[step.op].reference(step.attrs, Operands(arrays, kinds, (output,)))
        known[""] = result, output
    return known[""][0]


def _operand(
    operand: str | int, known: Mapping[str, tuple[Array, ArrayType]], quant: Quant
) -> tuple[Array, ArrayType]:
    if isinstance(operand, str):
        return known[operand]
    return np.array(operand, np.int16), ArrayType((), DType.INT16, quant)


def emitted(
    rewriting: Rewriting,
    plan: tuple[PlannedOp, ...],
    integers: str,
    result: tuple[ArrayType, str, Origin],
) -> str:
    """The nodes of a plan in the new graph, whose last result is the wanted tensor."""
    kind, name, origin = result
    made = integers
    for k, step in enumerate(plan):
        is_last = k == len(plan) - 1
        wanted = name if is_last else rewriting.fresh(f"{name}#{step.op.rpartition('.')[2]}")
        names = [
            rewriting.constant(f"{name}#limit", np.array(each, np.int16), step.quant)
            if isinstance(each, int)
            else (integers if each else made)
            for each in step.operands
        ]
        own = dataclasses.replace(kind, quant=step.quant)
        made = rewriting.emit(step.op, step.attrs, names, own, wanted, origin)
    return made
