import dataclasses
from pathlib import Path

import numpy as np
import pytest

from microgen.graph.ir.graph import DType
from microgen.graph.ops.detection.resize2d import Resize2DAttrs
from tests.kernels.conformance import conformance as c
from tests.kernels.conformance import dtypes


def _case(
    seed: int, name: str, shape: tuple[int, ...], attrs: Resize2DAttrs, dtype: DType
) -> c.Case:
    data = dtypes.kernel_data(np.random.default_rng(seed), dtype, shape)
    return c.Case(name, "image.resize2d", attrs, (data,), data.type.quant, dtype)


def _random(seed: int, dtype: DType, *, in_floats: bool = False) -> c.Case:
    rng = np.random.default_rng(1000 + seed)
    shape = tuple(int(n) for n in (rng.integers(1, 3), *rng.integers(1, 9, 2), rng.integers(1, 4)))
    height, width = (int(n) for n in rng.integers(1, 18, 2))
    aligned, centred = ((False, False), (True, False), (False, True))[seed % 3]
    attrs = Resize2DAttrs((height, width), aligned, centred, in_floats)
    return _case(seed, f"random {seed}", shape, attrs, dtype)


CORNERS = (
    (1, "one pixel", (1, 1, 1, 1), Resize2DAttrs((1, 1), False, False)),
    (2, "one pixel grows", (1, 1, 1, 2), Resize2DAttrs((3, 4), False, True)),
    (3, "to one pixel", (1, 5, 4, 2), Resize2DAttrs((1, 1), True, False)),
    (4, "one pixel of many", (1, 40, 40, 1), Resize2DAttrs((1, 1), False, True)),
)


@pytest.mark.parametrize("dtype", dtypes.FAMILIES, ids=lambda dtype: dtype.value)
def test_kernels_equal_the_reference(dtype: DType, tmp_path: Path) -> None:
    cases = [_case(*corner, dtype) for corner in CORNERS]
    cases += [_random(seed, dtype) for seed in range(100)]
    c.check(cases, tmp_path)
    c.check_inlined(cases[:10], tmp_path)


def test_stored_values_in_floats(tmp_path: Path) -> None:
    cases = [
        _case(seed, name, shape, dataclasses.replace(attrs, in_floats=True), DType.INT8)
        for seed, name, shape, attrs in CORNERS
    ]
    cases += [_random(seed, DType.INT8, in_floats=True) for seed in range(200)]
    c.check(cases, tmp_path)
    c.check_inlined(cases[:10], tmp_path)
