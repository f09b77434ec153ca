"""DeformConv, against onnx's reference and in C."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from microgen.base.errors import MicrogenError
from microgen.graph.ir.graph import Array
from tests.frontends.onnx import by_c, one_node
from tests.frontends.onnx.one_node import OneNode
from tests.kernels.conformance.onnx_oracle import by_onnx
from tests.support.tools import NEEDS_CC

_RNG = np.random.default_rng(22)


def _data(*shape: int) -> Array:
    return _RNG.normal(size=shape).astype(np.float32)


def _case(
    places: tuple[int, int],
    kernel: tuple[int, int] = (3, 2),
    group: int = 1,
    offset_group: int = 1,
    has_mask: bool = False,
    **attrs: Any,
) -> OneNode:
    """A layer of 4 channels of 6 x 7 values and 2 filters, whose offsets reach beyond the image."""
    taps = offset_group * kernel[0] * kernel[1]
    return OneNode(
        "DeformConv",
        (
            _data(2, 4, 6, 7),
            _data(2, 4 // group, *kernel),
            3 * _data(2, 2 * taps, *places),
            _data(2),
            _data(2, taps, *places) if has_mask else None,
        ),
        {"group": group, "offset_group": offset_group, **attrs},
        n_data=3,
        opset=22,
    )


CASES = (
    _case((4, 6)),
    _case((4, 6), has_mask=True),
    _case((4, 6), group=2),
    _case((4, 6), group=2, offset_group=4, has_mask=True),
    _case((4, 4), pads=[1, 2, 2, 0], strides=[2, 1], dilations=[1, 5]),
    _case((6, 7), (1, 1), offset_group=2),
)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_graphs_equal_onnx(case: OneNode, tmp_path: Path) -> None:
    proto, given, _ = one_node.model([case])
    (found,) = one_node.by_graph(one_node.loaded(proto, tmp_path), given)
    attrs = {"kernel_shape": list(np.shape(case.inputs[1])[2:]), **case.attrs}
    expected = by_onnx("DeformConv", list(case.inputs), **attrs)
    np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-4)


@NEEDS_CC
def test_generated_c_equals_the_graph(tmp_path: Path) -> None:
    by_c.assert_equals_the_graph([CASES], tmp_path, rtol=1e-4, atol=1e-5)


def _with(place: int, shape: tuple[int, ...]) -> OneNode:
    plain = _case((4, 6), has_mask=True)
    inputs = (*plain.inputs[:place], np.zeros(shape, np.float32), *plain.inputs[place + 1 :])
    return OneNode(plain.op, inputs, plain.attrs, 3, opset=22)


@pytest.mark.parametrize(
    ("case", "sentence"),
    [
        (_case((4, 6), group=3), "has 3 groups for 4 channels"),
        (_case((4, 6), offset_group=3), "has 3 groups of offsets"),
        (_case((4, 6), offset_group=0), "has 0 groups of offsets"),
        (_with(0, (2, 4, 6, 7, 2)), "2 spatial axes"),
        (_with(1, (2, 3, 3, 2)), "has the weight"),
        (_with(2, (2, 12, 4, 5)), "has the input float32"),
        (_with(4, (2, 6, 4, 5)), "has the input float32"),
    ],
    ids=str,
)
def test_refusals(case: OneNode, sentence: str, tmp_path: Path) -> None:
    with pytest.raises(MicrogenError, match=sentence):
        one_node.loaded(one_node.model([case])[0], tmp_path)
