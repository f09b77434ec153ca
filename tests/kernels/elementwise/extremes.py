"""Code that the tests of maximum and minimum share."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from microgen.graph.arithmetic.terms import Activation
from microgen.graph.ir.graph import ArrayType, Attrs, DType
from tests.kernels.conformance import conformance as c
from tests.kernels.conformance.litert_oracle import Case, assert_equal, by_litert, by_reference
from tests.kernels.elementwise import broadcasting

OPTIONS = "MaximumMinimumOptions"


def check_kernels(op: str, attrs: Attrs, folder: Path) -> None:
    """Compares every kernel with the reference, out of line."""

    def make(_activation: Activation) -> Attrs:
        return attrs

    broadcasts = broadcasting.broadcast_cases(op, make)
    broadcasts += broadcasting.high_rank_cases(op, make)
    c.check([*broadcasts, *broadcasting.random_kernel_cases(op, make, 100, 50)], folder)


def check_inlined(op: str, attrs: Attrs, folder: Path) -> None:
    """Compares every kernel with the reference, inlined."""
    c.check_inlined(broadcasting.random_kernel_cases(op, lambda _: attrs, 10, 3), folder)


def litert_case(seed: int, op: str, attrs: Attrs, dtype: DType = DType.INT8) -> Case:
    """A case of any shapes that broadcast. Each int8 tensor has its own quantization."""
    return broadcasting.litert_case(
        seed,
        op,
        op.upper(),
        OPTIONS,
        lambda _: attrs,
        lambda lhs, _rhs: lhs.scale,
        has_activation=False,
        dtype=dtype,
    )


def check_every_pair(
    op: str, attrs: Attrs, scales: tuple[float, ...], zero_points: tuple[int, ...]
) -> None:
    """Compares every pair of int8 values with LiteRT."""
    assert_equal(
        broadcasting.all_pairs(op, op.upper(), OPTIONS, attrs, scales, zero_points),
    )


def check_special_floats(op: str, attrs: Attrs) -> None:
    """Compares NaN, infinity and zeros of either sign with LiteRT, bit for bit."""
    values = np.array([np.nan, np.inf, 0.0, -0.0, 1.0], np.float32)
    kinds = [ArrayType((5, 1), DType.FLOAT32), ArrayType((5,), DType.FLOAT32)]
    arrays = [values[:, None], values]
    case = Case(op, attrs, kinds, arrays, None, op.upper(), OPTIONS, output_dtype=DType.FLOAT32)
    assert by_reference(case).tobytes() == by_litert(case).tobytes()
