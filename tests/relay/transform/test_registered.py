"""Codegens whose operators are registered one by one, as the notes and TVM's tutorials do it."""

from __future__ import annotations

import pytest

import microgen as tvm
from microgen import relay
from microgen.base.errors import MicrogenError
from microgen.graph.ir import op_attrs
from microgen.relay.transform import OperatorCall, registered
from tests.relay import seed


@pytest.fixture(autouse=True)
def _nothing_registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(op_attrs, "_takers", {})


def _yes(_call: OperatorCall) -> bool:
    return True


def _no(_call: OperatorCall) -> bool:
    return False


def test_the_notes_registration_as_it_is_written() -> None:
    @tvm.ir.register_op_attr("nn.conv2d", "target.my")
    def _my_conv2d_wrapper(expr):  # type: ignore[no-untyped-def]
        return True

    mod = seed.demo()
    mod = relay.transform.AnnotateTarget("my")(mod)
    mod = relay.transform.PartitionGraph()(mod)
    assert relay.show(mod) == seed.PARTITIONED_FOR_MY


def test_a_list_of_names_and_supports_is_in_order() -> None:
    tvm.ir.register_op_attr("nn.conv2d", "target.a", _yes)
    tvm.ir.register_op_attr("nn.conv2d", "target.b", _yes)
    tvm.ir.register_op_attr("nn.relu", "target.b", _yes)
    text = relay.show(relay.transform.AnnotateTarget(["a", registered("b")])(seed.demo()))
    assert 'compiler_end(%2, compiler="a")' in text
    assert 'compiler="b"' in text


ANSWERS = [
    *((value, True) for value in (True, 1, "yes")),
    *((value, False) for value in (False, None, 0)),
]


@pytest.mark.parametrize(("answer", "takes"), ANSWERS)
def test_an_answer_is_a_truth_value(answer: object, takes: bool) -> None:
    tvm.ir.register_op_attr("nn.conv2d", "target.my", lambda _call: answer)
    result = relay.transform.AnnotateTarget("my").run(seed.demo())
    assert ('compiler="my"' in relay.show(result.module)) == takes
    refused = [r.why for r in result.refusals if r.what == "nn.conv2d"]
    said = "the function registered for target.my refused nn.conv2d"
    assert refused == ([] if takes else [said])


def test_it_sees_attributes_and_types() -> None:
    seen = []
    tvm.ir.register_op_attr("nn.conv2d", "target.my", lambda call: seen.append(call))
    relay.transform.AnnotateTarget("my")(seed.demo())
    (call,) = seen
    assert (call.op, list(call.attrs["padding"])) == ("nn.conv2d", [1, 1, 1, 1])
    assert call.args[1].shape == (32, 32, 3, 3)


def test_a_later_function_replaces_one_of_the_same_level() -> None:
    def answer() -> object:
        return registered("my").operators["nn.relu"](None)  # type: ignore[arg-type]

    tvm.ir.register_op_attr("nn.relu", "target.my", _no)
    tvm.ir.register_op_attr("nn.relu", "target.my", _yes)
    assert answer() is None
    tvm.ir.register_op_attr("nn.relu", "target.my", _no, level=5)
    assert answer() is None
    tvm.ir.register_op_attr("nn.relu", "target.my", _no, level=11)
    assert answer() is not None


@pytest.mark.parametrize("key", ["my", "target.", "TOpPattern", "target"])
def test_other_attributes_are_refused(key: str) -> None:
    with pytest.raises(MicrogenError, match=r"'nn\.relu'.* is not an attribute of operators"):
        tvm.ir.register_op_attr("nn.relu", key)


def test_a_name_for_which_nothing_is_registered_is_refused() -> None:
    with pytest.raises(MicrogenError, match=r"no operator has the attribute 'target\.my'"):
        relay.transform.AnnotateTarget("my")


def test_a_codegen_may_say_what_it_takes_in_this_way() -> None:
    tvm.ir.register_op_attr("nn.relu", "target.my", _yes)
    support = registered("my")
    assert (support.name, set(support.operators), support.patterns) == ("my", {"nn.relu"}, ())
