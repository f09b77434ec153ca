"""Checks of cheaper arithmetic: it equals the model's for all values.

Some kernels compute a form that is exact only for the numbers that a search has found. The search
is not repeated here. A proof computes two results for every value: the operator's reference from
the model's scales, and the form with the recorded numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from microgen.base.manifest import ConstantRecord
from microgen.graph.arithmetic.terms import Activation, Rounding
from microgen.graph.ir.graph import Array, ArrayType, Attrs, DType, Quant
from microgen.graph.ops import registry
from microgen.graph.ops.base import OpDefinition, Operands
from microgen.graph.ops.elementwise.addition import AddAttrs, SubtractAttrs
from microgen.graph.ops.elementwise.product import MultiplyAttrs
from microgen.graph.ops.elementwise.rescaled import RescaledAttrs
from microgen.graph.ops.pooling.pooling import AvgPool2DAttrs
from microgen.graph.ops.reductions.reduction import MeanAttrs
from microgen.verifier.subject import Finding, Subject, judged_by_parameters, not_applicable

Arguments = Mapping[str, Any]
# From a constant's sources and arguments, for all values: the reference's results and the form's.
Proof = Callable[[Sequence[Array], Arguments], tuple[Array, Array]]
_VALUES = np.arange(-128, 128, dtype=np.int64)  # of int8
_MOST_VALUES = 256  # of a window, whose sum is int16
_WRONG = (KeyError, TypeError, ValueError, ArithmeticError, AttributeError)


def proofs(subject: Subject) -> Finding:
    """Arithmetic that is exact only for numbers that a search found equals the operator's
    reference: both are computed for all values (65,536 pairs of int8) from the model's scales
    and the recorded numbers, without the search; ``n/a`` if no kernel needs a proof.

    Reads: the constants' arguments; parameters.
    """
    records = [r for r in subject.manifest.constants if r.transform in PROOFS]
    if not records:
        return not_applicable("no kernel needs a proof")
    expected = f"the arithmetic of {len(records)} constants equals the references for all values"
    return judged_by_parameters(
        subject, expected, records, _problems, f"{len(records)} are equal", proofs=len(records)
    )


def _problems(record: ConstantRecord, parameters: Mapping[str, Array]) -> Iterator[str]:
    where = record.symbol or record.name
    try:
        sources = [parameters[name] for name in record.sources]
        # Recorded numbers may be anything: a division by 0 or an overflow ends the proof.
        with np.errstate(divide="raise", over="raise", invalid="raise"):
            wanted, computed = PROOFS[record.transform](sources, record.arguments)
    except _WRONG as error:
        yield f"{where}: there is no proof with its arguments: {error!r}"
        return
    differing = np.argwhere(wanted != computed)
    if len(differing):
        at = tuple(map(int, differing[0]))
        yield (
            f"{where}: {len(differing)} of {wanted.size} results differ; at {at} it gives "
            f"{computed[at]}, the reference {wanted[at]}"
        )


def _quants(sources: Sequence[Array], arguments: Arguments) -> list[Quant]:
    """The quantizations of both operands and the output."""
    (scales,) = sources
    zeros = [int(arguments[f"{name}_zero_point"]) for name in ("lhs", "rhs", "output")]
    return [Quant((float(s),), (z,)) for s, z in zip(scales, zeros, strict=True)]


def _sum_attrs(kind: Callable[..., Attrs], arguments: Arguments) -> Attrs:
    return kind(
        Activation(arguments["activation"]),
        float32_scales=bool(arguments["float32_scales"]),
        in_float32=bool(arguments.get("in_float32")),
    )


def _rescaled_attrs(quants: Sequence[Quant], arguments: Arguments) -> Attrs:
    (lhs, rhs, output), (a, b, c) = zip(
        *((q.scale[0], q.zero_point[0]) for q in quants), strict=True
    )
    return RescaledAttrs(lhs, a, rhs, b, output, c, Rounding(arguments["rounding"]))


def _attrs(quants: Sequence[Quant], arguments: Arguments) -> Attrs:
    sums: Mapping[str, Callable[..., Attrs]] = {"add": AddAttrs, "subtract": SubtractAttrs}
    if arguments["op"] == "multiply":
        activation = Activation(arguments["activation"])
        double_scales, in_float32 = arguments["double_scales"], arguments.get("in_float32")
        return MultiplyAttrs(activation, bool(double_scales), bool(in_float32))
    if arguments["op"] in sums:
        return _sum_attrs(sums[arguments["op"]], arguments)
    return _rescaled_attrs(quants, arguments)


def _reference(quants: Sequence[Quant], arguments: Arguments) -> Array:
    """The operator's results for all pairs: int64 [256, 256]."""
    shapes = ((256, 1), (1, 256), (256, 256))
    types = [ArrayType(s, DType.INT8, q) for s, q in zip(shapes, quants, strict=True)]
    values = tuple(_VALUES.astype(np.int8).reshape(kind.shape) for kind in types[:2])
    operands = Operands(values, tuple(types[:2]), (types[2],))
    op = registry()[arguments["op"]]
    return _results(op, _attrs(quants, arguments), operands)


