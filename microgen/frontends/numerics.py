"""Numerics profiles: which runtime's rounding a graph follows, op by op, as data.

There is no one TFLite rounding, so a claim of bit-exactness names its profile:

- ``litert``: ai-edge-litert 2.3.0 with reference kernels (BUILTIN_REF). CONV_2D,
  DEPTHWISE_CONV_2D and TRANSPOSE_CONV round twice, int8 FULLY_CONNECTED once.
- ``tflm``: TensorFlow Lite Micro and CMSIS-NN round twice in all of them.

``docs/numerics.md`` lists what each profile means for int16.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeVar

from microgen.arithmetic.terms import Rounding
from microgen.errors import MicrogenError

_T = TypeVar("_T")


class WideSums(enum.Enum):
    """What decides how a layer's sums of int16 data are scaled.

    Sums with an int32 bias have int32 accumulators and are rounded DOUBLE, others have int64 ones
    and are rounded REDUCED.
    """

    INT64 = "int64"  # always as with an int64 bias
    DECLARED = "declared"  # the type that the options declare for biases
    OWN = "own"  # the bias's own type; without a bias the declared one
    REAL = "real"  # nothing: they are rounded REAL, whatever the bias


@dataclass(frozen=True, slots=True)
class Numerics:
    """A profile: op name -> rounding, for every op whose attributes have a ``rounding``: of int8
    data in ``rounding``, of int16 data in ``wide``.

    ``sums_bytes``: SUM takes the bytes of quantized data for uint8, whatever they are.
    ``adds_by_shifts``: ADD and SUB of int16 with scales that are powers of two have arithmetic of
    their own. ``micro_scales``: ratios of scales are taken in double by MUL and in float32 by SUB,
    as TFLite Micro has it; in float32 by MUL and in double by SUB otherwise. ``lacks_int16``:
    TFLite operators of which the runtime has no int16 kernel, or one of other bytes than ours.
    """

    name: str
    rounding: Mapping[str, Rounding]
    wide: Mapping[str, WideSums]
    sums_bytes: bool
    adds_by_shifts: bool
    micro_scales: bool
    lacks_int16: frozenset[str]


def _by_op(**choices: _T) -> Mapping[str, _T]:
    return MappingProxyType({f"nn.{op}": choice for op, choice in choices.items()})


_LITERT = Numerics(
    "litert",
    rounding=_by_op(
        conv2d=Rounding.DOUBLE,
        conv2d_transpose=Rounding.DOUBLE,
        depthwise_conv2d=Rounding.DOUBLE,
        dense=Rounding.SINGLE,
    ),
    wide=_by_op(
        conv2d=WideSums.DECLARED,
        conv2d_transpose=WideSums.DECLARED,
        depthwise_conv2d=WideSums.INT64,
        dense=WideSums.REAL,
    ),
    sums_bytes=True,
    adds_by_shifts=True,
    micro_scales=False,
    lacks_int16=frozenset(),
)

_TFLM = Numerics(
    "tflm",
    rounding=_by_op(
        conv2d=Rounding.DOUBLE,
        conv2d_transpose=Rounding.DOUBLE,
        depthwise_conv2d=Rounding.DOUBLE,
        dense=Rounding.DOUBLE,
    ),
    # Source: TFLite Micro, micro/kernels: conv.cc, transpose_conv.cc, depthwise_conv.cc and
    # fully_connected.cc, the cases kTfLiteInt16.
    wide=_by_op(
        conv2d=WideSums.OWN,
        conv2d_transpose=WideSums.INT64,
        depthwise_conv2d=WideSums.INT64,
        dense=WideSums.OWN,
    ),
    sums_bytes=False,
    adds_by_shifts=False,
    micro_scales=True,
    # RSQRT has no table there, and SOFTMAX has tables that the target's expf makes in float32.
    lacks_int16=frozenset(("EXP", "LOG", "NEG", "RESIZE_BILINEAR", "RSQRT", "SOFTMAX", "SQRT")),
)

PROFILES: Mapping[str, Numerics] = MappingProxyType({p.name: p for p in (_LITERT, _TFLM)})


def profile(name: str) -> Numerics:
    """The profile called ``name``; MicrogenError if there is none."""
    if name not in PROFILES:
        raise MicrogenError(
            f"there is no numerics profile {name!r}",
            hint=f"choose one of {', '.join(sorted(PROFILES))}",
        )
    return PROFILES[name]
