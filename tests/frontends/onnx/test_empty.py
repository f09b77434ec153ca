"""Tensors without elements: what is made of them, and which are refused."""

from __future__ import annotations

import random
import warnings
from pathlib import Path

import numpy as np
import pytest
from onnx import ModelProto, NodeProto, helper, numpy_helper

from microgen import frontends
from microgen.base.errors import InternalError, MicrogenError
from microgen.graph.ir.graph import Array, DType
from microgen.graph.ir.interpreter import evaluate
from microgen.graph.ops import registry
from tests.frontends.onnx import node_tests
from tests.frontends.onnx.models import info, model, written
from tests.frontends.onnx.node_tests import Case

_FLOATS = {
    "ReduceL1": 0.0,
    "ReduceL2": 0.0,
    "ReduceLogSum": -np.inf,
    "ReduceLogSumExp": -np.inf,
    "ReduceMax": -np.inf,
    "ReduceMin": np.inf,
    "ReduceProd": 1.0,
    "ReduceSum": 0.0,
    "ReduceSumSquare": 0.0,
}


def _reducing(op: str, empty: Array, keep: int, axis: int = 1) -> ModelProto:
    """The reduction of a constant, next to a node that reads the input."""
    nodes = [
        helper.make_node(op, ["e", "axes"], ["r"], keepdims=keep),
        helper.make_node("Neg", ["x"], ["y"]),
    ]
    constants = {"e": empty, "axes": np.array([axis])}
    outputs = [info("y", None), helper.make_empty_tensor_value_info("r")]
    return model(nodes, [info("x", (1,))], outputs, constants)


def _result(found: ModelProto, folder: Path) -> Array:
    graph = frontends.load(written(found, folder))
    return evaluate(graph, {"x": np.zeros(1, np.float32)}, registry())[graph.outputs[-1]]


@pytest.mark.parametrize("op", _FLOATS)
@pytest.mark.parametrize("keep", [0, 1])
def test_reductions_of_nothing_have_their_identity(op: str, keep: int, tmp_path: Path) -> None:
    found = _result(_reducing(op, np.empty((2, 0, 3), np.float32), keep), tmp_path)
    expected = np.full((2, *[1] * keep, 3), _FLOATS[op], np.float32)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.bool_])
def test_extremes_of_nothing_are_the_ends_of_the_range(dtype: type, tmp_path: Path) -> None:
    empty = np.empty((2, 0), dtype)
    least, most = (0, 1) if dtype is np.bool_ else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    for op, expected in (("ReduceMax", least), ("ReduceMin", most)):
        found = _result(_reducing(op, empty, 0), tmp_path)
        assert found.tolist() == [expected, expected]


def _rotating() -> list[NodeProto]:
    """All of the data are in the first part."""
    return [
        helper.make_node("Split", ["x", "sizes"], ["a", "b"], axis=1),
        helper.make_node("Neg", ["a"], ["n"]),
        helper.make_node("Mul", ["b", "b"], ["m"]),
        helper.make_node("Concat", ["n", "m"], ["y"], axis=1),
    ]


def test_a_part_without_elements_is_left_out(tmp_path: Path) -> None:
    found = model(
        _rotating(), [info("x", (1, 4))], [info("y", (1, 4))], {"sizes": np.array([4, 0])}
    )
    graph = frontends.load(written(found, tmp_path))
    assert [node.op for node in graph.nodes] == ["negative"]
    assert graph.types["y"].dtype is DType.FLOAT32


@pytest.mark.parametrize(
    ("found", "sentence"),
    [
        (
            model(_rotating(), [info("x", (1, 4))], [info("m", None)], {"sizes": np.array([4, 0])}),
            r'the output "m": float32\[1,0\] has no elements',
        ),
        (_reducing("ReduceMean", np.empty((2, 0), np.float32), 1), "has no value"),
        (_reducing("ReduceSum", np.empty((2, 0), np.float32), 1, 0), 'the output "r"'),
        (_reducing("ReduceSum", np.empty((2, 0), np.uint16), 1), "of uint16"),
    ],
)
def test_refusals(found: ModelProto, sentence: str, tmp_path: Path) -> None:
    with pytest.raises(MicrogenError, match=sentence):
        frontends.load(written(found, tmp_path))


def _emptied(case: Case, seed: int) -> ModelProto:
    """The test's model with an input of which an axis has no elements. Other inputs but the first
    are constants."""
    found = ModelProto()
    found.CopyFrom(case.model)
    rng, values = random.Random(seed), case.named_inputs
    for each in (*found.graph.output, *found.graph.value_info):
        each.type.tensor_type.ClearField("shape")
    ports = [each for each in found.graph.input if len(each.type.tensor_type.shape.dim)]
    empty = rng.choice(ports).name if ports else ""
    for port in list(found.graph.input):
        value = values.get(port.name)
        if port.name == empty:
            rng.choice(list(port.type.tensor_type.shape.dim)).dim_value = 0
        elif port.name != case.model.graph.input[0].name and isinstance(value, np.ndarray):
            found.graph.initializer.append(numpy_helper.from_array(value, port.name))
    return found


def _is_broken(case: Case, seed: int, path: Path) -> str:
    """What is raised for the model if it is not a sentence."""
    path.write_bytes(_emptied(case, seed).SerializeToString())
    try:
        frontends.load(path)
    except InternalError as error:
        return f"{case.name}: {error}"
    except MicrogenError:
        return ""
    except Exception as error:  # which is what the test looks for
        return f"{case.name}: {type(error).__name__}: {error}"
    return ""


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_inputs_without_elements_are_refused_by_a_sentence_or_read(
    seed: int, tmp_path: Path
) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        broken = [_is_broken(case, seed, tmp_path / "m.onnx") for case in node_tests.cases()]
    assert [each for each in broken if each] == []
