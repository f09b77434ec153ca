"""Scales and zero points in the arguments of qnn operators."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from microgen.frontends.quantization import STORED, reinterpreted
from microgen.frontends.relay.calls import RelayCall
from microgen.frontends.relay.types import PLAIN
from microgen.frontends.sums import PendingSums
from microgen.graph.arithmetic.terms import Rounding
from microgen.graph.ir.graph import Array, Attrs, DType, Quant

# TVM v0.14, src/relay/qnn/op/requantize_config.h: UPWARD is the default.
_ROUNDINGS = {
    "None": Rounding.UPWARD,
    "UPWARD": Rounding.UPWARD,
    "TONEAREST": Rounding.NEAREST,
}
DEFAULT = _ROUNDINGS["None"]


def values(call: RelayCall, position: int) -> Array:
    """The scales or zero points in an argument, as a vector."""
    return call.constant_of(position, f"a scale or zero point (argument {position})").reshape(-1)


def quant(call: RelayCall, position: int) -> Quant:
    """The scale at a position and the zero point after it, one for the whole tensor."""
    return of_values(call, values(call, position), values(call, position + 1))


def of_values(call: RelayCall, scales: Array, zero_points: Array) -> Quant:
    """The quantization with one scale and one zero point. UnsupportedError if there are several."""
    if scales.size != 1 or zero_points.size != 1:
        raise call.unsupported(
            f"has {scales.size} scales and {zero_points.size} zero points",
            supported="one of each; several scales of weights and of qnn.requantize's input",
        )
    return Quant((float(scales[0]),), (int(zero_points[0]),))


def rounding(call: RelayCall) -> Rounding:
    """The rounding of a qnn.requantize. UnsupportedError for arithmetic in floats."""
    # TVM uses floats by default only on x86.
    if call.attrs["compute_dtype"] not in ("None", "int64"):
        raise call.unsupported(
            f"has the compute_dtype {call.attrs['compute_dtype']!r}", supported="'int64'"
        )
    return _ROUNDINGS[call.attrs["rounding"]]


def integer_sums(call: RelayCall, sums: PendingSums, dtype: DType) -> PendingSums:
    """Sums of stored integers, which are plain numbers without a scale."""
    weight = reinterpreted(call, sums.weight, PLAIN)
    attrs: Attrs = dataclasses.replace(sums.attrs, rounding=DEFAULT)  # type: ignore[call-arg]
    return dataclasses.replace(sums, attrs=attrs, weight=weight, dtype=dtype, quant=None)


def output(call: RelayCall, accepted: Sequence[DType] = STORED) -> DType:
    """The result's dtype. UnsupportedError if it is not one of ``accepted``."""
    dtype = call.output().dtype
    if dtype not in accepted:
        names = ", ".join(d.value for d in accepted)
        raise call.unsupported(f"has the out_dtype {dtype.value}", supported=names)
    return dtype


def of_dtype(dtype: DType, of: Quant) -> Quant | None:
    """The quantization of a result of that dtype; None for int32, which has plain numbers."""
    return None if dtype is DType.INT32 else of
