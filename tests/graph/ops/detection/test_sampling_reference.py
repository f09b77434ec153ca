from __future__ import annotations

import numpy as np
import pytest

from microgen.graph.ir.graph import ArrayType, DType
from microgen.graph.ops.detection.sampling import (
    GRID_SAMPLE,
    MODES,
    PADDINGS,
    RESAMPLE,
    GridSampleAttrs,
    ResampleAttrs,
)
from tests.kernels.conformance.onnx_oracle import by_onnx
from tests.kernels.moves.movement_cases import grid_sample, random_resample

# grid_sample against onnx's reference implementation.


@pytest.mark.parametrize("seed", [seed for seed in range(40) if seed % 4])
def test_equals_onnx(seed: int) -> None:
    """Of axes of one element onnx divides by 0. It moves coordinates to the border first, which
    onnxruntime does not do for cubic samples."""
    axes, mode, padding = seed % 3 + 1, MODES[seed // 3 % 3], PADDINGS[seed // 9 % 3]
    sizes = (1, *np.random.default_rng(seed).integers(2, 6, axes).tolist(), 2)
    if (mode, padding) == ("cubic", "border"):
        padding = "zeros"
    case = grid_sample(seed, sizes, (3,) * axes, mode, padding, bool(seed % 2))
    attrs = case.attrs
    assert isinstance(attrs, GridSampleAttrs)
    data, grid = (tensor.array for tensor in case.inputs)
    expected = by_onnx(
        "GridSample",
        [np.moveaxis(data, -1, 1), grid],
        mode=attrs.mode,
        padding_mode=attrs.padding,
        align_corners=attrs.aligns_corners,
    )
    np.testing.assert_allclose(case.expected, np.moveaxis(expected, 1, -1), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("padding", PADDINGS)
def test_coordinates_of_elements_give_the_elements(mode: str, padding: str) -> None:
    case = grid_sample(3, (2, 3, 5, 4), (3, 5), mode, padding, True)
    rows, columns = np.linspace(-1, 1, 3), np.linspace(-1, 1, 5)
    case.inputs[1].array[:] = np.stack(np.meshgrid(columns, rows), -1)
    np.testing.assert_allclose(case.expected, case.inputs[0].array, atol=1e-5)


@pytest.mark.parametrize(
    ("shapes", "mode", "sentence"),
    [
        (((1, 4, 4, 1),), "linear", "there are 1 inputs"),
        (((1, 4, 4, 1), (1, 2, 2, 2)), "square", "the mode is 'square'"),
        (((1, 4, 4, 1), (1, 2, 2, 3)), "linear", "has no coordinates"),
        (((2, 4, 4, 1), (1, 2, 2, 2)), "linear", "has no coordinates"),
        (((1, 1), (1, 0)), "linear", "has no coordinates"),
    ],
)
def test_grid_sample_impossible_shapes_are_refused(
    shapes: tuple[tuple[int, ...], ...], mode: str, sentence: str
) -> None:
    kinds = [ArrayType(shape, DType.FLOAT32) for shape in shapes]
    with pytest.raises(ValueError, match=sentence):
        GRID_SAMPLE.infer(GridSampleAttrs(mode, "zeros", False), kinds)


def test_grid_sample_dtypes() -> None:
    plain, wrong = ArrayType((1,), DType.FLOAT32), ArrayType((1,), DType.INT8)
    attrs = GridSampleAttrs("linear", "zeros", False)
    assert "the grid is" in str(GRID_SAMPLE.check(attrs, [plain, wrong], [plain]))


# resample as a product with a matrix.

F, S = DType.FLOAT32, DType.INT32


@pytest.mark.parametrize("seed", range(20))
def test_is_a_product_with_a_matrix(seed: int) -> None:
    case = random_resample(seed)
    assert isinstance(case.attrs, ResampleAttrs)
    data, first, weights = (tensor.array for tensor in case.inputs)
    matrix = np.zeros((len(first), data.shape[case.attrs.axis]))
    for row, (start, own) in enumerate(zip(first, weights, strict=True)):
        matrix[row, start : start + len(own)] = own
    expected = np.moveaxis(np.tensordot(matrix, data, (1, case.attrs.axis)), 0, case.attrs.axis)
    np.testing.assert_allclose(case.expected, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    ("shapes", "sentence"),
    [
        (((4, 2), (3,)), "there are 2 inputs"),
        (((4,), (3,), (3, 1)), "the axis is 1"),
        (((2, 4), (3,), (2, 1)), "they must agree"),
        (((2, 4), (3,), (3, 5)), "5 values are added up"),
    ],
)
def test_resample_impossible_shapes_are_refused(
    shapes: tuple[tuple[int, ...], ...], sentence: str
) -> None:
    with pytest.raises(ValueError, match=sentence):
        RESAMPLE.infer(ResampleAttrs(1), [ArrayType(shape, F) for shape in shapes])


def test_resample_dtypes() -> None:
    kinds = [ArrayType((2,), F), ArrayType((3,), S), ArrayType((3, 1), F)]
    output = ArrayType((3,), F)
    assert RESAMPLE.check(ResampleAttrs(0), kinds, [output]) is None
    for position, wrong in ((0, S), (2, S)):
        given = [ArrayType(k.shape, wrong) if i == position else k for i, k in enumerate(kinds)]
        assert "float32" in str(RESAMPLE.check(ResampleAttrs(0), given, [output]))
