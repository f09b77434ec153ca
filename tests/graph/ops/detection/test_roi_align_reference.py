"""roi_align against onnx's reference implementation."""

from __future__ import annotations

import numpy as np
import pytest

from microgen.graph.ir.graph import ArrayType, DType
from microgen.graph.ops.detection.roi_align import OP, RoiAlignAttrs
from tests.kernels.conformance.onnx_oracle import by_onnx
from tests.kernels.moves.movement_cases import roi_align


@pytest.mark.parametrize("seed", [seed for seed in range(40) if seed % 4])
def test_equals_onnx(seed: int) -> None:
    case = roi_align(seed, (2, 6, 7, 3), 4)
    attrs = case.attrs
    assert isinstance(attrs, RoiAlignAttrs)
    images, regions, numbers = (tensor.array for tensor in case.inputs)
    ordered = np.sort(regions.reshape(-1, 2, 2), 1).reshape(-1, 4)
    regions[:] = ordered
    expected = by_onnx(
        "RoiAlign",
        [np.moveaxis(images, -1, 1), regions, numbers.astype(np.int64)],
        mode="max" if attrs.is_max else "avg",
        output_height=attrs.size[0],
        output_width=attrs.size[1],
        sampling_ratio=attrs.samples,
        spatial_scale=attrs.scale,
        coordinate_transformation_mode="half_pixel" if attrs.is_half else "output_half_pixel",
    )
    np.testing.assert_allclose(case.expected, np.moveaxis(expected, 1, -1), rtol=1e-4, atol=1e-5)


GOOD = ((1, 4, 4, 2), (3, 4), (3,))


@pytest.mark.parametrize(
    ("shapes", "attrs", "sentence"),
    [
        (GOOD[:2], RoiAlignAttrs((1, 1), 1.0, 0, False, False), "there are 2 inputs"),
        (((1, 4, 4), *GOOD[1:]), RoiAlignAttrs((1, 1), 1.0, 0, False, False), "the images are"),
        ((*GOOD[:2], (2,)), RoiAlignAttrs((1, 1), 1.0, 0, False, False), "the regions"),
        (GOOD, RoiAlignAttrs((0, 1), 1.0, 0, False, False), "bins of 0 samples"),
        (GOOD, RoiAlignAttrs((1, 1), 1.0, 257, False, False), "0 to 256 samples"),
        (GOOD, RoiAlignAttrs((1, 1), float("nan"), 1, False, False), "by the scale nan"),
    ],
)
def test_impossible_shapes_are_refused(
    shapes: tuple[tuple[int, ...], ...], attrs: RoiAlignAttrs, sentence: str
) -> None:
    with pytest.raises(ValueError, match=sentence):
        OP.infer(attrs, [ArrayType(shape, DType.FLOAT32) for shape in shapes])


def test_dtypes() -> None:
    attrs = RoiAlignAttrs((1, 1), 1.0, 0, False, False)
    plain, whole = ArrayType((1,), DType.FLOAT32), ArrayType((1,), DType.INT32)
    assert OP.check(attrs, [plain, plain, whole], [plain]) is None
    assert "the regions are" in str(OP.check(attrs, [plain, whole, whole], [plain]))
    assert "must be int32" in str(OP.check(attrs, [plain, plain, plain], [plain]))
