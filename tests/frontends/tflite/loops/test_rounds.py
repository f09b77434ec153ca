"""The number of rounds of a loop, and loops that are malformed or that nothing here runs."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from microgen.base.errors import MicrogenError, ModelError, UnsupportedError
from microgen.frontends.numerics import profile
from microgen.frontends.tflite import convert
from microgen.graph.ir.graph import Graph
from microgen.graph.ir.interpreter import evaluate
from microgen.graph.ops import registry
from tests.kernels.conformance.litert_oracle import interpreter_of, needs_litert
from tests.support.loop_networks import Part
from tests.support.tflite_builder import OperatorSpec, SubgraphSpec, TensorSpec, build_model


@dataclasses.dataclass
class Loop:
    """i counts from ``start`` by ``step`` while i ``test`` ``limit``, and x stays what it is."""

    start: int = 0
    step: int = 1
    test: str = "LESS"
    limit: int = 3
    numbers: tuple[int, int] = (1, 2)  # of the subgraphs
    body: SubgraphSpec | None = None
    condition: SubgraphSpec | None = None

    def load(self) -> Graph:
        """The graph."""
        main = Part("m")
        x, i = main.tensor("x", (2,)), main.constant(self.start, "int32")
        outputs = [main.tensor("n", (), "int32"), main.tensor("y", (2,))]
        options = dict(zip(("condSubgraphIndex", "bodySubgraphIndex"), self.numbers, strict=True))
        main.operators.append(OperatorSpec("WHILE", [i, x], outputs, "WhileOptions", options))
        more = [self.condition or self._condition(), self.body or self._body()]
        data = build_model(main.tensors, main.operators, [x], outputs, more=more)
        return convert.load(data, file="m.tflite", numerics=profile("litert"))

    def _condition(self) -> SubgraphSpec:
        part, ports = ports_of("c")
        test = part.add(self.test, [ports[0], part.constant(self.limit, "int32")], dtype="bool")
        return SubgraphSpec(part.tensors, part.operators, ports, [test])

    def _body(self) -> SubgraphSpec:
        part, ports = ports_of("b")
        count = part.add("ADD", [ports[0], part.constant(self.step, "int32")], dtype="int32")
        return SubgraphSpec(part.tensors, part.operators, ports, [count, ports[1]])


def ports_of(prefix: str) -> tuple[Part, list[str]]:
    """A subgraph with the two inputs of a loop."""
    part = Part(prefix)
    return part, [part.tensor(f"{prefix}i", (), "int32"), part.tensor(f"{prefix}x", (2,))]


def refusal(loop: Loop, kind: type[MicrogenError]) -> str:
    """The message with which a loop is refused."""
    with pytest.raises(kind) as caught:
        loop.load()
    assert type(caught.value) is kind
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_no_round_passes_the_values_on() -> None:
    graph = Loop(limit=0).load()
    x = np.array([1.5, -2], np.float32)
    values = evaluate(graph, {"x": x}, registry())
    assert values["n"] == 0
    np.testing.assert_array_equal(values["y"], x)


def test_an_endless_loop_is_refused() -> None:
    assert "number of rounds that depends on data" in refusal(Loop(step=0), UnsupportedError)


def test_a_condition_on_data_is_refused() -> None:
    part, ports = ports_of("c")
    first = part.add("REDUCE_MAX", [ports[1], part.constant([0], "int32")])
    test = part.add("LESS", [first, part.constant(3.0)], dtype="bool")
    condition = SubgraphSpec(part.tensors, part.operators, ports, [test])
    said = refusal(Loop(condition=condition), UnsupportedError)
    assert "depends on data; give the most rounds: --max-rounds n=N" in said


@pytest.mark.parametrize(
    ("loop", "kind", "said"),
    [
        (Loop(numbers=(1, 7)), ModelError, "runs subgraph 7, which the file does not have"),
        (Loop(numbers=(1, 0)), ModelError, "runs subgraph 0"),
        (Loop(numbers=(2, 2)), ModelError, "has a condition that is not one bool"),
        (Loop(numbers=(1, 1)), ModelError, "body whose outputs have other types"),
    ],
)
def test_malformed(loop: Loop, kind: type[MicrogenError], said: str) -> None:
    assert said in refusal(loop, kind)


def test_a_loop_inside_itself_is_refused() -> None:
    part, ports = ports_of("b")
    outputs = [part.tensor("bn", (), "int32"), part.tensor("by", (2,))]
    options = {"condSubgraphIndex": 1, "bodySubgraphIndex": 2}
    part.operators.append(OperatorSpec("WHILE", ports, outputs, "WhileOptions", options))
    body = SubgraphSpec(part.tensors, part.operators, ports, outputs)
    assert "more than 8 deep" in refusal(Loop(body=body), UnsupportedError)


def test_a_body_that_is_no_cell_is_a_loop() -> None:
    part, ports = ports_of("b")
    count = part.add("ADD", [ports[0], part.constant(1, "int32")], dtype="int32")
    doubled = part.add("ADD", [ports[1], ports[1]], 2)
    body = SubgraphSpec(part.tensors, part.operators, ports, [count, doubled])
    graph = Loop(body=body).load()
    assert [node.op for node in graph.nodes] == ["loop"]
    x = np.array([1.5, -2], np.float32)
    np.testing.assert_array_equal(evaluate(graph, {"x": x}, registry())["y"], 8 * x)


def counting(operator: str, value: int, fused: int = 0) -> SubgraphSpec:
    """A body that computes the counter otherwise, and doubles x."""
    part, ports = ports_of("b")
    count = part.add(operator, [ports[0], part.constant(value, "int32")], dtype="int32")
    part.operators[-1] = dataclasses.replace(
        part.operators[-1],
        options_type=f"{operator.title()}Options",
        options={"fusedActivationFunction": fused},
    )
    doubled = part.add("ADD", [ports[1], ports[1]], 2)
    return SubgraphSpec(part.tensors, part.operators, ports, [count, doubled])


@pytest.mark.parametrize(
    ("loop", "rounds"),
    [
        (Loop(start=2**31 - 2, test="GREATER", limit=0, body=counting("ADD", 1)), 2),  # wraps
        (Loop(start=1, limit=100, body=counting("MUL", 3)), 5),
        (Loop(start=-8, test="LESS_EQUAL", limit=4, body=counting("ADD", 2, fused=1)), 4),
    ],
)
def test_rounds_are_counted_as_the_body_counts_them(loop: Loop, rounds: int) -> None:
    graph = loop.load()
    values = evaluate(graph, {"x": np.array([1, -2], np.float32)}, registry())
    np.testing.assert_array_equal(values["y"], np.array([1, -2], np.float32) * 2**rounds)


def test_a_counter_that_an_activation_stops_has_no_end() -> None:
    """It would end after two rounds if RELU did not keep it at 0."""
    loop = Loop(start=3, test="GREATER", limit=-1, body=counting("ADD", -2, fused=1))
    assert "depends on data" in refusal(loop, UnsupportedError)


@needs_litert
def test_a_quantized_counter_is_counted_in_its_own_steps() -> None:
    def stored(name: str, value: int | None = None, scale: float = 0.5) -> TensorSpec:
        data = None if value is None else np.array([value], np.int8)
        return TensorSpec(name, (1,), "int8", data, (scale,), (1,))

    main, condition, body = (Part(prefix) for prefix in "mcb")
    main.tensors += [stored("i", 1), stored("n")]
    outputs = ["n", main.tensor("y", (2,))]
    options = {"condSubgraphIndex": 1, "bodySubgraphIndex": 2}
    inputs = ["i", main.tensor("x", (2,))]
    main.operators.append(OperatorSpec("WHILE", inputs, outputs, "WhileOptions", options))
    condition.tensors += [stored("ci"), stored("limit", 20)]
    x = condition.tensor("cx", (2,))
    test = condition.add("LESS", ["ci", "limit"], 1, dtype="bool")
    body.tensors += [stored("bi"), stored("step", 5, 0.25), stored("next")]
    body.operators.append(OperatorSpec("ADD", ["bi", "step"], ["next"], "AddOptions"))
    doubled = body.add("ADD", [body.tensor("bx", (2,)), "bx"], 2)
    more = [
        SubgraphSpec(condition.tensors, condition.operators, ["ci", x], [test]),
        SubgraphSpec(body.tensors, body.operators, ["bi", "bx"], ["next", doubled]),
    ]
    data = build_model(main.tensors, main.operators, ["x"], outputs, more=more)
    graph = convert.load(data, file="m.tflite", numerics=profile("litert"))
    value = np.array([1.5, -2], np.float32)
    found = evaluate(graph, {"x": value}, registry())
    interpreter = interpreter_of(data)
    interpreter.set_tensor(interpreter.get_input_details()[0]["index"], value)
    interpreter.invoke()
    for name, detail in zip(outputs, interpreter.get_output_details(), strict=True):
        np.testing.assert_array_equal(found[name], interpreter.get_tensor(detail["index"]))
