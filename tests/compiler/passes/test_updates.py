"""Variables in random graphs: no pass, and no order of the nodes, changes a sequence of results."""

from __future__ import annotations

import numpy as np
import pytest

from microgen.base.errors import InternalError
from microgen.compiler import lowering, partition, passes
from microgen.compiler.codegens.builtin import CODEGEN
from microgen.compiler.passes.dead_code import dead_code
from microgen.compiler.passes.own_copies import own_updates
from microgen.compiler.passes.slide_windows import slide_windows
from microgen.graph.arithmetic.terms import Activation
from microgen.graph.ir import verify
from microgen.graph.ir.graph import Array, ArrayType, DType, Graph, Node
from microgen.graph.ir.interpreter import evaluate, initial_state
from microgen.graph.ops import registry
from microgen.graph.ops.base import Operands
from microgen.graph.ops.elementwise.addition import AddAttrs
from microgen.graph.ops.moves.layouts import ConcatenateAttrs
from microgen.graph.ops.moves.slices import StridedSliceAttrs
from microgen.planner import check, plan
from microgen.planner.pools import parse
from microgen.planner.program.types import Program, Role
from microgen.target import board
from tests.support.graphs import DEFAULT, Builder, random_graph
from tests.support.sampling import seeds

SHAPE = (1, 3, 1, 4)
NATIVE = board.load("native")


class Variables(Builder):
    """Also makes variables."""

    def __init__(self, seed: int = 0) -> None:
        super().__init__(seed)
        self.variables: dict[str, Array] = {}
        self.updates: dict[str, str] = {}

    def variable(self, *shape: int) -> str:
        name = f"variable{len(self.variables)}"
        self.types[name] = ArrayType(shape, DType.INT8, DEFAULT)
        self.variables[name] = self.rng.integers(-128, 128, shape).astype(np.int8)
        return name

    def last(self, data: str, rows: int) -> str:
        shape = self.types[data].shape
        begin = (0, shape[1] - rows, 0, 0)
        attrs = StridedSliceAttrs(begin, (1,) * 4, (1, rows, *shape[2:]))
        return self.node("strided_slice", attrs, data)

    def join(self, *parts: str) -> str:
        return self.node("concatenate", ConcatenateAttrs(1), *parts)

    def graph(self, *outputs: str) -> Graph:
        return (
            super()
            .graph(*outputs)
            .replace(
                variables=tuple(self.variables),
                initial=self.variables,
                updates=self.updates,
            )
        )


def _random(seed: int) -> Graph:
    """A graph of additions and windows with variables, which are updated with anything."""
    b = Variables(seed)
    rng = b.rng
    names = [b.input(*SHAPE), *(b.variable(*SHAPE) for _ in range(int(rng.integers(1, 4))))]
    for _ in range(int(rng.integers(1, 9))):
        data = str(rng.choice(names))
        choice = rng.integers(5)
        if choice == 0:
            flat = b.reshape(data, 12)
            names.append(b.reshape(flat, *SHAPE))
        elif choice == 1:
            window = b.join(data, b.last(str(rng.choice(names)), int(rng.integers(1, 3))))
            names.append(b.last(window, 3))
        elif choice == 2:
            rows = int(rng.integers(1, 3))
            names.append(b.join(b.last(data, 3 - rows), b.last(str(rng.choice(names)), rows)))
        else:
            names.append(b.node("add", AddAttrs(Activation.NONE), data, str(rng.choice(names))))
    b.updates = {v: str(rng.choice(names)) for v in b.variables}
    if rng.random() < 0.3:
        variable = b.variable(*SHAPE)
        window = b.join(variable, b.last(str(rng.choice(names)), int(rng.integers(1, 4))))
        b.updates[variable] = b.last(window, 3)
        names.append(b.last(window, 3))
    outputs = dict.fromkeys(rng.choice(names, int(rng.integers(1, 4))).tolist())
    return b.graph(*outputs)


SEEDS = [*range(80), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(80, 200))]


