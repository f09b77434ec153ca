"""Elementwise operators, against ONNX's own reference."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper
from onnx.reference import ReferenceEvaluator

import microgen
from microgen import frontends
from microgen.base.errors import MicrogenError
from microgen.graph.ir.graph import Array, Graph
from tests.frontends.onnx import by_c, one_node
from tests.frontends.onnx.elementwise_cases import CASES, CASTS, FLOATS, NEWEST, OLD, node
from tests.frontends.onnx.one_node import OneNode
from tests.support.tools import NEEDS_CC, NEEDS_NINJA


def _graph(node: OneNode, folder: Path) -> Graph:
    return one_node.loaded(one_node.model([node])[0], folder)


def _assert_same(node: OneNode, found: list[Array], expected: list[Array]) -> None:
    for one, other in zip(found, expected, strict=True):
        assert (one.dtype, one.shape) == (other.dtype, other.shape), node
        np.testing.assert_allclose(one, other, rtol=2e-5, atol=1e-6, err_msg=str(node))


def test_graphs_equal_the_reference(tmp_path: Path) -> None:
    for each in (*CASES, *CASTS, *OLD):
        proto, given, _ = one_node.model([each])
        found = one_node.by_graph(one_node.loaded(proto, tmp_path), given)
        with np.errstate(all="ignore"):
            expected = ReferenceEvaluator(proto).run(None, given)
        _assert_same(each, found, [np.asarray(array) for array in expected])


@NEEDS_CC
def test_generated_c_equals_the_graph(tmp_path: Path) -> None:
    """All nodes are one network."""
    by_c.assert_equals_the_graph([(*CASES, *CASTS[::4])], tmp_path, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize(
    ("nodes", "ops"),
    [
        (node("Gelu", FLOATS), ["real_function"]),
        (node("Pow", FLOATS, np.array(2, np.float32)), ["multiply"]),
        (node("Clip", FLOATS, np.array(0, np.float32), np.array(6, np.float32)), ["clip"]),
        (node("Clip", FLOATS, np.array(0, np.float32), np.array(7, np.float32)), ["real_function"]),
        (node("Elu", FLOATS), ["nn.elu"]),
        (node("Identity", FLOATS), ["copy"]),
    ],
    ids=str,
)
def test_few_nodes_compute_an_operator(nodes: OneNode, ops: list[str], tmp_path: Path) -> None:
    assert [each.op for each in _graph(nodes, tmp_path).nodes] == ops


@pytest.mark.parametrize(
    ("nodes", "sentence"),
    [
        (node("Exp", FLOATS.astype(np.float64)), "is of double"),
        (
            node("Erf", np.ones(3, np.int32), opset=9),
            r"of int32\[3\] has no kernel; supported: float32",
        ),
        (node("Cast", FLOATS, to=onnx.TensorProto.DOUBLE), "its output is of double"),
        (node("Celu", FLOATS, alpha=0.0), "has the alpha 0"),
        (node("Gelu", FLOATS, approximate="other"), "has the approximation 'other'"),
        (node("BitShift", np.ones(3, np.uint8), np.ones(3, np.uint8), direction="UP"), "direction"),
        (node("BitCast", FLOATS, to=onnx.TensorProto.INT8), "makes int8 of float32"),
        (node("BitCast", np.ones(3, np.uint8), to=onnx.TensorProto.BOOL), "makes bool of uint8"),
        (
            node("Dropout", FLOATS, np.array(0.5, np.float32), np.array(True), opset=13),
            r"drops elements at random, as in training; call network.eval\(\) before",
        ),
        (node("Add", FLOATS, np.ones(1, np.int32)), "has the input 1 .B. of int32"),
    ],
    ids=str,
)
def test_refusals(nodes: OneNode, sentence: str, tmp_path: Path) -> None:
    with pytest.raises(MicrogenError, match=sentence):
        _graph(nodes, tmp_path)


def test_training_without_dropping_is_the_identity(tmp_path: Path) -> None:
    inputs = (FLOATS, np.array(0, np.float32), np.array(True))
    dropout = OneNode("Dropout", inputs, n_data=1, n_outputs=2, opset=13)
    proto, given, _ = one_node.model([dropout])
    data, mask = one_node.by_graph(one_node.loaded(proto, tmp_path), given)
    np.testing.assert_array_equal(data, FLOATS)
    assert mask.dtype == np.bool_
    assert mask.all()


def test_binarizer(tmp_path: Path) -> None:
    made = helper.make_node("Binarizer", ["x"], ["y"], domain="ai.onnx.ml", threshold=0.5)
    ports = [helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, (36,)) for name in "xy"]
    imports = [helper.make_opsetid("ai.onnx.ml", 1), helper.make_opsetid("", 20)]
    proto = helper.make_model(
        helper.make_graph([made], "g", ports[:1], ports[1:]), opset_imports=imports, ir_version=8
    )
    (found,) = one_node.by_graph(one_node.loaded(proto, tmp_path), {"x": FLOATS})
    np.testing.assert_array_equal(found, (FLOATS > 0.5).astype(np.float32))


def test_infinities_remain_infinities(tmp_path: Path) -> None:
    for each in (node("Relu", FLOATS), node("Add", FLOATS, FLOATS), node("Reciprocal", FLOATS)):
        proto, given, _ = one_node.model([each])
        path = tmp_path / "m.onnx"
        path.write_bytes(proto.SerializeToString())
        (found,) = one_node.by_graph(frontends.load(path), given)
        assert np.isinf(found).any()


@NEEDS_CC
@NEEDS_NINJA
def test_unsigned_ports_and_nan_among_constants(tmp_path: Path) -> None:
    """Operators are packed functions, so that every port has a tensor with its dtype."""
    dtypes = (np.uint16, np.uint32, np.uint64, np.int8)
    pairs = [(np.full(3, np.iinfo(dtype).max, dtype),) * 2 for dtype in dtypes]
    pairs.append((np.ones(3, np.float32), -np.array([np.nan, np.inf, 1.0], np.float32)))
    nodes = [OneNode("Add", pair, opset=NEWEST) for pair in pairs]
    proto, given, _ = one_node.model(nodes)
    path = tmp_path / "m.onnx"
    path.write_bytes(proto.SerializeToString())
    microgen.generate(path, "native", tmp_path / "p", interface="packed")
    found = microgen.run(tmp_path / "p", given).outputs
    expected = one_node.by_graph(one_node.loaded(proto, tmp_path), given)
    for one, other in zip(found.values(), expected, strict=True):
        np.testing.assert_array_equal(one, other)
        assert one.dtype == other.dtype
