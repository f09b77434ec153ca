"""Resource variables in files: what becomes state, what becomes a constant, what is refused."""

from __future__ import annotations

import random
import struct
import time
from collections.abc import Callable

import numpy as np
import pytest

from microgen.base.errors import MicrogenError, ModelError, UnsupportedError
from microgen.frontends.numerics import profile
from microgen.frontends.tflite import convert as frontend
from microgen.graph.ir.graph import Array, Graph
from microgen.graph.ir.interpreter import evaluate, initial_state
from microgen.graph.ops import registry
from tests.frontends.tweaked import LONGEST_REFUSAL
from tests.kernels.conformance.litert_oracle import interpreter_of, needs_litert
from tests.support.streaming import Model, wake_word
from tests.support.tflite_builder import OperatorSpec, SubgraphSpec, TensorSpec

SHAPE = (1, 4)
SEVEN = np.full(SHAPE, 7, np.int8)
MUTANTS = 3000
SLOWEST_S = 1.0


def load(data: bytes, signature: str = "") -> Graph:
    numerics = profile("litert")
    return frontend.load(data, file="m.tflite", numerics=numerics, signature=signature)


def _sum(m: Model, a: str, b: str, name: str) -> str:
    return m.add("ADD", [a, b], m.tensor(name, SHAPE), "AddOptions")


def _model() -> tuple[Model, str, str]:
    """A model with an input and the handle of one variable, which begins at 7."""
    m = Model()
    return m, m.input("x", SHAPE), m.variable("v", SEVEN)


def _sequence(graph: Graph, samples: list[Array]) -> list[Array]:
    state, found = initial_state(graph), []
    for sample in samples:
        values = evaluate(graph, {"x": sample}, registry(), state)
        found.append(np.stack([values[name].reshape(SHAPE) for name in graph.outputs]))
    return found


def _assert_equals_litert(m: Model) -> Graph:
    model, rng = m.to_bytes(), np.random.default_rng(4)
    graph = load(model)
    samples = [rng.integers(-128, 128, SHAPE).astype(np.int8) for _ in range(5)]
    interpreter = interpreter_of(model)
    for sample, ours in zip(samples, _sequence(graph, samples), strict=True):
        interpreter.set_tensor(interpreter.get_input_details()[0]["index"], sample)
        interpreter.invoke()
        details = interpreter.get_output_details()
        theirs = np.stack([interpreter.get_tensor(d["index"]) for d in details])
        np.testing.assert_array_equal(ours, theirs)
    return graph


@needs_litert
def test_a_variable_that_is_read_and_assigned_is_state() -> None:
    m, x, v = _model()
    m.assign(v, _sum(m, m.read(v, "old", x), x, "sum"))
    m.outputs = ["sum"]
    graph = _assert_equals_litert(m)
    assert graph.variables == ("old",)
    assert dict(graph.updates) == {"old": "sum"}
    np.testing.assert_array_equal(graph.initial["old"], SEVEN)


@needs_litert
def test_a_variable_that_is_never_assigned_is_a_constant() -> None:
    m, x, v = _model()
    m.outputs = [_sum(m, m.read(v, "old", x), x, "sum")]
    graph = _assert_equals_litert(m)
    assert not graph.variables
    assert "old" in graph.constants


@needs_litert
def test_a_variable_that_is_assigned_before_it_is_read_needs_no_state() -> None:
    m, x, v = _model()
    m.assign(v, _sum(m, x, x, "double"))
    m.outputs = [_sum(m, m.read(v, "new", x), x, "sum")]
    assert not _assert_equals_litert(m).variables


@needs_litert
def test_reads_have_the_value_of_the_last_assignment_before_them() -> None:
    m, x, v = _model()
    first = m.read(v, "first", x)
    m.assign(v, _sum(m, first, x, "a"))
    second = m.read(v, "second", x)
    again = m.read(m.handle("v", "other handle"), "again", x)
    m.assign(v, _sum(m, second, again, "b"))
    m.assign(v, m.read(v, "third", x))
    m.outputs = ["a", "b", _sum(m, first, m.read(v, "last", x), "c")]
    graph = _assert_equals_litert(m)
    assert dict(graph.updates) == {"first": "third"}


@needs_litert
def test_variables_exchange_their_values() -> None:
    m, x, v = _model()
    w = m.variable("w", -SEVEN)
    old_v, old_w = m.read(v, "old v", x), m.read(w, "old w", x)
    m.assign(v, old_w)
    m.assign(w, old_v)
    m.outputs = [_sum(m, old_v, x, "a"), _sum(m, old_w, x, "b")]
    _assert_equals_litert(m)


