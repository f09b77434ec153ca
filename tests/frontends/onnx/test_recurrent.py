"""RNN, GRU and LSTM, against onnxruntime and in C."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import helper

from microgen import frontends
from microgen.base.errors import MicrogenError
from microgen.graph.ir.graph import Array, Graph
from tests.frontends.onnx import by_c, one_node
from tests.frontends.onnx.models import info, model, written
from tests.frontends.onnx.one_node import OneNode
from tests.support.tools import NEEDS_CC

_GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}
_COUNTS = {"RNN": 1, "GRU": 2, "LSTM": 3}  # of activations
_STEPS, _BATCHES, _FEATURES, _CELLS = 4, 2, 3, 5
_RNG = np.random.default_rng(19)


def _data(*shape: int) -> Array:
    return (_RNG.normal(size=shape) / 2).astype(np.float32)


def _operands(op: str, directions: int, extras: int) -> tuple[Array | None, ...]:
    """The operands of a layer: data and weights, and the first ``extras`` of the others."""
    rows, batch = _GATES[op] * _CELLS, (directions, _BATCHES, _CELLS)
    others = (
        _data(directions, 2 * rows),
        np.array([_STEPS, 2], np.int32),
        _data(*batch),
        _data(*batch),
        _data(directions, 3 * _CELLS),
    )
    weights = _data(directions, rows, _FEATURES), _data(directions, rows, _CELLS)
    given = others[: min(extras, 5 if op == "LSTM" else 3)]
    return (_data(_STEPS, _BATCHES, _FEATURES), *weights, *given)


def _node(op: str, extras: int = 5, given: int = 1, **attrs: Any) -> OneNode:
    directions = 2 if attrs.get("direction") == "bidirectional" else 1
    outputs = 3 if op == "LSTM" else 2
    operands = _operands(op, directions, extras)
    found = {"hidden_size": _CELLS, **attrs}
    return OneNode(op, operands, found, min(given, len(operands)), outputs, 14)


def _cases() -> Iterator[OneNode]:
    """Each kind with each attribute, number of operands and direction."""
    for op in _GATES:
        for extras in range(6 if op == "LSTM" else 4):
            yield _node(op, extras)
        yield _node(op, given=8)
        for direction in ("forward", "reverse", "bidirectional"):
            yield _node(op, direction=direction, clip=0.4)
        yield _node(op, activations=["Softsign"] * _COUNTS[op])
        yield _node(op, 0, direction="bidirectional", activations=["Relu"] * 2 * _COUNTS[op])
    yield _node("GRU", linear_before_reset=1)
    yield _node("GRU", 2, 8, linear_before_reset=1, direction="bidirectional")
    yield _node("LSTM", input_forget=1)
    mixed = {"activation_alpha": [0.3, 0.05, 1.5], "activation_beta": [0.4]}
    yield _node("LSTM", activations=["HardSigmoid", "LeakyRelu", "elu"], **mixed)
    yield _node("LSTM", activations=["HardSigmoid", "Softplus", "Elu"])


CASES = tuple(_cases())


def test_graphs_equal_onnxruntime(tmp_path: Path) -> None:
    proto, given, names = one_node.model(CASES)
    found = one_node.by_graph(one_node.loaded(proto, tmp_path), given)
    expected = one_node.by_runtime(proto, given)
    for one, other, name in zip(found, expected, names, strict=True):
        assert one.shape == other.shape, name
        np.testing.assert_allclose(one, other, rtol=2e-4, atol=2e-5, err_msg=name)


@NEEDS_CC
def test_generated_c_equals_the_graph(tmp_path: Path) -> None:
    by_c.assert_equals_the_graph([CASES], tmp_path, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("op", list(_GATES))
def test_batches_may_come_first(op: str, tmp_path: Path) -> None:
    """Both layouts are compared with each other, because onnxruntime has no layout 1."""
    plain = _node(op, direction="bidirectional")
    data, *weights = plain.inputs
    states = [
        w if w is None or w.ndim < 3 or k < 2 else w.swapaxes(0, 1) for k, w in enumerate(weights)
    ]
    assert data is not None
    turned = OneNode(
        op, (data.swapaxes(0, 1), *states), {**plain.attrs, "layout": 1}, 1, plain.n_outputs, 14
    )
    found, expected = (
        one_node.by_graph(one_node.loaded(proto, tmp_path), given)
        for proto, given, _ in map(one_node.model, ([turned], [plain]))
    )
    np.testing.assert_array_equal(found[0], expected[0].transpose(2, 0, 1, 3))
    for one, other in zip(found[1:], expected[1:], strict=True):
        np.testing.assert_array_equal(one, other.swapaxes(0, 1))


def _states_only(folder: Path) -> Graph:
    """An LSTM of which only the last hidden state is read."""
    names = ["x", "w", "r"]
    constants = dict(zip(names, _operands("LSTM", 1, 0), strict=True))
    data = constants.pop("x")
    assert data is not None
    node = helper.make_node("LSTM", names, ["", "h"], hidden_size=_CELLS)
    return frontends.load(
        written(model([node], [info("x", data.shape)], [info("h", None)], constants), folder)
    )


def test_a_sequence_that_nothing_reads_needs_no_memory(tmp_path: Path) -> None:
    graph = _states_only(tmp_path)
    (layer,) = (node for node in graph.nodes if node.op == "nn.recurrent")
    assert graph.types[layer.outputs[0]].shape == (2, _BATCHES, _CELLS)


def test_states_that_are_zero_are_left_out(tmp_path: Path) -> None:
    plain = _node("LSTM", 2)
    zeros = np.zeros((1, _BATCHES, _CELLS), np.float32)
    filled = OneNode("LSTM", (*plain.inputs, zeros, zeros), plain.attrs, 1, 3, 14)
    graph = one_node.loaded(one_node.model([filled])[0], tmp_path)
    (layer,) = (node for node in graph.nodes if node.op == "nn.recurrent")
    assert len(layer.inputs) == 5


def _wrong(place: int, shape: tuple[int, ...]) -> OneNode:
    plain = _node("LSTM")
    inputs = (*plain.inputs[:place], np.zeros(shape, np.float32), *plain.inputs[place + 1 :])
    return OneNode("LSTM", inputs, plain.attrs, 1, 3, 14)


def _lengths(*values: int) -> OneNode:
    plain = _node("LSTM", 1)
    inputs = (*plain.inputs, np.array(values, np.int32))
    return OneNode("LSTM", inputs, plain.attrs, 1, 3, 14)


@pytest.mark.parametrize(
    ("case", "sentence"),
    [
        (_node("RNN", direction="sideways"), "has the direction 'sideways'"),
        (_node("RNN", hidden_size=-1), r"has the input 1 float32\[1,5,3\]"),
        (_node("RNN", hidden_size=2**40), "has the input 1"),
        (_node("RNN", activations=["Cube"]), "has the activation 'Cube'"),
        (_node("GRU", activations=["Tanh"]), "has 1 activations"),
        (_node("RNN", activations=["Affine"]), "has no numbers for Affine"),
        (_node("RNN", activation_alpha=[1.0]), "more alphas or betas"),
        (_node("RNN", clip=-1.0), "has the clip -1"),
        (_wrong(0, (4, 3)), "3 axes are expected"),
        (_wrong(2, (1, 20, 4)), "has the input 2"),
        (_wrong(3, (1, 20)), "has the input 3"),
        (_wrong(5, (1, 5)), "has the input 5"),
        (_wrong(7, (1, 5)), "has the input 7"),
        (_lengths(1), "has the lengths"),
        (_lengths(1, 5), "has sequences of"),
        (_lengths(-1, 3), "has sequences of"),
    ],
    ids=str,
)
def test_refusals(case: OneNode, sentence: str, tmp_path: Path) -> None:
    with pytest.raises(MicrogenError, match=sentence):
        one_node.loaded(one_node.model([case])[0], tmp_path)