def _results(op: OpDefinition, attrs: Attrs, operands: Operands) -> Array:
    """The results of the operator's reference as int64. Raises ValueError if it refuses them."""
    if wrong := op.check(attrs, operands.input_types, operands.output_types):
        raise ValueError(wrong)
    (results,) = op.reference(attrs, operands)
    return results.astype(np.int64)


def _stored(sums: Array, arguments: Arguments) -> Array:
    """Sums in int32, shifted and clamped."""
    shift, low, high = (int(arguments[name]) for name in ("shift", "low", "high"))
    if np.abs(sums).max() >= 2**31 or not 0 <= shift <= 30:
        raise ValueError("its sums may exceed int32")
    clamped: Array = np.clip(sums >> shift, low, high)
    return clamped


def _affine_sum(sources: Sequence[Array], arguments: Arguments) -> tuple[Array, Array]:
    quants = _quants(sources, arguments)
    lhs, rhs, constant = (int(arguments[name]) for name in ("factor_lhs", "factor_rhs", "constant"))
    # All partial sums are within these extremes.
    extremes = [a * lhs + b * rhs for a in (0, -128, 127) for b in (0, -128, 127)]
    if max(abs(each) + abs(constant) for each in extremes) >= 2**31:
        raise ValueError("its sums may exceed int32")
    sums = _VALUES[:, None] * lhs + _VALUES[None, :] * rhs + constant
    return _reference(quants, arguments), _stored(sums, arguments)


def _affine_product(sources: Sequence[Array], arguments: Arguments) -> tuple[Array, Array]:
    quants = _quants(sources, arguments)
    words = ("factor", "constant_high", "constant_low", "low", "high")
    factor, upper, lower, low, high = (int(arguments[name]) for name in words)
    # With these limits and factors of at most 9 bits all sums fit int64.
    if not (0 <= factor < 2**31 and abs(upper) < 2**25 and 0 <= lower < 2**32):
        raise ValueError("its sums may exceed their type")
    lhs, rhs = (_VALUES - quant.zero_point[0] for quant in quants[:2])
    sums = lhs[:, None] * rhs[None, :] * factor + (upper * 2**32 + lower)
    return _reference(quants, arguments), np.clip(sums >> 32, low, high)


def _mean_attrs(arguments: Arguments) -> Attrs:
    in_float32 = bool(arguments.get("in_float32"))
    if arguments["op"] == "mean":
        return MeanAttrs((1,), keep_dims=True, in_float32=in_float32)
    activation, count = Activation(arguments["activation"]), int(arguments["count"])
    ties_upward = bool(arguments["ties_upward"])
    window = (count, 1), (1, 1)
    return AvgPool2DAttrs(*window, "VALID", activation, ties_upward, in_float32)


def _means(sums: Array, quants: Sequence[Quant], arguments: Arguments) -> Array:
    """The operator's results for windows with these sums, from windows with almost equal values."""
    count = int(arguments["count"])
    # Hermite's identity: floor((s + k) / n), summed over k from 0 to n - 1, is s. All these values
    # are within int8 if their mean is.
    windows = (sums[:, None] + np.arange(count)) // count
    types = (
        ArrayType((len(sums), count, 1, 1), DType.INT8, quants[0]),
        ArrayType((len(sums), 1, 1, 1), DType.INT8, quants[1]),
    )
    if (windows.sum(axis=1) != sums).any():
        raise ValueError("windows have other sums")
    data = windows.astype(np.int8).reshape(types[0].shape)
    op, operands = registry()[arguments["op"]], Operands((data,), types[:1], types[1:])
    return _results(op, _mean_attrs(arguments), operands).reshape(-1)


def _affine_mean(sources: Sequence[Array], arguments: Arguments) -> tuple[Array, Array]:
    (scales,) = sources
    zeros = [int(arguments[f"{name}_zero_point"]) for name in ("input", "output")]
    quants = [Quant((float(s),), (z,)) for s, z in zip(scales, zeros, strict=True)]
    count, factor = int(arguments["count"]), int(arguments["factor"])
    if not 1 <= count <= _MOST_VALUES or abs(factor) * 128 * count >= 2**31:
        raise ValueError("its sums may exceed their type")
    sums = np.arange(-128 * count, 127 * count + 1, dtype=np.int64)
    parts = np.array_split(sums, count)  # windows take memory
    wanted = np.concatenate([_means(part, quants, arguments) for part in parts])
    return wanted, _stored(sums * factor + int(arguments["constant"]), arguments)


PROOFS: Mapping[str, Proof] = {  # by the transform's kind
    "affine_sum": _affine_sum,
    "affine_product": _affine_product,
    "affine_mean": _affine_mean,
}
