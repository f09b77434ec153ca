from __future__ import annotations

from pathlib import Path

import numpy as np

from microgen.graph.ir.graph import ArrayType, DType
from microgen.graph.ops.recurrent.svdf import OP, SvdfAttrs
from tests.kernels.conformance import conformance as c
from tests.kernels.recurrent import svdf_cases


def random_case(seed: int, dtype: DType, *, is_narrow: bool = False) -> c.Case:
    """A random layer with a random state."""
    layer = svdf_cases.random_layer(seed, dtype)
    layer = svdf_cases.narrowed(layer, seed) if is_narrow else layer
    most = 2**7 if is_narrow else 2**15
    rng = np.random.default_rng(seed + 1)
    is_float = dtype is DType.FLOAT32
    shape = (layer.batch, layer.memory * layer.filters)
    state = rng.normal(0, 1, shape) if is_float else rng.integers(-most, most, shape)
    arrays = {
        "x": (svdf_cases.samples(layer, seed, 1)[0], False),
        "feature": (layer.feature, True),
        "time": (layer.time, True),
        "state": (state.astype(np.float32 if is_float else layer.time.dtype), False),
    }
    if layer.bias is not None:
        arrays["bias"] = (layer.bias, True)
    inputs = []
    for name, (array, is_constant) in arrays.items():
        quant = (
            c.quant(layer.scale[name], layer.zero_point.get(name, 0))
            if name in layer.scale
            else None
        )
        kind = ArrayType(array.shape, DType(array.dtype.name), quant)
        inputs.append(c.Tensor(kind, array, is_constant))
    return c.Case(
        f"seed {seed}",
        OP.name,
        SvdfAttrs(layer.rank, layer.activation),
        tuple(inputs),
        None if is_float else c.quant(layer.scale["y"], layer.zero_point["y"]),
        dtype,
    )


def _cases(count: int) -> list[c.Case]:
    wide = [
        random_case(seed, dtype) for dtype in (DType.INT8, DType.FLOAT32) for seed in range(count)
    ]
    return [*wide, *(random_case(seed, DType.INT8, is_narrow=True) for seed in range(count))]


def test_kernels_equal_the_reference(tmp_path: Path) -> None:
    c.check(_cases(150), tmp_path)


def test_inlined_bodies_equal_the_reference(tmp_path: Path) -> None:
    c.check_inlined(_cases(10), tmp_path)
