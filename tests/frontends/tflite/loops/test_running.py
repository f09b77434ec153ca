"""WHILE and IF: subgraphs become loops and branches, whose rounds are counted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from microgen.base.errors import MicrogenError, ModelError, UnsupportedError
from microgen.compiler import passes
from microgen.frontends.numerics import profile
from microgen.frontends.tflite import convert as frontend
from microgen.frontends.tflite.litert import LiteRT
from microgen.graph.ir.graph import DType, Graph
from microgen.graph.ir.interpreter import evaluate
from microgen.graph.ops import registry
from microgen.graph.ops.control.loop import LoopAttrs
from tests.frontends.tweaked import LONGEST_REFUSAL
from tests.kernels.conformance.litert_oracle import interpreter_of, needs_litert
from tests.support import tflite_loops as loops
from tests.support.tflite_builder import OperatorSpec, SubgraphSpec, build_model


def load(data: bytes, *most: str) -> Graph:
    return frontend.load(data, file="m.tflite", numerics=profile("litert"), max_rounds=most)


def loop_of(graph: Graph) -> LoopAttrs:
    (attrs,) = (node.attrs for node in graph.nodes if isinstance(node.attrs, LoopAttrs))
    return attrs


@needs_litert
@pytest.mark.parametrize(
    "make",
    [
        *(loops.recurrent, loops.nested, loops.in_condition, loops.swapping, loops.quantized),
        *(loops.branching, lambda: loops.branching(True), lambda: loops.branching(False)),
        *(loops.writing_rows, lambda: loops.recurrent(0), lambda: loops.swapping(4)),
    ],
)
def test_loops_and_branches_are_those_of_litert(make: Callable[[], bytes]) -> None:
    data = make()
    graph, rng = load(data), np.random.default_rng(1)
    oracle = interpreter_of(data)
    for own in (graph, passes.run(graph)):
        for _ in range(3):
            inputs = {}
            for detail, name in zip(oracle.get_input_details(), own.inputs, strict=True):
                kind = own.types[name]
                values = rng.normal(size=kind.shape) * (40 if kind.dtype is DType.INT8 else 1)
                inputs[name] = values.astype(kind.dtype.numpy)
                oracle.set_tensor(detail["index"], inputs[name])
            oracle.invoke()
            found = evaluate(own, inputs, registry())
            for detail, name in zip(oracle.get_output_details(), own.outputs, strict=True):
                wanted = oracle.get_tensor(detail["index"])
                np.testing.assert_allclose(found[name], wanted, rtol=0, atol=2e-6)


def test_a_tensor_that_no_round_changes_is_no_variable() -> None:
    attrs = loop_of(load(loops.recurrent()))
    assert attrs.body.variables == ("n", "h")
    assert attrs.body.inputs == ("x",)
    assert attrs.rounds == loops.ROWS
    assert attrs.condition is None


def test_a_row_that_is_written_in_each_round_is_one_operator() -> None:
    graph = passes.run(load(loops.writing_rows()))
    ops = [node.op for node in loop_of(graph).body.nodes]
    assert ops.count("dynamic_update_slice") == 1
    assert "concatenate" not in [n.op for n in loop_of(graph).body.nodes if len(n.inputs) == 3]


def test_a_constant_branch_is_one_of_its_graphs() -> None:
    for truth, op in ((True, "add"), (False, "tanh")):
        graph = passes.run(load(loops.branching(truth)))
        assert [(node.op, node.outputs) for node in graph.nodes] == [(op, ("y",))]


@needs_litert
def test_a_state_inside_a_loop_begins_anew_in_each_inference() -> None:
    """LiteRT resets it, except if it preserves all tensors, as it does for comparisons."""
    from ai_edge_litert.interpreter import Interpreter

    data = loops.with_state()
    graph = load(data)
    assert not graph.variables
    x = np.ones((1, 2), np.float32)
    ours = evaluate(graph, {"x": x}, registry())[graph.outputs[0]]
    make: Any = Interpreter  # the package has no annotations
    interpreter = make(model_content=data)
    interpreter.allocate_tensors()
    compared = LiteRT().layers({".tflite": data}, [[x], [x]])
    for _ in range(2):
        interpreter.set_tensor(interpreter.get_input_details()[0]["index"], x)
        interpreter.invoke()
        (output,) = interpreter.get_output_details()
        np.testing.assert_allclose(ours, interpreter.get_tensor(output["index"]), rtol=1e-6)
        np.testing.assert_allclose(ours, next(compared)["h1"], rtol=1e-6)


def test_the_most_rounds_are_given_for_a_loop_that_data_end() -> None:
    data = loops.counted_by_input()
    graph = load(data, "n1=6")
    attrs = loop_of(graph)
    assert attrs.condition is not None
    assert (attrs.rounds, attrs.condition.inputs) == (6, ("n", "limit"))
    x = np.random.default_rng(0).normal(size=loops.X).astype(np.float32)
    for own in (graph, passes.run(graph)):
        for limit in (0, 1, 4):
            given = {"x": x, "limit": np.array(limit, np.int32)}
            assert evaluate(own, given, registry())["n1"] == limit
    for given, sentence in (
        (["n1=0"], "'0' is not a number of rounds of 'n1'"),
        (["n1=4", "h1=2"], 'has no loop "h1" whose number of rounds depends on data; it has "n1"'),
        (["n1"], "'n1' is not of the form LAYER=N"),
    ):
        with pytest.raises(MicrogenError) as caught:
            load(data, *given)
        assert sentence in str(caught.value).replace("--max-rounds: ", "")
    with pytest.raises(MicrogenError, match="it has none: leave --max-rounds out"):
        load(loops.recurrent(), "n1=4")


def test_a_value_that_litert_replaces_too_early_is_refused() -> None:
    """Of values that change places LiteRT makes two equal ones."""
    data = loops.swapping()
    assert loop_of(load(data)).body.updates["a"] == "b"
    assert "for which LiteRT takes the value that has replaced it" in str(
        refusal(loops.swapping(outputs=("b", "a")))
    )


def refusal(data: bytes) -> MicrogenError:
    with pytest.raises((ModelError, UnsupportedError)) as caught:
        passes.run(load(data))
    assert len(str(caught.value)) < LONGEST_REFUSAL
    return caught.value


def with_subgraphs(condition: SubgraphSpec, body: SubgraphSpec, numbers: tuple[int, int]) -> bytes:
    tensors = [loops.real("x", loops.X), loops.number("n0", 0)]
    tensors.append(loops.real("h0", loops.H, np.zeros(loops.H)))
    tensors += [loops.number("n1"), loops.real("h1", loops.H), loops.real("x1", loops.X)]
    loop = loops.while_(["n0", "h0", "x"], ["n1", "h1", "x1"], *numbers)
    return build_model(tensors, [loop], ["x"], ["h1"], more=[condition, body])


BELOW, CELL = loops.below(3), loops.cell()


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (loops.counted_by_input(), "number of rounds that depends on data"),
        (loops.recurrent(10**6), "number of rounds that depends on data"),
        (with_subgraphs(BELOW, CELL, (1, 7)), "runs subgraph 7, which the file does not have"),
        (with_subgraphs(BELOW, CELL, (1, 0)), "runs subgraph 0, which the file does not have"),
        (with_subgraphs(BELOW, CELL, (2, 2)), "has a condition that is not one bool"),
        (
            with_subgraphs(BELOW, replace(CELL, inputs=["n", "h"]), (1, 2)),
            "gives 3 tensors",
        ),
        (
            with_subgraphs(BELOW, replace(CELL, outputs=["next"]), (1, 2)),
            "other types than its inputs",
        ),
        (
            with_subgraphs(BELOW, replace(CELL, outputs=["next", "one", "x"]), (1, 2)),
            "other types than its inputs",
        ),
        (
            with_subgraphs(BELOW, replace(CELL, inputs=["h", "n", "x"]), (1, 2)),
            'layer "mixed"',
        ),
        (
            with_subgraphs(
                BELOW,
                replace(
                    CELL, operators=[loops.while_(["n", "h", "x"], ["next", "new", "row"], 1, 2)]
                ),
                (1, 2),
            ),
            "runs subgraphs more than 8 deep",
        ),
        (
            with_subgraphs(
                BELOW, replace(CELL, operators=[OperatorSpec("TANH", ["h"], [])]), (1, 2)
            ),
            "has no output",
        ),
    ],
)
def test_loops_that_cannot_be_are_refused(data: bytes, sentence: str) -> None:
    assert sentence in str(refusal(data))