def _sequence(graph: Graph, seed: int) -> list[bytes]:
    rng, state = np.random.default_rng(seed), initial_state(graph)
    found = []
    for _ in range(4):
        inputs = {n: rng.integers(-128, 128, SHAPE).astype(np.int8) for n in graph.inputs}
        values = evaluate(graph, inputs, registry(), state)
        found += [values[name].tobytes() for name in graph.outputs]
    return found


@pytest.mark.sampled(40)
@pytest.mark.parametrize("seed", SEEDS)
def test_no_pass_changes_a_sequence(seed: int) -> None:
    graph = _random(seed)
    verify.check(graph, registry())
    expected = _sequence(graph, seed)
    for step in passes.DEFAULT_PIPELINE:
        graph = step(graph)
        verify.check(graph, registry())
        assert _sequence(graph, seed) == expected, step.__name__


def _program(graph: Graph) -> Program:
    parts = partition.assign(passes.run(graph), [CODEGEN], NATIVE)
    codegens = {CODEGEN.name: CODEGEN}
    return lowering.lower(parts, codegens, NATIVE, module="m", output_names=graph.outputs)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_value_is_replaced_after_its_last_reader(seed: int) -> None:
    """Each call's results are computed by the reference into buffers, as the firmware does."""
    graph = _random(seed)
    final, program = passes.run(graph), _program(graph)
    planned = plan(program, algorithm="optimal", pools=parse((), 16))
    assert check.problems(program, planned) == []
    assert _by_buffers(final, program, seed) == _sequence(graph, seed)


def _by_buffers(graph: Graph, program: Program, seed: int) -> list[bytes]:
    """The outputs of the program's calls, computed in its buffers one after another."""
    state, rng = initial_state(graph), np.random.default_rng(seed)
    memory = {b.name: state[b.tensor].tobytes() for b in program.state}
    tensors = {p.tensor: name for p, name in zip(program.outputs, graph.outputs, strict=True)}
    nodes = {node.outputs[0]: node for node in graph.nodes}
    found = []
    for _ in range(4):
        for port in program.inputs:
            memory[port.name] = rng.integers(-128, 128, SHAPE).astype(np.int8).tobytes()
        for call in program.calls:
            # An output that is copied, and its copy, are both calls for the tensor in the model.
            (step,) = call.steps
            named = (tensors.get(step.tensor), step.tensor)
            known = (nodes[name] for name in named if name in nodes)
            node = next(node for node in known if f"_fused_{node.op}" in call.function)
            roles = [p.role for p in program.function(call.function).parameters]
            reads = [a.name for a, r in zip(call.args, roles, strict=True) if r is Role.INPUT]
            computed = dict.fromkeys(n for n in node.inputs if n not in graph.constants)
            places = dict(zip(computed, reads, strict=False))
            memory[call.args[roles.index(Role.OUTPUT)].name] = _computed(
                node, graph, {name: memory[place] for name, place in places.items()}
            )
        found += [memory[port.name] for port in program.outputs]
    return found


def _computed(node: Node, graph: Graph, known: dict[str, bytes]) -> bytes:
    arrays = tuple(
        np.frombuffer(known[name], np.int8).reshape(graph.types[name].shape)
        if name in known
        else graph.constants[name]
        for name in node.inputs
    )
    operands = Operands(arrays, graph.type_of(node.inputs), graph.type_of(node.outputs))
    (result,) = registry()[node.op].reference(node.attrs, operands)
    return result.tobytes()


def test_random_graphs_exercise_both_passes_and_both_places() -> None:
    graphs = [_random(seed) for seed in seeds(200)]
    finals = [passes.run(graph) for graph in graphs]
    assert sum("slide" in [n.op for n in graph.nodes] for graph in finals) > len(graphs) // 40
    copies = [sum("#next" in n.outputs[0] for n in graph.nodes) for graph in finals]
    made = [sum("#next" in c.steps[0].tensor for c in _program(g).calls) for g in graphs]
    assert 0 < sum(made) < sum(copies)
    assert any("#then" in n.outputs[0] for graph in finals for n in graph.nodes)


