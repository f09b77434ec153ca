"""Cases of argmax and argmin, for both oracles."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import tflite

from microgen.ir.graph import DType
from microgen.ops.arg_extreme import ArgExtremeAttrs
from tests.ops import conformance as c
from tests.ops import litert_oracle as o

MakeAttrs = Callable[[int], ArgExtremeAttrs]


def litert_case(seed: int, op: str, code: str, make: MakeAttrs) -> o.Case:
    """Any axis, from either end; often several equal extremes."""
    rng = np.random.default_rng(seed)
    shape = tuple(int(n) for n in rng.integers(1, 9, int(rng.integers(1, 6))))
    axis = int(rng.integers(len(shape)))
    stated = axis - len(shape) if rng.random() < 0.5 else axis
    return o.Case(
        op,
        make(axis),
        [o.random_activation(rng, shape)],
        [o.random_values(rng, shape)],
        None,
        code,
        "ArgMaxOptions" if code == "ARG_MAX" else "ArgMinOptions",
        {"outputType": tflite.TensorType.INT32},
        extra=[o.int32_constant("axis", np.array(stated, np.int32))],
        version=2,
        output_dtype=DType.INT32,
    )


def check_kernels(op: str, make: MakeAttrs, folder: Path) -> None:
    """Every kernel of ``op`` against the reference, out of line and inlined."""
    cases = [_kernel_case(seed, op, make) for seed in range(150)]
    c.check(cases, folder)
    c.check_inlined(cases[:10], folder)


def _kernel_case(seed: int, op: str, make: MakeAttrs) -> c.Case:
    rng = np.random.default_rng(seed)
    shape = tuple(int(n) for n in rng.integers(1, 7, int(rng.integers(1, 6))))
    data = c.int8(rng, shape, c.random_quant(rng))
    if seed % 3 == 0:
        data = c.Tensor(data.type, rng.choice(np.array([-128, 0, 127], np.int8), shape))
    attrs = make(int(rng.integers(len(shape))))
    return c.Case(f"{op} {seed}", op, attrs, (data,), None, DType.INT32)
