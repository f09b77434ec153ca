"""Operators that change shapes, move elements or read them by index, against onnxruntime."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from microgen.base.errors import MicrogenError
from microgen.graph.ir.graph import Array
from microgen.graph.ops.base import StatusError
from tests.frontends.onnx import by_c, one_node
from tests.frontends.onnx.movement_cases import CASES, OLD
from tests.frontends.onnx.one_node import OneNode
from tests.support.tools import NEEDS_CC

APART = {"Resize", "Upsample", "GridSample", "RoiAlign"}  # floats that are rounded in other ways


def _assert_same(node: OneNode, found: list[Array], expected: list[Array]) -> None:
    for one, other in zip(found, expected, strict=True):
        assert (one.dtype, one.shape) == (other.dtype, other.shape), node
        if node.op in APART:
            np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5, err_msg=str(node))
        else:
            np.testing.assert_array_equal(one, other, err_msg=str(node))


def test_graphs_equal_onnxruntime(tmp_path: Path) -> None:
    for node in (*CASES, *OLD):
        proto, given, _ = one_node.model([node])
        graph = one_node.loaded(proto, tmp_path)
        _assert_same(node, one_node.by_graph(graph, given), one_node.by_runtime(proto, given))


@NEEDS_CC
def test_generated_c_equals_the_graph(tmp_path: Path) -> None:
    """All nodes are one network."""
    by_c.assert_equals_the_graph([CASES], tmp_path, rtol=1e-5, atol=1e-6)


_X = np.arange(24, dtype=np.float32).reshape(1, 4, 6)
_HALVES = np.array([3, 1])
DECLARED = [
    (OneNode("Reshape", (_X, np.array([8, 3])), n_data=2), [(8, 3)]),
    (OneNode("Squeeze", (_X, np.array([0])), n_data=2), [(4, 6)]),
    (OneNode("Unsqueeze", (_X, np.array([1])), n_data=2), [(1, 1, 4, 6)]),
    (OneNode("Expand", (_X, np.array([2, 1, 1])), n_data=2), [(2, 4, 6)]),
    (OneNode("Tile", (_X, np.array([2, 1, 2])), n_data=2), [(2, 4, 12)]),
    (OneNode("TopK", (_X, np.array([2])), {"axis": 1}, 2, 2), [(1, 2, 6)] * 2),
    (OneNode("OneHot", (_HALVES, np.array(5), _X[0, 0, :2]), n_data=3), [(2, 5)]),
    (OneNode("Range", tuple(np.array(n, np.float32) for n in (3, 10, 2)), n_data=3), [(4,)]),
    (OneNode("Split", (_X, _HALVES), {"axis": 1}, 2, 2), [(1, 3, 6), (1, 1, 6)]),
    (OneNode("CenterCropPad", (_X, np.array([9])), {"axes": [2]}, 2), [(1, 4, 9)]),
    (OneNode("Resize", (_X, None, None, np.array([1, 4, 9])), n_data=4), [(1, 4, 9)]),
]


@pytest.mark.parametrize(("node", "shapes"), DECLARED, ids=lambda each: getattr(each, "op", ""))
def test_declared_shapes_stand_for_operands_that_are_inputs(
    node: OneNode, shapes: list[tuple[int, ...]], tmp_path: Path
) -> None:
    proto, given, _ = one_node.model([node])
    expected = one_node.by_runtime(proto, given)
    with pytest.raises(MicrogenError, match="--bind"):
        one_node.loaded(proto, tmp_path)
    for info, shape in zip(proto.graph.output, shapes, strict=True):
        for size in shape:
            info.type.tensor_type.shape.dim.add().dim_value = size
    found = one_node.by_graph(one_node.loaded(proto, tmp_path), given)
    _assert_same(node, found, expected)


@pytest.mark.parametrize("index", [-6, 5, 2**40])
def test_computed_indices_outside_are_a_status(index: int, tmp_path: Path) -> None:
    node = OneNode("Gather", (np.ones((5, 2), np.float32), np.array([0, index])), n_data=2)
    proto, given, _ = one_node.model([node])
    with pytest.raises(StatusError) as caught:
        one_node.by_graph(one_node.loaded(proto, tmp_path), given)
    assert (caught.value.status, caught.value.allowed) == (0x0803, "from -5 to 4")
