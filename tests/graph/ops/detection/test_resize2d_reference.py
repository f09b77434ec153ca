from __future__ import annotations

import numpy as np
import pytest

from microgen.graph.ir.graph import ArrayType, DType
from microgen.graph.ops.detection.resize2d import OP, Resize2DAttrs
from tests.kernels.conformance import dtypes
from tests.kernels.conformance.litert_oracle import (
    Case,
    activation_type,
    assert_equal,
    int32_constant,
    needs_litert,
)


def random_case(seed: int, dtype: DType) -> Case:
    rng = np.random.default_rng(seed)
    n, channels = (int(k) for k in rng.integers(1, 4, 2))
    height, width, out_height, out_width = (int(k) for k in rng.integers(1, 20, 4))
    aligned, centred = ((False, False), (True, False), (False, True))[seed % 3]
    data, array = dtypes.litert_data(rng, dtype, (n, height, width, channels))
    return Case(
        OP.name,
        Resize2DAttrs((out_height, out_width), aligned, centred),
        [data],
        [array],
        data.quant,
        "RESIZE_BILINEAR",
        "ResizeBilinearOptions",
        {"alignCorners": aligned, "halfPixelCenters": centred},
        extra=[int32_constant("size", np.array([out_height, out_width]))],
        version=4,
        output_dtype=dtype,
    )


@needs_litert
@pytest.mark.parametrize("dtype", dtypes.FAMILIES, ids=lambda dtype: dtype.value)
def test_equals_litert(dtype: DType) -> None:
    for seed in range(150):
        assert_equal(random_case(seed, dtype))


@pytest.mark.parametrize(
    ("attrs", "sentence"),
    [
        (Resize2DAttrs((0, 3), False, False), "must be positive"),
        (Resize2DAttrs((4, 676), False, False), "7 pixels cannot become 676"),
    ],
)
def test_impossible_sizes(attrs: Resize2DAttrs, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        OP.infer(attrs, [activation_type((1, 4, 7, 1), 1.0, 0)])


def test_the_two_options_exclude_each_other() -> None:
    data = activation_type((1, 2, 2, 1), 1.0, 0)
    sentence = OP.check(Resize2DAttrs((2, 2), True, True), [data], [data])
    assert "exclude each other" in str(sentence)


def test_float_positions_must_be_exact_enough() -> None:
    with pytest.raises(ValueError, match="float32 positions need 1048576 pixels or less"):
        OP.infer(Resize2DAttrs((2, 2**21), False, False), [ArrayType((1, 2, 2, 1), DType.FLOAT32)])


def test_only_int8_is_interpolated_in_floats() -> None:
    attrs = Resize2DAttrs((1, 1), align_corners=False, half_pixel_centers=False, in_floats=True)
    data = ArrayType((1, 1, 1, 1), DType.FLOAT32)
    assert "stored values become floats for int8 only" in str(OP.check(attrs, [data], [data]))
