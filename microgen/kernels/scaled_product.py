"""Kernels of products of int8 that one long multiplication scales.

A proof over all pairs decides whether that is exact (``microgen/arithmetic/affine.py``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

import numpy as np

from microgen.arithmetic.affine import Affine, affine_product
from microgen.ir.graph import Array, Graph, Node
from microgen.kernels import base, broadcast, pairs, transforms

KIND = "affine_product"
_KEPT = 1024  # proofs


@lru_cache(_KEPT)
def _proven(of: pairs.Pair) -> Affine | None:
    lhs, rhs, output = (float(scale) for scale in pairs.scales(of))
    if not output:
        return None
    zeros = (of.lhs.zero_point[0], of.rhs.zero_point[0])
    return affine_product(of.results(), zeros, lhs * rhs / output, *of.limits)


def _of(node: Node, graph: Graph) -> tuple[pairs.Pair, Affine]:
    of = pairs.pair(node, graph)
    found = of and _proven(of)
    assert of, "the kernel was not refused"
    assert found, "the kernel was not refused"
    return of, found


def _refusal(node: Node, graph: Graph) -> str | None:
    of = pairs.pair(node, graph)
    if of is None:
        return base.Mismatch(base.Trait.DTYPE, "it does not compute int8")
    refusal = broadcast.too_many_for_rows(node, graph)
    if refusal:
        return refusal
    if _proven(of) is None:
        return "no multiplication of the products was found that is exact for all pairs"
    return None


def _params(node: Node, graph: Graph) -> base.Fields:
    """Fields of ``mg_scaled_product_s8_params``."""
    of, found = _of(node, graph)
    return (
        *broadcast.in_rows(node, graph),
        ("lhs_offset", -of.lhs.zero_point[0]),
        ("rhs_offset", -of.rhs.zero_point[0]),
        ("activation_min", found.low),
        ("activation_max", found.high),
    )


def _constants(node: Node, graph: Graph) -> tuple[base.KernelConstant, ...]:
    of, found = _of(node, graph)
    high, low = divmod(found.constant, 2**32)
    arguments = (
        *pairs.arguments(of),
        ("factor", found.factors[0]),
        ("constant_high", high),
        ("constant_low", low),
        ("low", found.low),
        ("high", found.high),
    )
    name, scales = f"{node.outputs[0]}#scales", pairs.scales(of)
    constant = base.KernelConstant(
        "coefficient", "int32_t", name, transform=KIND, arguments=arguments, array=scales
    )
    return (constant,)


def _coefficients(sources: Sequence[Array], arguments: transforms.Arguments) -> Array:
    (scales,) = sources
    if scales.shape != (3,):
        raise ValueError(f"there are {scales.size} scales; three are expected")
    numbers = [int(arguments[name]) for name in ("factor", "constant_low", "constant_high")]
    return np.array(numbers, np.int64).astype(np.uint32).view(np.int32)


KERNEL = base.Implementation(
    symbol="mg_scaled_product_s8",
    needs=base.REFERENCE,
    refusal=_refusal,
    params=_params,
    inputs=(0, 1),
    constants=_constants,
    in_place=broadcast.in_place,
    work=broadcast.row_work,
)

# affine_product: the scales of both operands and the output, float32 [3], and what
# ``pairs.arguments`` and the proof say. The factor, and the lower and the higher word of the
# constant: int32 [3].
TRANSFORMS: Mapping[str, transforms.Function] = {KIND: _coefficients}
