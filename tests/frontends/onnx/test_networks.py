"""Layers of networks, against onnxruntime and in C."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from microgen.base.errors import MicrogenError
from tests.frontends.onnx import by_c, one_node
from tests.frontends.onnx.network_cases import CASES, data, integers, node
from tests.frontends.onnx.one_node import OneNode
from tests.support.tools import NEEDS_CC


def _by_opset() -> Iterator[tuple[OneNode, ...]]:
    """The cases in models of one opset each."""
    ordered = sorted(CASES, key=lambda case: case.opset)
    for _, group in itertools.groupby(ordered, lambda case: case.opset):
        yield tuple(group)


def test_graphs_equal_onnxruntime(tmp_path: Path) -> None:
    for group in _by_opset():
        proto, given, names = one_node.model(group)
        found = one_node.by_graph(one_node.loaded(proto, tmp_path), given)
        expected = one_node.by_runtime(proto, given)
        cases = [case for case in group for _ in range(case.n_outputs)]
        for case, one, other, _ in zip(cases, found, expected, names, strict=True):
            assert (one.dtype, one.shape) == (other.dtype, other.shape), case
            np.testing.assert_allclose(one, other, rtol=2e-4, atol=2e-5, err_msg=str(case))


@NEEDS_CC
def test_generated_c_equals_the_graph(tmp_path: Path) -> None:
    """All nodes of an opset are one network."""
    by_c.assert_equals_the_graph([*_by_opset()], tmp_path, rtol=1e-4, atol=1e-5)


_X = data(1, 4, 5, 5)


@pytest.mark.parametrize(
    ("case", "sentence"),
    [
        (node("Conv", _X, data(3, 3, 2, 2)), "1 groups for the input"),
        (node("Conv", _X, data(3, 4, 2)), r"the weight float32\[3,4,2\] for the input"),
        (node("Conv", _X, data(3, 4, 2, 2), group=3), "3 groups for 4 channels"),
        (node("Conv", _X, data(3, 4, 2, 2), strides=[0, 1]), "has the strides"),
        (node("Conv", _X, data(3, 4, 2, 2), pads=[1, 1]), "has 2 pads; 4 are expected"),
        (node("Conv", _X, data(3, 4, 2, 2), auto_pad="MOST"), "has the auto_pad 'MOST'"),
        (node("Conv", _X, data(3, 4, 6, 2)), "a window of 6 cells"),
        (node("Conv", data(1, 2, 3, 3, 3, 3), data(2, 2, 1, 1, 1, 1)), "1 to 3 spatial axes"),
        (node("MaxPool", _X, kernel_shape=[9, 9], pads=[4] * 4, outputs=2), "up to 64 taps"),
        (node("LpPool", _X, kernel_shape=[2, 2], p=0), "has the p 0"),
        (node("MaxPool", _X, kernel_shape=[2, 2], dilations=[2, 1], auto_pad="SAME_LOWER"), "auto"),
        (node("MaxPool", _X, kernel_shape=[1, 1], strides=[3, 3], auto_pad="SAME_UPPER"), "auto"),
        (
            node("MaxPool", _X, kernel_shape=[2, 2], strides=[2, 2], auto_pad="VALID", ceil_mode=1),
            "has ceil_mode with auto_pad=VALID",
        ),
        (
            node("ConvTranspose", _X, data(4, 3, 1, 1), strides=[2, 2], auto_pad="SAME_UPPER"),
            r"its taps reach \[9, 9\]",
        ),
        (node("Gemm", data(2, 3), data(3, 4), data(3, 4)), "broadcast"),
        (node("MatMul", data(2, 3), data(4, 5)), "the depths differ"),
        (node("Einsum", data(2, 3), equation="ij->k"), "its output is impossible"),
        (node("Einsum", data(2, 3), equation="i"), "names the axes"),
        (node("ReduceSum", data(2, 3), integers(2)), "has the axes entry 2"),
        (node("ReduceSum", data(2, 3), integers(0), given=2), "computed axes"),
        (node("Det", data(2, 5, 5)), "up to 4 rows"),
        (node("BatchNormalization", _X, *[data(3)] * 4), "one value per channel"),
    ],
    ids=lambda value: str(value)[:60],
)
def test_refusals(case: OneNode, sentence: str, tmp_path: Path) -> None:
    with pytest.raises(MicrogenError, match=sentence):
        one_node.loaded(one_node.model([case])[0], tmp_path)