# Windows


def _window(*, slices_first: bool = False) -> tuple[Variables, str]:
    b = Variables()
    data, variable = b.input(1, 1, 1, 4), b.variable(*SHAPE)
    if slices_first:
        window = b.join(b.last(variable, 2), data)
        b.updates[variable] = window
    else:
        window = b.join(variable, data)
        b.updates[variable] = b.last(window, 3)
    return b, window


@pytest.mark.parametrize("slices_first", [False, True])
def test_a_window_becomes_one_node(slices_first: bool) -> None:
    b, window = _window(slices_first=slices_first)
    graph = dead_code(slide_windows(b.graph(b.clip(window, Activation.RELU))))
    assert [node.op for node in graph.nodes] == ["slide", "clip"]
    (variable,) = graph.variables
    assert dict(graph.updates) == {variable: window}
    assert graph.types[variable].shape == ((1, 3, 1, 4) if slices_first else (1, 4, 1, 4))


@pytest.mark.parametrize("slices_first", [False, True])
def test_a_variable_with_another_reader_is_no_window(slices_first: bool) -> None:
    b, window = _window(slices_first=slices_first)
    other = b.clip("variable0", Activation.RELU)
    graph = b.graph(b.clip(window, Activation.RELU), other)
    assert slide_windows(graph) == graph


def test_rows_that_are_not_the_last_are_no_window() -> None:
    b, window = _window()
    attrs = StridedSliceAttrs((0, 0, 0, 0), (1,) * 4, SHAPE)
    b.updates["variable0"] = b.node("strided_slice", attrs, window)
    graph = b.graph(window)
    assert slide_windows(graph) == graph


def test_a_variable_without_a_reader_is_kept() -> None:
    """So nothing removes an assignment."""
    b = Variables()
    b.updates[b.variable(*SHAPE)] = b.clip(b.input(*SHAPE), Activation.RELU)
    graph = passes.run(b.graph("input0"))
    assert list(graph.updates) == ["variable0"]
    assert "clip" in [node.op for node in graph.nodes]


def test_a_variable_that_keeps_its_value_has_no_copy() -> None:
    b = Variables()
    variable = b.variable(*SHAPE)
    b.updates[variable] = b.reshape(b.reshape(variable, 12), *SHAPE)
    graph = own_updates(b.graph(b.add(variable, b.input(*SHAPE))))
    assert dict(graph.updates) == {variable: variable}
    assert "copy" not in [node.op for node in graph.nodes]


# What the checks find


def test_an_update_of_another_shape_is_found() -> None:
    b = Variables()
    b.updates[b.variable(*SHAPE)] = b.input(1, 1, 1, 4)
    with pytest.raises(InternalError, match="its next value int8"):
        verify.check(b.graph("input0"), registry())


def test_an_update_of_something_else_is_found() -> None:
    b = Variables()
    b.updates[b.input(*SHAPE)] = "input0"
    with pytest.raises(InternalError, match="not a variable"):
        verify.check(b.graph("input0"), registry())


def test_a_reader_after_the_update_is_found() -> None:
    """An order that no pass makes."""
    b = Variables()
    variable = b.variable(*SHAPE)
    total = b.add(variable, b.input(*SHAPE))
    b.updates[variable] = b.clip("input0", Activation.RELU)
    graph = passes.run(b.graph(total))
    nodes = sorted(graph.nodes, key=lambda node: variable in node.inputs)
    parts = partition.assign(graph.replace(nodes=tuple(nodes)), [CODEGEN], NATIVE)
    codegens = {CODEGEN.name: CODEGEN}
    with pytest.raises(InternalError, match="after region"):
        lowering.lower(parts, codegens, NATIVE, module="m", output_names=graph.outputs)


def test_graphs_without_variables_are_unchanged() -> None:
    graph = random_graph(3)
    assert own_updates(slide_windows(graph)) == graph
