"""Which ONNX models are read, and what is said of the others."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import ModelProto, TensorProto, helper

from microgen import frontends
from microgen.base.errors import MicrogenError, ModelError, ToolError, UnsupportedError
from microgen.graph.ir.graph import Graph
from tests.frontends.onnx.models import FLOAT, INT64, adding, info, model, written

ADD = helper.make_node("Add", ["x", "w"], ["y"])
X, Y = info("x", (2, 3)), info("y", (2, 3))
W = {"w": np.float32(2)}


def read(found: ModelProto, folder: Path) -> Graph:
    return frontends.load(written(found, folder))


def refusal(found: ModelProto, folder: Path, kind: type[MicrogenError] = ModelError) -> str:
    with pytest.raises(MicrogenError) as caught:
        read(found, folder)
    assert type(caught.value) is kind
    return str(caught.value).removeprefix("m.onnx: ")


def test_axes_of_a_number_are_refused(tmp_path: Path) -> None:
    squeezed = helper.make_node("Squeeze", ["x", "axes"], ["y"])
    found = model([squeezed], [info("x", ())], [info("y", None)], {"axes": np.array([0])})
    with pytest.raises(MicrogenError, match="removes the axes"):
        frontends.load(written(found, tmp_path))


def test_the_graph_has_the_models_names(tmp_path: Path) -> None:
    graph = read(adding(), tmp_path)
    assert (graph.name, graph.inputs, graph.outputs) == ("m", ("x",), ("y",))
    assert str(graph.nodes[0].origin) == 'm.onnx: layer "y"'


def test_initialisers_that_are_inputs_are_constants(tmp_path: Path) -> None:
    found = model([ADD], [X, info("w", ())], [Y], W)
    assert read(found, tmp_path).inputs == ("x",)


def test_imports_that_nothing_uses_do_not_matter(tmp_path: Path) -> None:
    assert read(model([ADD], [X], [Y], W, domains=("com.example",)), tmp_path).nodes


def test_nodes_that_no_output_needs_are_not_imported(tmp_path: Path) -> None:
    other = helper.make_node("StringSplit", ["x"], ["z", "n"])
    assert len(read(model([other, ADD], [X], [Y], W), tmp_path).nodes) == 1


def test_scalars_are_tensors_without_axes(tmp_path: Path) -> None:
    graph = read(model([ADD], [info("x", ())], [info("y", ())], W), tmp_path)
    assert graph.types["y"].shape == ()


def _twice() -> ModelProto:
    again = helper.make_node("Mul", ["x", "w"], ["y"])
    return model([ADD, again], [X], [Y], W)


def _sparse() -> ModelProto:
    found = model([helper.make_node("Add", ["x", "s"], ["y"])], [X], [Y])
    values = helper.make_tensor("s", FLOAT, [1], [1.0])
    at = helper.make_tensor("i", INT64, [1], [0])
    found.graph.sparse_initializer.append(helper.make_sparse_tensor(values, at, [3]))
    return found


def _negative() -> ModelProto:
    found = model([ADD], [X], [Y], W)
    found.graph.initializer[0].dims.extend([-1])
    return found


def _short() -> ModelProto:
    found = model([ADD], [X], [Y], {"w": np.ones(3, np.float32)})
    found.graph.initializer[0].raw_data = b"\0" * 8
    return found


@pytest.mark.parametrize(
    ("found", "sentence"),
    [
        (_twice(), 'two tensors have the name "y"'),
        (_negative(), "is float[-1], which no tensor can be"),
        (_short(), 'the initialiser "w" cannot be read'),
        (
            model([helper.make_node("Add", ["x", "z"], ["y"])], [X], [Y]),
            'reads the tensor "z", which nothing makes; onnx.checker finds such errors',
        ),
        (
            model([helper.make_node("Mul", ["z", "w"], ["y"]), ADD], [X], [Y], W),
            'reads the tensor "z", which nothing makes',
        ),
        (
            model([ADD], [X], [info("y", (2, 4))], W),
            'the tensor "y" is float32[2,3], but the model declares float[2,4]',
        ),
        (
            model([ADD], [X], [info("y", (2, 3), INT64)], W),
            'the tensor "y" is float32[2,3], but the model declares int64[2,3]',
        ),
        (
            model([ADD], [X], [Y], {"w": np.int64(2)}),
            'layer "y" (Add, opset 20): has the input 1 (B) of int64[]; T is tensor(float) in '
            "another input",
        ),
        (
            model([helper.make_node("Add", ["x"], ["y"])], [X], [Y]),
            'layer "y" (Add, opset 20): has 1 inputs; 2 are expected',
        ),
        (
            model([helper.make_node("Add", ["x", "w"], ["y"], axis=1)], [X], [Y], W),
            "layer \"y\" (Add, opset 20): has the attribute 'axis', which the operator does not "
            "have",
        ),
        (
            model([helper.make_node("Concat", ["x", "x"], ["y"], axis=1.5)], [X], [Y]),
            "layer \"y\" (Concat, opset 20): has the attribute 'axis' of the kind float, not int",
        ),
        (
            model([helper.make_node("Concat", ["x", "x"], ["y"])], [X], [Y]),
            "layer \"y\" (Concat, opset 20): has no attribute 'axis', which the operator needs",
        ),
        (
            model([helper.make_node("Add", ["x", "w"], ["y"], domain="com.example")], [X], [Y], W),
            'uses the operator "Add" of the domain "com.example", and imports no version of it',
        ),
        (
            model([ADD], [], [info("y", ())], {"x": np.float32(1), **W}),
            "has no inputs; give a model with both",
        ),
    ],
)
def test_what_is_wrong_is_said(found: ModelProto, sentence: str, tmp_path: Path) -> None:
    assert sentence in refusal(found, tmp_path)


@pytest.mark.parametrize(
    ("found", "sentence"),
    [
        (_sparse(), "sparse"),
        (model([ADD], [X], [Y], W, opset=6), "has the opset 6; supported: 7 to"),
        (model([ADD], [X], [Y], W, opset=999), "has the opset 999; supported: 7 to"),
        (
            model([ADD], [info("x", (2,), TensorProto.FLOAT8E5M2)], [Y], W),
            'the input "x" is of float8e5m2; supported: float32',
        ),
        (
            model([ADD], [info("x", None)], [Y], W),
            'the input "x" has no shape; supported: tensors whose number of axes is known',
        ),
        (
            model([helper.make_node("New", ["x"], ["y"], domain="a.b")], [X], [Y], domains=["a.b"]),
            'layer "y" (a.b.New, opset 1): operator a.b.New is not supported',
        ),
        (
            model([helper.make_node("Neu", ["x"], ["y"])], [X], [Y]),
            'layer "y" (Neu, opset 20): operator Neu is not supported',
        ),
    ],
)
def test_what_is_not_supported_is_said(found: ModelProto, sentence: str, tmp_path: Path) -> None:
    assert sentence in refusal(found, tmp_path, UnsupportedError)


@pytest.mark.parametrize("data", [b"", b"\xff" * 40, b"TFL3", b"\x08\x0a"])
def test_other_bytes_are_no_model(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(data)
    with pytest.raises(ModelError, match="is not an ONNX model"):
        frontends.load(path)


def test_without_the_package_it_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(adding(), tmp_path)
    monkeypatch.setitem(sys.modules, "onnx", None)
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    with pytest.raises(ToolError, match=r'pip install "microgen\[onnx\]"'):
        frontends.load(path)
    assert frontends.supported()[".onnx"] == ()


def test_a_name_that_is_no_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    data = adding().SerializeToString()
    assert b"\x01x" in data
    path.write_bytes(data.replace(b"\x01x", b"\x01\xff"))
    with pytest.raises(ModelError, match="a name that is not text"):
        frontends.load(path)


def test_it_is_the_oldest_that_onnx_and_microgen_know(tmp_path: Path) -> None:
    for opset in (7, onnx.defs.onnx_opset_version()):
        assert read(model([ADD], [X], [Y], W, opset=opset), tmp_path).nodes
