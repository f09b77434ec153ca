"""Kernels of sums and differences of int8 that are one affine function of each pair of values.

A proof over all pairs decides whether there is one (``microgen/arithmetic/affine.py``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

import numpy as np

from microgen.arithmetic.affine import Affine, affine_sum
from microgen.ir.graph import Array, Graph, Node
from microgen.kernels import base, broadcast, pairs, transforms
from microgen.target.cpu import Feature

KIND = "affine_sum"
_KEPT = 1024  # proofs
_SIGNS = {"add": 1, "subtract": -1, "qnn.add": 1, "qnn.subtract": -1}  # of the second operand


@lru_cache(_KEPT)
def _proven(of: pairs.Pair) -> Affine | None:
    lhs, rhs, output = (float(scale) for scale in pairs.scales(of))
    if not output:
        return None
    slopes = (lhs / output, _SIGNS[of.op] * rhs / output)
    return affine_sum(of.results(), slopes, *of.limits)


def _of(node: Node, graph: Graph) -> Affine:
    of = pairs.pair(node, graph)
    found = of and _proven(of)
    assert found, "the kernel was not refused"
    return found


def _refusal(node: Node, graph: Graph) -> str | None:
    of = pairs.pair(node, graph)
    if of is None:
        return base.Mismatch(base.Trait.DTYPE, "it does not compute int8")
    refusal = broadcast.too_many_for_rows(node, graph)
    if refusal:
        return refusal
    if _proven(of) is None:
        return "no affine function of both values was found that is exact for all pairs"
    return None


def _params(node: Node, graph: Graph) -> base.Fields:
    """Fields of ``mg_affine_sum_s8_params``."""
    found = _of(node, graph)
    return (
        *broadcast.in_rows(node, graph),
        ("shift", found.shift),
        ("activation_min", found.low),
        ("activation_max", found.high),
    )


def _constants(node: Node, graph: Graph) -> tuple[base.KernelConstant, ...]:
    of = pairs.pair(node, graph)
    assert of
    found = _of(node, graph)
    proof = (
        ("factor_lhs", found.factors[0]),
        ("factor_rhs", found.factors[1]),
        ("constant", found.constant),
        ("shift", found.shift),
        ("low", found.low),
        ("high", found.high),
    )
    name = f"{node.outputs[0]}#scales"
    arguments = (*pairs.arguments(of), *proof)
    scales = pairs.scales(of)
    constant = base.KernelConstant(
        "coefficient", "int32_t", name, transform=KIND, arguments=arguments, array=scales
    )
    return (constant,)


def _coefficients(sources: Sequence[Array], arguments: transforms.Arguments) -> Array:
    (scales,) = sources
    if scales.shape != (3,):
        raise ValueError(f"there are {scales.size} scales; three are expected")
    names = ("factor_lhs", "factor_rhs", "constant")
    return np.array([arguments[name] for name in names], np.int32)


def _kernel(symbol: str, needs: frozenset[Feature]) -> base.Implementation:
    return base.Implementation(
        symbol=symbol,
        needs=needs,
        refusal=_refusal,
        params=_params,
        inputs=(0, 1),
        constants=_constants,
        in_place=broadcast.in_place,
        work=broadcast.row_work,
    )


KERNELS = (
    _kernel("mg_affine_sum_s8", base.REFERENCE),
    _kernel("mg_affine_sum_s8_mve", base.MVE),
)

# affine_sum: the scales of both operands and the output, float32 [3], and what ``pairs.arguments``
# and the proof say. The factors of both operands, and the constant: int32 [3].
TRANSFORMS: Mapping[str, transforms.Function] = {KIND: _coefficients}
