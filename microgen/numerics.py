"""Numerics profiles: which runtime's rounding a graph follows, op by op, as data.

There is no one TFLite rounding, so a claim of bit-exactness names its profile:

- ``litert``: ai-edge-litert 2.3.0 with reference kernels (BUILTIN_REF). CONV_2D,
  DEPTHWISE_CONV_2D and TRANSPOSE_CONV round twice, int8 FULLY_CONNECTED once.
- ``tflm``: TensorFlow Lite Micro and CMSIS-NN round twice in all of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from microgen.errors import MicrogenError
from microgen.ops.base import Rounding


@dataclass(frozen=True, slots=True)
class Numerics:
    """A profile: op name -> rounding, for every op whose attributes have a ``rounding``.

    ``sums_bytes``: SUM takes the bytes of quantized data for uint8, whatever they are.
    """

    name: str
    rounding: Mapping[str, Rounding]
    sums_bytes: bool


def _profile(name: str, *, sums_bytes: bool, **rounding: Rounding) -> Numerics:
    by_op = {f"nn.{op}": choice for op, choice in rounding.items()}
    return Numerics(name, MappingProxyType(by_op), sums_bytes)


PROFILES: Mapping[str, Numerics] = MappingProxyType(
    {
        profile.name: profile
        for profile in (
            _profile(
                "litert",
                sums_bytes=True,
                conv2d=Rounding.DOUBLE,
                conv2d_transpose=Rounding.DOUBLE,
                depthwise_conv2d=Rounding.DOUBLE,
                dense=Rounding.SINGLE,
            ),
            _profile(
                "tflm",
                sums_bytes=False,
                conv2d=Rounding.DOUBLE,
                conv2d_transpose=Rounding.DOUBLE,
                depthwise_conv2d=Rounding.DOUBLE,
                dense=Rounding.DOUBLE,
            ),
        )
    }
)


def profile(name: str) -> Numerics:
    """The profile called ``name``; MicrogenError if there is none."""
    if name not in PROFILES:
        raise MicrogenError(
            f"there is no numerics profile {name!r}",
            hint=f"choose one of {', '.join(sorted(PROFILES))}",
        )
    return PROFILES[name]
