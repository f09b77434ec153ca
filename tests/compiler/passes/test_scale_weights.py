"""Factors and offsets per channel move into float32 layers, and only where this is right."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

from microgen import frontends
from microgen.compiler import passes
from microgen.graph.arithmetic.terms import Activation
from microgen.graph.ir.graph import Array, Graph
from microgen.graph.ir.interpreter import evaluate
from microgen.graph.ops import registry

_RNG = np.random.default_rng(5)
_X = (2, 4, 6, 5)


def _data(*shape: int) -> Array:
    return _RNG.uniform(0.5, 1.5, shape).astype(np.float32)


CONSTANTS = {
    "w": _data(3, 4, 3, 3),
    "deep": _data(4, 1, 3, 3),
    "back": _data(4, 3, 2, 2),
    "row": _data(3, 4, 3),
    "matrix": _data(5, 3),
    "bias": _data(3),
    "a": _data(3),
    "c": _data(3, 1, 1),
    "of_4": _data(4, 1, 1),
    "of_x": _data(4),
    "of_x_huge": np.full((4, 1, 1), 3e38, np.float32),
    "of_row": _data(3, 1),
    "one": _data(1),
    "pixels": _data(3, 4, 3),
    "huge": np.full((3, 1, 1), 3e38, np.float32),
}
Step = tuple[str, Sequence[str], dict[str, Any]]


def _step(op: str, *inputs: str, **attrs: Any) -> Step:
    return op, inputs, attrs


def _graph(
    steps: Sequence[Step], folder: Path, shape: Sequence[int] = _X, also: Sequence[str] = ()
) -> Graph:
    """A chain: "" is the result of the step before, which is called t0, t1, ..."""
    nodes, last = [], "x"
    for k, (op, inputs, attrs) in enumerate(steps):
        names = [last if name == "" else name for name in inputs]
        last = f"t{k}"
        nodes.append(helper.make_node(op, names, [last], **attrs))
    ports = [helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, shape)]
    results = [helper.make_empty_tensor_value_info(name) for name in (last, *also)]
    values = [numpy_helper.from_array(value, name) for name, value in CONSTANTS.items()]
    made = helper.make_graph(nodes, "chain", ports, results, values)
    proto = helper.make_model(made, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
    (folder / "m.onnx").write_bytes(proto.SerializeToString())
    return frontends.load(folder / "m.onnx")


def _checked(graph: Graph) -> list[str]:
    """The ops after the passes that are not changes of layout, after a check of the results."""
    after = passes.run(graph)
    data = {"x": _data(*graph.types["x"].shape)}
    before = evaluate(graph, data, registry())
    found = evaluate(after, data, registry())
    for name, other in zip(graph.outputs, after.outputs, strict=True):
        np.testing.assert_allclose(found[other], before[name], rtol=1e-5, atol=1e-5)
    return [node.op for node in after.nodes if node.op not in ("layout_transform", "reshape")]


_CONV = _step("Conv", "", "w")
_NORM = _step("BatchNormalization", "", "a", "bias", "a", "a")


@pytest.mark.parametrize(
    ("steps", "op", "shape"),
    [
        ([_CONV, _NORM], "nn.conv2d", _X),
        ([_step("Conv", "", "w", "bias"), _NORM], "nn.conv2d", _X),
        ([_CONV, _step("Add", "", "c"), _step("Mul", "c", "")], "nn.conv2d", _X),
        ([_CONV, _step("Sub", "", "one"), _step("Div", "", "c")], "nn.conv2d", _X),
        ([_step("Conv", "", "deep", group=4), _step("Mul", "", "of_4")], "nn.depthwise_conv2d", _X),
        ([_step("ConvTranspose", "", "back", strides=[2, 2]), _NORM], "nn.conv2d_transpose", _X),
        ([_step("Conv", "", "row"), _step("Add", "", "of_row")], "nn.conv2d", (1, 4, 7)),
        ([_step("MatMul", "", "matrix"), _step("Add", "", "a")], "nn.dense", (2, 4, 5)),
        ([_step("MatMul", "", "matrix"), _step("Mul", "a", "")], "nn.dense", (4, 5)),
    ],
)
def test_a_layer_absorbs_them(
    steps: list[Step], op: str, shape: tuple[int, ...], tmp_path: Path
) -> None:
    assert _checked(_graph(steps, tmp_path, shape)) == [op]


def test_a_clamp_is_fused_after_them(tmp_path: Path) -> None:
    steps = [_step("Conv", "", "row"), _step("Add", "", "of_row")]
    relu6 = _step("Clip", "", "zero", "six")
    CONSTANTS.update(zero=np.array(0, np.float32), six=np.array(6, np.float32))
    after = passes.run(_graph([*steps, relu6], tmp_path, (1, 4, 7)))
    (conv,) = [node for node in after.nodes if node.op == "nn.conv2d"]
    assert conv.attrs.activation is Activation.RELU6  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("steps", "also"),
    [
        ([_CONV, _step("Add", "", "c")], ("t0",)),  # a result of its own
        ([_CONV, _step("Add", "", "")], ()),  # nothing constant
        ([_CONV, _step("Mul", "", "pixels")], ()),  # not per channel
        ([_CONV, _step("Sub", "c", "")], ()),  # the other sign
        ([_CONV, _step("Mul", "", "huge"), _step("Mul", "", "huge")], ()),  # infinite weights
        ([_CONV, _step("Sqrt", ""), _step("Mul", "", "c")], ()),  # something between
    ],
)
def test_other_nodes_remain(steps: list[Step], also: tuple[str, ...], tmp_path: Path) -> None:
    assert len(_checked(_graph(steps, tmp_path, also=also))) >= 2


def test_a_weight_of_two_layers_is_scaled_for_each(tmp_path: Path) -> None:
    square = _data(4, 4, 1, 1)
    CONSTANTS["square"] = square
    steps = [_step("Conv", "", "square"), _step("Mul", "", "of_4"), _step("Conv", "", "square")]
    assert _checked(_graph(steps, tmp_path)) == ["nn.conv2d", "nn.conv2d"]


_NORM_X = _step("BatchNormalization", "", "of_x", "of_x", "of_x", "of_x")


@pytest.mark.parametrize(
    ("steps", "also", "ops"),
    [
        ([_NORM_X], (), ["multiply", "add"]),
        ([_step("Sub", "", "one"), _step("Add", "", "of_4"), _step("Sub", "", "one")], (), ["add"]),
        ([_step("Add", "", "one"), _step("Sub", "", "one")], ("t0",), ["add", "subtract"]),
        ([_step("Sub", "one", ""), _step("Sub", "one", "")], (), ["add"]),
        ([_step("Sub", "one", ""), _step("Div", "", "of_4")], (), ["subtract", "divide"]),
        ([_step("Div", "", "of_4"), _step("Mul", "", "one")], (), ["multiply"]),
        (
            [_step("Mul", "", "one"), *[_NORM_X] * 2],
            (),
            ["multiply", "add"],
        ),
        ([_step("Add", "", "of_x_huge"), _step("Mul", "", "of_x_huge")], (), ["add", "multiply"]),
        ([_step("Add", "", "one"), _step("Relu", ""), _step("Add", "", "one")], (), ["add"] * 2),
    ],
)
def test_those_that_no_layer_absorbs_become_one(
    steps: list[Step], also: tuple[str, ...], ops: list[str], tmp_path: Path
) -> None:
    assert _checked(_graph(steps, tmp_path, also=also)) == ops
