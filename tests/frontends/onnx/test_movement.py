"""Operators that change shapes, move elements or read them by index, against onnxruntime."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import microgen
from microgen.ir.graph import Array
from tests.differential import program
from tests.frontends.onnx import one_node
from tests.frontends.onnx.movement_cases import CASES, OLD
from tests.frontends.onnx.one_node import OneNode
from tests.tools import NEEDS_CC

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
    proto, given, _ = one_node.model(CASES)
    path = tmp_path / "nodes.onnx"
    path.write_bytes(proto.SerializeToString())
    compiled = microgen.compile_model(path, "native")
    built = program.build([compiled], tmp_path, 1)
    ports = [given[port.tensor] for port in compiled.program.inputs]
    ((*found,),) = built.run(0, [ports])
    expected = one_node.by_graph(one_node.loaded(proto, tmp_path), given)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("index", [-6, 5, 2**40])
def test_computed_indices_outside_are_a_status(index: int, tmp_path: Path) -> None:
    from microgen.ops.base import StatusError

    node = OneNode("Gather", (np.ones((5, 2), np.float32), np.array([0, index])), n_data=2)
    proto, given, _ = one_node.model([node])
    with pytest.raises(StatusError) as caught:
        one_node.by_graph(one_node.loaded(proto, tmp_path), given)
    assert (caught.value.status, caught.value.allowed) == (0x0803, "from -5 to 4")
