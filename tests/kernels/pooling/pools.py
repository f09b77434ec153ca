"""Cases of nn.avg_pool2d and nn.max_pool2d, for both oracles."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from microgen.graph.arithmetic.terms import Activation
from microgen.graph.ir.graph import ArrayType, Attrs, DType
from microgen.graph.ops.base import OpDefinition, Padding, Pair
from tests.kernels.conformance import conformance as c
from tests.kernels.conformance import dtypes
from tests.kernels.conformance import litert_oracle as o

MakeAttrs = Callable[[Pair, Pair, Padding, Activation], Attrs]


def _pair(rng: np.random.Generator, low: int, high: int) -> Pair:
    return int(rng.integers(low, high)), int(rng.integers(low, high))


def litert_case(seed: int, op: str, code: str, make: MakeAttrs, dtype: DType) -> o.Case:
    """A case with any window, strides, padding and activation."""
    rng = np.random.default_rng(seed)
    pool, strides = _pair(rng, 1, 7), _pair(rng, 1, 5)
    padding: Padding = ("SAME", "VALID")[int(rng.integers(2))]
    height, width = _pair(rng, 1, 12)
    if padding == "VALID":
        height, width = height + pool[0] - 1, width + pool[1] - 1
    batches, channels = int(rng.integers(1, 3)), int(rng.integers(1, 20))
    data, array = dtypes.litert_data(rng, dtype, (batches, height, width, channels))
    activation = o.random_activation_function(rng)
    options = {
        "padding": o.PADDING[padding],
        "strideH": strides[0],
        "strideW": strides[1],
        "filterHeight": pool[0],
        "filterWidth": pool[1],
        "fusedActivationFunction": o.FUSED[activation],
    }
    attrs = make(pool, strides, padding, activation)
    return o.Case(
        *(op, attrs, [data], [array], data.quant, code, "Pool2DOptions", options),
        version=3,
        output_dtype=dtype,
    )


def check_kernels(op: str, make: MakeAttrs, dtype: DType, folder: Path) -> None:
    """Compares every kernel of ``op`` with the reference, out of line and inlined."""
    none = Activation.NONE
    corners = (
        ("1x1 image", (1, 1, 1, 3), make((3, 3), (1, 1), "SAME", none)),
        ("1x1 pool", (1, 5, 6, 4), make((1, 1), (1, 1), "SAME", none)),
        ("global", (1, 7, 5, 9), make((7, 5), (1, 1), "VALID", none)),
        ("global, large", (1, 19, 17, 2), make((19, 17), (1, 1), "VALID", none)),
        ("most values of a clipped window", (1, 12, 13, 9), make((8, 16), (3, 2), "SAME", none)),
        ("stride over pool", (1, 9, 8, 4), make((2, 2), (4, 5), "VALID", none)),
        ("pads as large as they may be", (1, 5, 6, 4), make((3, 3), (1, 1), (2, 2, 2, 2), none)),
        ("relu", (1, 5, 6, 4), make((2, 3), (1, 1), "SAME", Activation.RELU)),
    )
    cases = [_kernel_case(i, op, dtype, *corner) for i, corner in enumerate(corners)]
    cases += [random_case(seed, op, make, dtype) for seed in range(150)]
    c.check(cases, folder)
    c.check_inlined(cases[: len(corners) + 6], folder)


def check_refusals(op: OpDefinition, make: MakeAttrs) -> None:
    """Checks refusals: windows that fit nowhere, pads as large as these, another quantization."""
    data = ArrayType((1, 2, 2, 1), DType.INT8)
    none = Activation.NONE
    with pytest.raises(ValueError, match="covers 3x3, but the padded input is only 2x2"):
        op.infer(make((3, 3), (1, 1), "VALID", none), [data])
    with pytest.raises(ValueError, match="smaller than the"):
        op.infer(make((3, 1), (1, 1), (3, 0, 0, 0), none), [data])
    attrs = make((1, 1), (1, 1), "VALID", none)
    one, two = (o.activation_type((1, 1, 1, 1), scale, 0) for scale in (1.0, 2.0))
    assert op.check(attrs, [one], [one]) is None
    assert "they must be equal" in str(op.check(attrs, [one], [two]))


def four_windows(op: str, make: MakeAttrs) -> list[list[int]]:
    """The results for [[-9, -4], [-5, -6]], padded above and to the left. The windows have 1, 2, 2
    and 4 values."""
    data = o.activation_type((1, 2, 2, 1), 1, 5)
    attrs = make((2, 2), (1, 1), (1, 1, 0, 0), Activation.NONE)
    array = np.array([-9, -4, -5, -6], np.int8).reshape(data.shape)
    found = o.by_reference(o.Case(op, attrs, [data], [array], data.quant, "", ""))
    return [[int(n) for n in row] for row in found[0, :, :, 0]]


def random_case(seed: int, op: str, make: MakeAttrs, dtype: DType) -> c.Case:
    """Any window, strides, padding and activation, of up to five channels."""
    rng = np.random.default_rng(1000 + seed)
    pool = _pair(rng, 1, 5)
    height, width = pool[0] + int(rng.integers(0, 6)), pool[1] + int(rng.integers(0, 6))
    top, left, bottom, right = (int(rng.integers(0, n)) for n in (*pool, *pool))
    paddings: list[Padding] = [(top, left, bottom, right), "SAME", "VALID"]
    activation = list(Activation)[int(rng.integers(4))]
    attrs = make(pool, _pair(rng, 1, 6), paddings[seed % 3], activation)
    shape = (int(rng.integers(1, 3)), height, width, int(rng.integers(1, 6)))
    return _kernel_case(seed, op, dtype, f"random {seed}", shape, attrs)


def _kernel_case(
    seed: int, op: str, dtype: DType, name: str, shape: tuple[int, ...], attrs: Attrs
) -> c.Case:
    rng = np.random.default_rng(seed)
    data = dtypes.kernel_data(rng, dtype, shape)
    if dtype is DType.FLOAT32 and seed % 8 == 0:
        data = dtypes.special_floats(rng, shape)
    return c.Case(name, op, attrs, (data,), data.type.quant, dtype)
