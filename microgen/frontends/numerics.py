"""Numerics profiles: which runtime's rounding a graph follows, op by op, as data.

TFLite's runtimes round differently, so a claim of bit-exactness names its profile:

- ``litert``: ai-edge-litert 2.3.0 with reference kernels (BUILTIN_REF). CONV_2D,
  DEPTHWISE_CONV_2D and TRANSPOSE_CONV round twice, int8 FULLY_CONNECTED once.
- ``tflm``: TensorFlow Lite Micro and CMSIS-NN round twice in all of them.
- ``onnx``: the formulas of ONNX's operators, which scale in float32 and round halves to even.

``docs/reference/numerics.md`` lists what each profile means for int16.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TypeVar

from microgen.base.errors import MicrogenError
from microgen.graph.arithmetic.terms import Rounding

_T = TypeVar("_T")


class WideSums(enum.Enum):
    """The rounding of a layer's sums of int16 data, and the property that decides it.

    An int32 bias means int32 accumulators, which are rounded DOUBLE. Any other bias means int64
    accumulators, which are rounded REDUCED.
    """

    INT64 = "int64"  # as if the bias were int64
    DECLARED = "declared"  # by the type that the options declare for biases
    OWN = "own"  # by the bias's own type, or by the declared type if there is no bias
    REAL = "real"  # rounded REAL for every type of the bias


@dataclass(frozen=True, slots=True)
class Numerics:
    """A profile: the rounding of each op whose attributes have a ``rounding``."""

    name: str
    rounding: Mapping[str, Rounding]  # of int8 data, by the op's name
    wide: Mapping[str, WideSums] = field(default_factory=dict)  # of int16 data
    # SUM reads the bytes of quantized data of any dtype as uint8
    sums_bytes: bool = False
    # ADD and SUB have an arithmetic of their own for int16 with scales that are powers of two.
    adds_by_shifts: bool = False
    # MUL computes ratios of scales in double and SUB in float32, as in TFLite Micro; otherwise MUL
    # uses float32 and SUB double.
    micro_scales: bool = False
    # TFLite operators for which the runtime has no int16 kernel, or one whose output bytes differ
    # from ours.
    lacks_int16: frozenset[str] = frozenset()
    gates_by_tables: bool = False  # the functions of the gates of int8 and int16 LSTMs are tables
    # The runtime has operators that compute in uint8; otherwise it only converts it.
    computes_uint8: bool = True


_LAYERS = ("nn.conv2d", "nn.conv2d_transpose", "nn.depthwise_conv2d", "nn.dense")
_DOUBLE = Rounding.DOUBLE


def _by_layer(*choices: _T) -> Mapping[str, _T]:
    """One rounding for each kind of layer that sums products."""
    return MappingProxyType(dict(zip(_LAYERS, choices, strict=True)))


_LITERT = Numerics(
    "litert",
    rounding=_by_layer(_DOUBLE, _DOUBLE, _DOUBLE, Rounding.SINGLE),
    wide=_by_layer(WideSums.DECLARED, WideSums.DECLARED, WideSums.INT64, WideSums.REAL),
    sums_bytes=True,
    adds_by_shifts=True,
)

_TFLM = Numerics(
    "tflm",
    rounding=_by_layer(*(_DOUBLE for _ in _LAYERS)),
    # Source: TFLite Micro, micro/kernels: conv.cc, transpose_conv.cc, depthwise_conv.cc and
    # fully_connected.cc, the cases kTfLiteInt16.
    wide=_by_layer(WideSums.OWN, WideSums.INT64, WideSums.INT64, WideSums.OWN),
    micro_scales=True,
    # TFLite Micro's RSQRT has no table; its SOFTMAX has tables made with the target's float expf.
    # Its GREATER scales int16 by multipliers that Prepare only sets for int8 (comparisons.cc).
    lacks_int16=frozenset(
        ("EXP", "GREATER", "LOG", "NEG", "RESIZE_BILINEAR", "RSQRT", "SOFTMAX", "SQRT")
    ),
    gates_by_tables=True,
    computes_uint8=False,
)

# The other fields only concern operators of TFLite.
_ONNX = Numerics("onnx", rounding=_by_layer(*(Rounding.FLOAT for _ in _LAYERS)))

PROFILES: Mapping[str, Numerics] = MappingProxyType({p.name: p for p in (_LITERT, _TFLM, _ONNX)})


def profile(name: str) -> Numerics:
    """The profile called ``name``; MicrogenError if there is none."""
    if name not in PROFILES:
        raise MicrogenError(
            f"there is no numerics profile {name!r}",
            hint=f"choose one of {', '.join(sorted(PROFILES))}",
        )
    return PROFILES[name]
