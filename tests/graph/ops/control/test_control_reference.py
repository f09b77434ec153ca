"""Loops and branches: references, bounds and refusals of ``"loop"`` and ``"branch"``."""

from __future__ import annotations

import numpy as np
import pytest

from microgen.graph.arithmetic.terms import Activation
from microgen.graph.builder import BuiltTensor, GraphBuilder
from microgen.graph.ir.graph import Array, ArrayType, DType, Graph, Node, Origin
from microgen.graph.ops import registry
from microgen.graph.ops.base import Inexact, Operands, StatusError
from microgen.graph.ops.control.branch import OP as BRANCH
from microgen.graph.ops.control.branch import BranchAttrs
from microgen.graph.ops.control.loop import OP as LOOP
from microgen.graph.ops.control.loop import LoopAttrs

KIND = ArrayType((2,), DType.FLOAT32)
COUNT = ArrayType((), DType.INT32)
TRUTH = ArrayType((), DType.BOOL)
Out = tuple[str, ArrayType]


def node(graph: GraphBuilder, op: str, inputs: list[BuiltTensor], out: Out) -> BuiltTensor:
    made = BuiltTensor(*out)
    names, kind = tuple(tensor.name for tensor in inputs), registry()[op].attrs
    attrs = kind() if op == "less" else kind(Activation.NONE)  # type: ignore[call-arg]
    graph.add(Node(op, names, (made.name,), attrs, Origin("t", made.name)), [*inputs, made])
    return made


def body(*, captured: bool = True) -> Graph:
    """The body total = total + step, n = n + 1, where ``step`` is captured or constant."""
    graph = GraphBuilder()
    total, n = graph.declare("total", KIND), graph.declare("n", COUNT)
    one = graph.constant("one", np.array(1, np.int32), COUNT)
    step = graph.declare("step", KIND)
    if not captured:
        graph = GraphBuilder()
        step = graph.constant("step", np.array([1, 2], np.float32), KIND)
    new = node(graph, "add", [total, step], ("new", KIND))
    more = node(graph, "add", [n, one], ("more", COUNT))
    made = graph.graph("body", [step] if captured else [], [], updates={"total": new, "n": more})
    return made.replace(variables=("total", "n"))


def below() -> Graph:
    """The condition n < limit."""
    graph = GraphBuilder()
    n, limit = graph.declare("n", COUNT), graph.constant("limit", np.array(3, np.int32), COUNT)
    return graph.graph("below", [n], [node(graph, "less", [n, limit], ("goes", TRUTH))])


def computed(attrs: LoopAttrs, *inputs: Array) -> tuple[Array, ...]:
    kinds = (KIND, COUNT, KIND)
    return LOOP.reference(attrs, Operands(inputs, kinds, (KIND, COUNT)))


ZERO, STEP = np.zeros(2, np.float32), np.array([0.5, 2], np.float32)
NONE = np.array(0, np.int32)


@pytest.mark.parametrize("rounds", [0, 1, 5])
def test_a_loop_computes_its_body_round_after_round(rounds: int) -> None:
    total, n = computed(LoopAttrs(body(), rounds), ZERO, NONE, STEP)
    np.testing.assert_array_equal(total, rounds * STEP)
    assert n == rounds


def test_a_condition_ends_a_loop() -> None:
    total, n = computed(LoopAttrs(body(), 9, below()), ZERO, NONE, STEP)
    np.testing.assert_array_equal(total, 3 * STEP)
    assert n == 3
    assert computed(LoopAttrs(body(), 3, below()), ZERO, NONE, STEP)[1] == 3


def test_more_rounds_than_the_most_are_a_status() -> None:
    with pytest.raises(StatusError, match="after 2 rounds") as caught:
        computed(LoopAttrs(body(), 2, below()), ZERO, NONE, STEP)
    assert caught.value.status == 0x0803


def test_errors_of_the_inputs_grow_with_each_round() -> None:
    attrs = LoopAttrs(body(), 4)
    operands = Operands((ZERO, NONE, STEP), (KIND, COUNT, KIND), (KIND, COUNT))
    expected = LOOP.reference(attrs, operands)
    off = (np.zeros(2), np.zeros(()), np.full(2, 0.25))
    total, n = LOOP.bound.of(attrs, Inexact(operands, off, expected, (None, None)))
    assert (total >= 1.0).all()
    assert (total < 1.001).all()
    assert n == 0
    inexact = (np.zeros(2), np.ones(()), np.zeros(2))
    ended = LoopAttrs(body(), 4, below())
    given = Inexact(operands, inexact, LOOP.reference(ended, operands), (None, None))
    assert np.isinf(LOOP.bound.of(ended, given)[0]).all()


def test_loops_that_cannot_be_are_refused() -> None:
    attrs = LoopAttrs(body(), 2)
    with pytest.raises(ValueError, match="2 inputs; 2 variables and 1 other tensors"):
        LOOP.infer(attrs, (KIND, COUNT))
    assert LOOP.infer(attrs, (KIND, COUNT, KIND)) == ((2,), ())
    other = ArrayType((3,), DType.FLOAT32)
    assert "'total' is float32[2] inside" in str(LOOP.check(attrs, (other, COUNT, KIND), ()))
    assert LOOP.check(attrs, (KIND, COUNT, KIND), (KIND, COUNT)) is None
    many = LOOP.check(LoopAttrs(body(), 2**31), (KIND, COUNT, KIND), (KIND, COUNT))
    assert "2147483648 rounds" in str(many)


def test_the_cost_of_a_loop_is_that_of_its_rounds() -> None:
    few, many = (LOOP.cost(LoopAttrs(body(), n), (KIND, COUNT, KIND), (KIND,)) for n in (1, 1000))
    assert many.steps == 1000 * few.steps


def graphs() -> BranchAttrs:
    def one(op: str) -> Graph:
        graph = GraphBuilder()
        x = graph.declare("x", KIND)
        return graph.graph(op, [x], [node(graph, op, [x, x], ("y", KIND))])

    return BranchAttrs(one("add"), one("multiply"))


@pytest.mark.parametrize("truth", [True, False])
def test_a_branch_computes_one_of_its_graphs(truth: bool) -> None:
    attrs, given = graphs(), (np.array(truth), STEP)
    operands = Operands(given, (TRUTH, KIND), (KIND,))
    (found,) = BRANCH.reference(attrs, operands)
    np.testing.assert_array_equal(found, STEP + STEP if truth else STEP * STEP)
    exact = Inexact(operands, (np.zeros(()), np.zeros(2)), (found,), (None,))
    assert (BRANCH.bound.of(attrs, exact)[0] < 1e-6).all()
    unknown = Inexact(operands, (np.ones(()), np.zeros(2)), (found,), (None,))
    assert np.isinf(BRANCH.bound.of(attrs, unknown)[0]).all()


def test_branches_that_cannot_be_are_refused() -> None:
    attrs = graphs()
    assert "one bool is expected" in str(BRANCH.check(attrs, (COUNT, KIND), (KIND,)))
    assert BRANCH.check(attrs, (TRUTH, KIND), (KIND,)) is None
    with pytest.raises(ValueError, match="1 inputs"):
        BRANCH.infer(attrs, (TRUTH,))