@needs_litert
def test_a_variable_may_keep_an_input_a_constant_or_itself() -> None:
    m, x, v = _model()
    others = [m.variable(name, SEVEN + i) for i, name in enumerate("abc")]
    old = [m.read(handle, f"old{i}", x) for i, handle in enumerate((v, *others))]
    zeros = m.constant(SEVEN * 0, (0.1,))
    m.tensors[-1] = TensorSpec(zeros, SHAPE, "int8", SEVEN * 0, (0.1,), (-128,))
    for handle, value in zip((v, *others[:2]), (x, zeros, old[2]), strict=True):
        m.assign(handle, value)
    m.outputs = [_sum(m, name, x, f"sum{i}") for i, name in enumerate(old)]
    _assert_equals_litert(m)


# Refusals


def _refused(model: bytes, kind: type[MicrogenError], signature: str = "") -> str:
    with pytest.raises(kind) as caught:
        load(model, signature)
    assert type(caught.value) is kind
    assert len(str(caught.value)) <= LONGEST_REFUSAL
    return str(caught.value)


def _without_value(m: Model, x: str, v: str) -> None:
    m.read(v, "old", x)
    m.variables.pop("v")
    m.variable("w", SEVEN)


def _of_two_shapes(m: Model, x: str, v: str) -> None:
    m.tensor("other", (1, 5))
    m.read(v, "old", "other")


def _of_two_dtypes(m: Model, x: str, v: str) -> None:
    m.assign(v, m.add("CAST", [x], m.tensor("wide", SHAPE, "int32", None)))


def _assigned_otherwise(m: Model, x: str, v: str) -> None:
    m.read(v, "old", x)
    m.assign(v, m.reshape(x, "other", (4, 1)))


def _handle_as_a_tensor(m: Model, x: str, v: str) -> None:
    m.add("ADD", [v, x], m.tensor("sum", SHAPE), "AddOptions")


def _tensor_as_a_handle(m: Model, x: str, v: str) -> None:
    m.read(x, "old", x)


def _handle_as_an_output(m: Model, x: str, v: str) -> None:
    m.outputs = [v]


REFUSED: list[tuple[Callable[[Model, str, str], None], type[MicrogenError], str]] = [
    (_without_value, UnsupportedError, 'reads the variable "v", which has no initial value; supp'),
    (_of_two_shapes, ModelError, 'the variable "v" is read as int8[1,5], but it is int8[1,4]; a v'),
    (_of_two_dtypes, ModelError, 'the variable "v" is assigned int32[1,4], but it is int8[1,4]'),
    (_assigned_otherwise, ModelError, 'the variable "v" is assigned int8[4,1], but it is int8[1,4'),
    (_handle_as_a_tensor, UnsupportedError, 'has dtypes that are not supported: resource in "sum"'),
    (_tensor_as_a_handle, ModelError, "has a first input that is not the handle of a variable"),
    (_handle_as_an_output, UnsupportedError, 'tensor "v/handle" is resource'),
]


@pytest.mark.parametrize(
    ("spoil", "kind", "said"), REFUSED, ids=lambda v: getattr(v, "__name__", "")
)
def test_impossible_uses_are_refused(
    spoil: Callable[[Model, str, str], None], kind: type[MicrogenError], said: str
) -> None:
    m, x, v = _model()
    m.outputs = [_sum(m, x, x, "double")]
    spoil(m, x, v)
    assert said in _refused(m.to_bytes(), kind)


def _once(*operators: OperatorSpec, once: int = 1, **changes: object) -> bytes:
    """A model whose initialisation subgraph has these operators."""
    m, x, v = _model()
    m.outputs = [_sum(m, m.read(v, "old", x), x, "sum")]
    init = m.init()
    tensors = [*init.tensors, TensorSpec("t", SHAPE, "int8", None, (0.1,), (-128,))]
    spec = SubgraphSpec(tensors, [*init.operators, *operators], **changes)  # type: ignore[arg-type]
    return m.to_bytes(more=[spec], once=once)


ASSIGN_T = OperatorSpec("ASSIGN_VARIABLE", ["v/handle", "t"], [], "AssignVariableOptions")
AGAIN = OperatorSpec("CALL_ONCE", [], [], "CallOnceOptions", {"initSubgraphIndex": 1})
SQUARE = OperatorSpec("MUL", ["c1", "c1"], ["t"], "MulOptions")


@pytest.mark.parametrize(
    ("model", "kind", "said"),
    [
        (
            _once(AGAIN),
            UnsupportedError,
            "other operators than VAR_HANDLE and ASSIGN_VARIABLE: CAL",
        ),
        (_once(SQUARE, ASSIGN_T), UnsupportedError, "VAR_HANDLE and ASSIGN_VARIABLE: MUL"),
        (_once(ASSIGN_T), UnsupportedError, 'sets the variable "v" to "t", which is computed'),
        (_once(once=0), ModelError, "(CALL_ONCE): runs its own subgraph 0 again"),
        (_once(once=7), ModelError, "runs subgraph 7, which the file does not have"),
        (_once(once=-3), ModelError, "runs subgraph -3, which the file does not have"),
        (_once(inputs=["t"]), ModelError, "runs subgraph 1, which has inputs or outputs"),
        (
            _once(OperatorSpec("ASSIGN_VARIABLE", ["t", "c1"], [])),
            ModelError,
            "sets something that is not a variable",
        ),
    ],
    ids=range(8),
)
def test_other_initialisations_are_refused(
    model: bytes, kind: type[MicrogenError], said: str
) -> None:
    assert said in _refused(model, kind)


