"""Operators that compare, operate on bool, or choose by it, from bytes to nodes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from microgen.base.errors import ModelError, UnsupportedError
from microgen.graph.ir.interpreter import evaluate
from microgen.graph.ops import registry
from microgen.graph.ops.comparisons.comparison import ComparisonAttrs, LogicalAttrs
from microgen.graph.ops.elementwise.choices import WhereAttrs
from tests.frontends.tweaked import Network, refusal
from tests.kernels.comparisons import comparisons, logicals
from tests.kernels.conformance.litert_oracle import interpreter_of, needs_litert
from tests.support.tflite_builder import OperatorSpec, TensorSpec

Shape = tuple[int, ...]


def network(code: str, options: str, dtype: str, output: str, shapes: tuple[Shape, ...]) -> Network:
    """One operator of fed tensors, to an output of the broadcast shape."""
    inputs = [TensorSpec(f"x{i}", shape, dtype) for i, shape in enumerate(shapes)]
    names = tuple(tensor.name for tensor in inputs)
    made = TensorSpec("y", np.broadcast_shapes(*shapes), output)
    return Network((*inputs, made), (OperatorSpec(code, names, ("y",), options),), inputs=names)


def select(code: str, condition: Shape, lhs: Shape = (2, 3), rhs: Shape = (2, 3)) -> Network:
    """A choice among float32 elements."""
    shapes = (condition, lhs, rhs)
    shape = lhs if code == "SELECT" else np.broadcast_shapes(*shapes)
    inputs = [TensorSpec(f"x{i}", each, "float32") for i, each in enumerate(shapes)]
    inputs[0] = TensorSpec("x0", condition, "bool")
    operator = OperatorSpec(code, ("x0", "x1", "x2"), ("y",), f"{OPTIONS[code]}Options")
    tensors = (*inputs, TensorSpec("y", shape, "float32"))
    return Network(tensors, (operator,), inputs=("x0", "x1", "x2"))


OPTIONS = {"SELECT": "Select", "SELECT_V2": "SelectV2"}


@pytest.mark.parametrize("op", comparisons.OPERATORS)
def test_comparisons(op: str) -> None:
    code, options = comparisons.OPERATORS[op]
    for given in (options, ""):
        (node,) = network(code, given, "int32", "bool", ((2, 3), (3,))).load().nodes
        assert (node.op, node.inputs, node.attrs) == (op, ("x0", "x1"), ComparisonAttrs())


@pytest.mark.parametrize("op", logicals.OPERATORS)
def test_logic(op: str) -> None:
    code, options = logicals.OPERATORS[op]
    shapes = ((2, 3), (3,))[: 1 if op == "logical_not" else 2]
    (node,) = network(code, options, "bool", "bool", shapes).load().nodes
    assert (node.op, node.attrs) == (op, LogicalAttrs())


@pytest.mark.parametrize("condition", [(), (2, 3)])
@pytest.mark.parametrize("code", OPTIONS)
def test_choices(code: str, condition: Shape) -> None:
    (node,) = select(code, condition).load().nodes
    assert (node.op, node.inputs, node.attrs) == ("where", ("x0", "x1", "x2"), WhereAttrs())


def test_a_condition_of_one_dimension_chooses_rows() -> None:
    graph = select("SELECT", (2,)).load()
    assert [node.op for node in graph.nodes] == ["reshape", "where"]
    assert graph.types[graph.nodes[0].outputs[0]].shape == (2, 1)


@needs_litert
@pytest.mark.parametrize(
    ("code", "condition", "shape"),
    [
        ("SELECT", (), (2, 3)),
        ("SELECT", (2,), (2, 3)),
        ("SELECT", (2,), (2,)),
        ("SELECT", (3,), (3, 3, 2)),
        ("SELECT", (2, 3), (2, 3)),
        ("SELECT_V2", (3,), (2, 3)),
        ("SELECT_V2", (4, 1, 1), (2, 3)),
    ],
)
def test_choices_equal_litert(code: str, condition: Shape, shape: Shape) -> None:
    model = select(code, condition, shape, shape)
    rng = np.random.default_rng(1)
    values = [rng.normal(size=each).astype(np.float32) for each in (condition, shape, shape)]
    values[0] = np.asarray(values[0] > 0)
    interpreter = interpreter_of(model.to_bytes())
    for details, value in zip(interpreter.get_input_details(), values, strict=True):
        interpreter.set_tensor(details["index"], value)
    interpreter.invoke()
    graph = model.load()
    found = evaluate(graph, dict(zip(graph.inputs, values, strict=True)), registry())
    theirs = interpreter.get_tensor(interpreter.get_output_details()[0]["index"])
    np.testing.assert_array_equal(found["y"], theirs)


@pytest.mark.parametrize(
    ("condition", "lhs", "rhs"), [((3,), (2, 3), (2, 3)), ((2, 3), (2, 3), (3,))]
)
def test_shapes_that_select_does_not_broadcast(condition: Shape, lhs: Shape, rhs: Shape) -> None:
    said = refusal(select("SELECT", condition, lhs, rhs), ModelError)
    assert "both must have the same shape, and the condition that shape" in said


def test_what_is_refused() -> None:
    ordered = network("LESS", "LessOptions", "bool", "bool", ((2,), (2,)))
    assert "the left input is bool[2]" in refusal(ordered, ModelError)
    output = network("EQUAL", "EqualOptions", "int32", "int32", ((2,), (2,)))
    assert "the output is int32[2]" in refusal(output, ModelError)
    three = network("LOGICAL_AND", "LogicalAndOptions", "bool", "bool", ((2,), (2,), (2,)))
    assert "has 3 inputs" in refusal(three, ModelError)


def compared(op: str, **constant: Any) -> Network:
    """int8[2, 3] with -5 as zero point, and a constant that the changes make infinite."""
    code, options = comparisons.OPERATORS[op]
    data = TensorSpec("x", (2, 3), "int8", scale=(0.01,), zero_point=(-5,))
    infinite = TensorSpec("c", (), "int8", np.int8(0), (np.inf,), (-128,))
    operator = OperatorSpec(code, ("x", "c"), ("y",), options)
    network = Network((data, infinite, TensorSpec("y", (2, 3), "bool")), (operator,))
    return network.with_tensor("c", **constant)


@pytest.mark.parametrize("op", ["equal", "not_equal"])
def test_no_quantized_number_is_infinite(op: str) -> None:
    graph = compared(op).load()
    (found,) = (value for name, value in graph.constants.items() if name == "y")
    np.testing.assert_array_equal(found, np.full((2, 3), op == "not_equal"))


@needs_litert
def test_litert_compares_with_infinity_as_with_zero_or_as_we_do() -> None:
    model = compared("equal")
    interpreter = interpreter_of(model.to_bytes())
    stored = np.array([[-5, -4, 0], [-128, 127, 5]], np.int8)
    interpreter.set_tensor(interpreter.get_input_details()[0]["index"], stored)
    interpreter.invoke()
    theirs = interpreter.get_tensor(interpreter.get_output_details()[0]["index"])
    # Where a conversion of an infinite double to an integer gives no zero, LiteRT aborts.
    np.testing.assert_array_equal(theirs, stored == -5)


def test_infinite_constants_that_are_refused() -> None:
    assert 'scale 0 of tensor "c" is inf' in refusal(compared("less"), ModelError)
    plain = compared("equal", dtype="int32", data=np.int32(0), zero_point=(0,))
    assert "inf" in refusal(plain, ModelError)
    other = compared("equal", shape=(2,), data=np.zeros(2, np.int8))
    assert "compares tensors of other shapes" in refusal(other, ModelError)
    wide = compared("equal", dtype="int16", data=np.int16(0), zero_point=(0,))
    assert "supported: int16" in refusal(wide, UnsupportedError)
