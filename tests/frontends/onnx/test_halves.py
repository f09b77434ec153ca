"""Constants and whole networks of 16-bit floats."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import ModelProto, TensorProto, helper, numpy_helper

import microgen
from microgen import frontends
from microgen.base.errors import UnsupportedError
from microgen.frontends.model_format import Request
from microgen.frontends.onnx import halves, reader
from microgen.frontends.onnx.oracle.ort import OnnxRuntime
from microgen.graph.ir.interpreter import evaluate
from microgen.graph.ops import registry
from tests.frontends.onnx.models import info, model, written

FLOAT16, BFLOAT16, FLOAT = TensorProto.FLOAT16, TensorProto.BFLOAT16, TensorProto.FLOAT
RNG = np.random.default_rng(16)


def stored(values: Any, kind: int) -> Any:
    return np.asarray(values, np.float32).astype(helper.tensor_dtype_to_np_dtype(kind))


def network(kind: int) -> ModelProto:
    """Layers of which each reads and makes 16-bit floats."""
    constants = {
        "w": stored(RNG.normal(size=(4, 3, 3, 3)) / 5, kind),
        "b": stored(RNG.normal(size=4), kind),
        "scale": stored(RNG.normal(size=4), kind),
        "half": stored(0.5, kind),
        "m": stored(RNG.normal(size=(4, 5)), kind),
    }
    nodes = [
        helper.make_node("Cast", ["x"], ["n"], to=kind),
        helper.make_node("Conv", ["n", "w", "b"], ["c"], pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["c"], ["r"]),
        helper.make_node("GlobalAveragePool", ["r"], ["p"]),
        helper.make_node("Flatten", ["p"], ["f"]),
        helper.make_node("LayerNormalization", ["f", "scale"], ["l"]),
        helper.make_node("Mul", ["l", "half"], ["h"]),
        helper.make_node("MatMul", ["h", "m"], ["d"]),
        helper.make_node("Softmax", ["d"], ["y"]),
    ]
    return model(nodes, [info("x", (1, 3, 6, 6))], [info("y", (1, 5), kind)], constants)


def by_graph(path: Path, given: Mapping[str, Any]) -> Any:
    graph = frontends.load(path)
    return evaluate(graph, given, registry())[graph.outputs[0]]


@pytest.mark.parametrize("kind", [FLOAT16, BFLOAT16])
def test_a_constant_after_cast_has_its_values_in_float32(kind: int, tmp_path: Path) -> None:
    weight = stored(RNG.normal(size=(3, 2)), kind)
    nodes = [
        helper.make_node("Cast", ["h"], ["w"], to=FLOAT),
        helper.make_node("MatMul", ["x", "w"], ["y"]),
    ]
    made = model(nodes, [info("x", (1, 3))], [info("y", (1, 2))], {"h": weight})
    graph = frontends.load(written(made, tmp_path))
    (dense,) = graph.nodes
    assert graph.constants[dense.inputs[1]].tolist() == weight.astype(np.float32).T.tolist()
    assert not graph.notes


@pytest.mark.skipif(bool(OnnxRuntime().lacking()), reason=OnnxRuntime().lacking())
def test_a_network_differs_from_float16_by_its_roundings(tmp_path: Path) -> None:
    import onnxruntime

    made = network(FLOAT16)
    data = RNG.normal(size=(1, 3, 6, 6)).astype(np.float32)
    session = onnxruntime.InferenceSession(made.SerializeToString())
    (expected,) = session.run(None, {"x": data})
    found = by_graph(written(made, tmp_path), {"x": data})
    assert found.dtype == np.float32
    assert np.abs(found - expected).max() <= 2.0**-8


@pytest.mark.skipif(bool(OnnxRuntime().lacking()), reason=OnnxRuntime().lacking())
@pytest.mark.parametrize("kind", [FLOAT16, BFLOAT16])
def test_every_layer_is_compared_with_onnx_runtime_in_float32(kind: int, tmp_path: Path) -> None:
    path = written(network(kind), tmp_path)
    microgen.generate(path, "native", tmp_path / "p")
    verdict = microgen.run(tmp_path / "p", compare=True).verdicts[1]
    assert (verdict.name, verdict.ok) == ("ONNX Runtime ORT_DISABLE_ALL", True)


def test_a_note_names_the_ports(tmp_path: Path) -> None:
    (note,) = frontends.load(written(network(FLOAT16), tmp_path)).notes
    assert note == (
        "layers of 16-bit floats are computed in float32, without rounding to 16 bits; in the "
        'firmware, "y" is float32'
    )


def test_a_bound_input_is_rounded_as_the_model_says(tmp_path: Path) -> None:
    nodes = [helper.make_node("Mul", ["x", "k"], ["y"])]
    ports = [info("x", (2,), FLOAT16), info("k", (), FLOAT16)]
    path = written(model(nodes, ports, [info("y", (2,), FLOAT16)]), tmp_path)
    graph = frontends.load(path, bind=("k=0.1",))
    assert [float(v) for v in graph.constants.values()] == [float(np.float16(0.1))]
    kept, _ = reader.read(path, Request(bind=("k=0.1",)))
    assert kept.graph.initializer[0].data_type == FLOAT16


def test_bits_of_floats_are_not_read(tmp_path: Path) -> None:
    nodes = [helper.make_node("BitCast", ["x"], ["y"], to=TensorProto.INT16)]
    made = model(nodes, [info("x", (2,), FLOAT16)], [info("y", (2,), TensorProto.INT16)], opset=26)
    with pytest.raises(UnsupportedError, match=r"makes int16 of float32\[2\]"):
        frontends.load(written(made, tmp_path))


def test_a_model_without_halves_remains_the_same_object() -> None:
    made = model([helper.make_node("Relu", ["x"], ["y"])], [info("x", (2,))], [info("y", (2,))])
    assert halves.widened(made) is made


def test_bodies_and_attributes_are_widened() -> None:
    value = numpy_helper.from_array(np.ones(1, np.float16))
    then = helper.make_graph(
        [helper.make_node("ConstantOfShape", ["s"], ["t"], value=value)],
        "then",
        [],
        [info("t", (2,), FLOAT16)],
    )
    node = helper.make_node("If", ["x"], ["y"], then_branch=then, else_branch=then)
    made = model([node], [info("x", (), TensorProto.BOOL)], [info("y", (2,), FLOAT16)])
    wide = halves.widened(made)
    branch = wide.graph.node[0].attribute[0].g
    assert branch.node[0].attribute[0].t.data_type == FLOAT
    assert {branch.output[0].type.tensor_type.elem_type} == {FLOAT}
    assert wide.graph.output[0].type.tensor_type.elem_type == FLOAT
