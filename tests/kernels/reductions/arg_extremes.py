"""Cases of argmax and argmin, for both oracles."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import tflite

from microgen.graph.ir.graph import DType
from microgen.graph.ops.reductions.extremes import ArgExtremeAttrs
from tests.kernels.conformance import conformance as c
from tests.kernels.conformance import dtypes
from tests.kernels.conformance import litert_oracle as o

MakeAttrs = Callable[[int], ArgExtremeAttrs]


DTYPES = (DType.INT8, DType.INT32, DType.FLOAT32)


def litert_case(seed: int, op: str, code: str, make: MakeAttrs, dtype: DType) -> o.Case:
    """A case of any axis, counted from either end.

    There are often several equal extremes, and every third output is int64.
    """
    rng = np.random.default_rng(seed)
    shape = tuple(int(n) for n in rng.integers(1, 9, int(rng.integers(1, 6))))
    axis = int(rng.integers(len(shape)))
    data, array = dtypes.litert_data(rng, dtype, shape)
    output = DType.INT32 if seed % 3 else DType.INT64
    stated = axis - len(shape) if rng.random() < 0.5 else axis
    return o.Case(
        op,
        make(axis),
        [data],
        [array],
        None,
        code,
        "ArgMaxOptions" if code == "ARG_MAX" else "ArgMinOptions",
        {"outputType": getattr(tflite.TensorType, output.name)},
        extra=[o.int32_constant("axis", np.array(stated, np.int32))],
        version=2,
        output_dtype=output,
    )


def check_kernels(op: str, make: MakeAttrs, dtype: DType, folder: Path) -> None:
    """Compares every kernel of ``op`` with the reference, out of line and inlined."""
    cases = [_kernel_case(seed, op, make, dtype) for seed in range(150)]
    c.check(cases, folder)
    c.check_inlined(cases[:10], folder)


def _kernel_case(seed: int, op: str, make: MakeAttrs, dtype: DType) -> c.Case:
    rng = np.random.default_rng(seed)
    shape = tuple(int(n) for n in rng.integers(1, 7, int(rng.integers(1, 6))))
    data = dtypes.kernel_data(rng, dtype, shape)
    if seed % 3 == 0 and dtype is DType.FLOAT32:
        data = dtypes.special_floats(rng, shape)
    elif seed % 3 == 0:
        data = c.Tensor(data.type, rng.choice(np.array([-128, 0, 127], data.array.dtype), shape))
    attrs = make(int(rng.integers(len(shape))))
    return c.Case(f"{op} {seed}", op, attrs, (data,), None, (DType.INT32, DType.INT64)[seed % 2])