def test_an_initialisation_after_a_read_is_refused() -> None:
    m, x, v = _model()
    m.outputs = [_sum(m, m.read(v, "old", x), x, "sum")]
    m.operators.append(AGAIN)
    assert "sets variables after others have read or assigned" in _refused(
        m.to_bytes(), UnsupportedError
    )


def test_assignments_in_branches_are_refused() -> None:
    inner = Model()
    data = inner.input("a", SHAPE)
    handle = inner.handle("v")
    inner.assign(handle, data)
    branch = SubgraphSpec(inner.tensors, inner.operators, ["a"], ["a"])
    m = Model()
    x = m.input("x", SHAPE)
    m.tensors.append(TensorSpec("goes", (), "bool"))
    y, options = m.tensor("y", SHAPE), {"thenSubgraphIndex": 1, "elseSubgraphIndex": 1}
    m.operators.append(OperatorSpec("IF", ["goes", x], [y], "IfOptions", options))
    m.inputs.append("goes")
    m.outputs = [y]
    said = _refused(m.to_bytes(more=[branch]), UnsupportedError)
    assert "runs subgraph 1, which keeps a state" in said


# Signatures


def _two() -> bytes:
    """A network of RELU, and one with the name ``second`` that adds its input to a variable."""
    m, x, _ = _model()
    m.outputs = [m.add("RELU", [x], m.tensor("y", SHAPE))]
    other = Model()
    data = other.input("x", SHAPE)
    handle = other.handle("v")
    new = _sum(other, other.read(handle, "old", data), data, "z")
    other.assign(handle, new)
    call = OperatorSpec("CALL_ONCE", [], [], "CallOnceOptions", {"initSubgraphIndex": 1})
    second = SubgraphSpec(other.tensors, [call, *other.operators], ["x"], ["z"], "second")
    broken = SubgraphSpec([], [OperatorSpec("HASHTABLE_IMPORT", [], [])], [], [], "broken")
    return m.to_bytes(more=[m.init(), second, broken])


def test_the_first_signature_is_the_default_and_others_have_names() -> None:
    assert [node.op for node in load(_two()).nodes] == ["clip"]
    graph = load(_two(), "second")
    assert ([node.op for node in graph.nodes], graph.outputs) == (["add"], ("z",))
    assert load(_two(), "serving_default").outputs == ("y",)


def test_a_signature_that_does_not_exist_is_refused_with_those_that_do() -> None:
    assert _refused(_two(), UnsupportedError, "train") == (
        'm.tflite: has no signature "train"; its signatures are "serving_default", "second", '
        '"broken"; give one of them with --signature, or leave it out'
    )
    assert "HASHTABLE_IMPORT in operator 0" in _refused(_two(), UnsupportedError, "broken")
    m = Model()
    m.outputs = [m.add("RELU", [m.input("x", SHAPE)], m.tensor("y", SHAPE))]
    spec = SubgraphSpec(m.tensors, m.operators)
    unsigned = m.to_bytes(more=[spec])
    assert _refused(unsigned, UnsupportedError, "train").startswith("m.tflite: has no signature")


# Mutations


def _mutant(data: bytes, seed: int) -> bytes:
    """The file with a few bytes or words changed, or cut off."""
    rng = random.Random(seed)
    found = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 5))):
        at = rng.randrange(len(found) - 4)
        if rng.random() < 0.5:
            found[at] = rng.choice((0, 1, 2, 0x7F, 0x80, 0xFF, rng.randrange(256)))
        else:
            struct.pack_into("<i", found, at & ~3, rng.choice((0, 1, 2, 3, -1, 8, 1 << 30)))
    return bytes(found[: rng.randrange(8, len(found))] if rng.random() < 0.05 else found)


@pytest.mark.parametrize("model", [_two(), _once()], ids=["signatures", "variables"])
def test_mutants_are_graphs_or_refused(model: bytes) -> None:
    slowest, loaded = 0.0, 0
    for seed in range(MUTANTS // 2):
        start = time.perf_counter()
        try:
            load(_mutant(model, seed), ("", "second")[seed % 2])
            loaded += 1
        except MicrogenError:
            pass
        slowest = max(slowest, time.perf_counter() - start)
    assert slowest < SLOWEST_S
    assert 0 < loaded < MUTANTS // 2


def test_a_wake_word_has_a_variable_for_each_window() -> None:
    graph = load(wake_word())
    assert len(graph.variables) == len(graph.updates) == 5
