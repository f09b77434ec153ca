"""The tables of ``crt/include/microgen/arithmetic/gate_functions_16.h``.

They do not depend on a layer: their source is an array of gemmlowp's factors, which all layers
share.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from microgen.graph.ir.graph import Array
from microgen.graph.ops import fixed_point_16
from microgen.kernels.constant import KernelConstant
from microgen.kernels.requantization import transforms

_TENSOR = "gates#factors"
_FACTORS = np.array(list(fixed_point_16.EXP_FACTORS.values())[:5], np.int16)
_RESTS = 1024  # in [-1/4, 0) of Q3.12
_MULTIPLES = 32  # of 1/4 that the factors of a row are for
_HALF = 2**15
# The logistic function and tanh of this exponential are those of 0. An exponential that is exactly
# 1 has others.
_OF_ZERO = 32761


def constants() -> tuple[KernelConstant, ...]:
    """The kernel's arguments ``exponential`` and ``factor``."""
    return (
        KernelConstant(
            "exponential", "int16_t", _TENSOR, transform="gate_exponentials", array=_FACTORS
        ),
        KernelConstant("factor", "int32_t", _TENSOR, transform="gate_factors", array=_FACTORS),
    )


# gate_exponentials: gemmlowp's factors, which do not decide it. int16 [1024]: exp of the rests.
def _exponentials(sources: Sequence[Array], _arguments: transforms.Arguments) -> Array:
    _check(sources)
    rests = -np.arange(1, _RESTS + 1, dtype=np.int64)
    return np.asarray(fixed_point_16.exp_of_negative(rests, 3).astype(np.int16))


# gate_factors: the factors, int16 [5]. int32 [33, 5]: what is multiplied for the bits of a multiple
# of 1/4, from -1 on; 0 for a bit that is not set.
def _factors(sources: Sequence[Array], arguments: transforms.Arguments) -> Array:
    (factors,) = sources
    last = int(_exponentials(sources, arguments)[-1])
    # To the exponential, its product with this number is added.
    added = (_OF_ZERO - last) * 2**32 // last + 1
    multiples = np.arange(_MULTIPLES)[:, None] >> np.arange(len(factors)) & 1
    # A factor less 1 has 17 bits of the product's shift. From exp(-1) on that leaves int32, and the
    # kernel multiplies twice the exponential.
    shifts = np.array([17, 17, 16, 16, 16])
    rows = multiples * ((factors.astype(np.int64) - _HALF) << shifts)
    zero = [[added, 0, 0, 0, 0]]
    return np.concatenate([zero, rows]).astype(np.int32)


def _check(sources: Sequence[Array]) -> None:
    (factors,) = sources
    if not np.array_equal(factors, _FACTORS):
        raise ValueError(f"the factors are {factors.tolist()}, {_FACTORS.tolist()} are expected")


TRANSFORMS: Mapping[str, transforms.Function] = {
    "gate_exponentials": _exponentials,
    "gate_factors": _factors,
}
