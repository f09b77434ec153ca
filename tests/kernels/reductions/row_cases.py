"""Float cases of ops that work on rows: of all lengths and magnitudes, and special values."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from microgen.graph.ir.graph import Array, Attrs, DType
from tests.kernels.conformance import conformance as c
from tests.kernels.conformance.litert_oracle import Case, float_type
from tests.kernels.unary.unary_kernels import float_case
from tests.support.tflite_builder import OptionValue

ROWS = (
    *([[np.inf, 1.0, 2.0]], [[-np.inf, 1.0, 2.0]], [[-np.inf, -np.inf]], [[np.nan, 1.0, 2.0]]),
    *([[3.4e38, -3.4e38]], [[3.4e38]], [[0.0, 0.0, -0.0]], [[1e-45, 1e-40, 0.0]], [[7.0]]),
    *([[1e19, 2e19, 3e19]], [[1e-7, 1e-7]], [[88.0, -88.0, 0.0, 104.0]]),
)


def random_rows(rng: np.random.Generator, longest: int = 300) -> Array:
    """Rows whose values have one standard deviation, or some of which are ten times as large."""
    leading = tuple(int(n) for n in rng.integers(1, 4, int(rng.integers(0, 4))))
    shape = (*leading, int(rng.integers(1, longest)))
    values = rng.normal(0, 10.0 ** rng.uniform(-2, 1.5), shape)
    return np.where(rng.random(shape) < 0.1 * rng.random(), values * 10, values).astype(np.float32)


def float_rows(
    op: str,
    attrs: Attrs,
    code: str,
    array: Array,
    options_type: str,
    options: Mapping[str, OptionValue] | None = None,
) -> Case:
    """A case of these rows for the operator."""
    return Case(
        op,
        attrs,
        [float_type(array.shape)],
        [array],
        None,
        code,
        options_type,
        options or {},
        output_dtype=DType.FLOAT32,
    )


def float_cases(op: str, attrs: Attrs) -> list[c.Case]:
    """Special rows, random ones, and long ones. In long ones all values but one are nearly equal
    and below the largest."""
    arrays = [np.array(rows, np.float32) for rows in ROWS]
    arrays += [random_rows(np.random.default_rng(seed)) for seed in range(100)]
    for seed, length in enumerate((100, 1000, 4096, 30000)):
        for below in (0.1, 1.7, np.log(length)):
            rows = np.random.default_rng(seed).normal(0, 1e-6, (2, length)) - below
            rows[:, seed] = 0.3
            arrays.append(rows)
    return [float_case(f"float {i}", op, attrs, array) for i, array in enumerate(arrays)]
