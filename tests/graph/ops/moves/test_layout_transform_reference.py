"""layout_transform, compared with indices computed by hand, because LiteRT has no such operator."""

from __future__ import annotations

import numpy as np
import pytest

from microgen.graph.ir.graph import DType, TensorType
from microgen.graph.ops.base import Operands
from microgen.graph.ops.moves.layouts import LAYOUT_TRANSFORM, LayoutTransformAttrs


def test_each_element_keeps_its_index_on_every_named_axis() -> None:
    data = np.arange(2 * 3 * 4 * 5, dtype=np.int8).reshape(2, 3, 4, 5)
    kind = TensorType(data.shape, DType.INT8)
    attrs = LayoutTransformAttrs("NCHW", "NHWC")
    (found,) = LAYOUT_TRANSFORM.reference(attrs, Operands((data,), (kind,), (kind,)))
    for n, channel, h, w in np.ndindex(data.shape):
        assert found[n, h, w, channel] == data[n, channel, h, w]
    assert LAYOUT_TRANSFORM.infer(attrs, [kind]) == ((2, 4, 5, 3),)


@pytest.mark.parametrize(
    ("source", "target", "sentence"),
    [
        ("NCHW", "NHWD", "'NHWD' is not an order of the axes of 'NCHW'"),
        ("NCHW", "NCHW8c", "is not an order"),
        ("NCHW8c", "NCHW8c", "is not an order"),
        ("NNHW", "NNHW", "is not an order"),
        ("NCW", "NWC", "does not have the 3 axes of 'NCW'"),
    ],
)
def test_layouts_that_fit_no_data(source: str, target: str, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        LAYOUT_TRANSFORM.infer(
            LayoutTransformAttrs(source, target), [TensorType((1, 2, 3, 4), DType.INT8)]
        )
