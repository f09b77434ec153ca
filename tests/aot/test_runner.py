"""The runner: which functions it calls, in which order and convention, and with which arguments."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import numpy as np
import pytest

from microgen import relay
from microgen.base.errors import MicrogenError
from microgen.project.firmware.compiled import Compiled
from microgen.relay import Expr, Function, Var
from tests.aot.native import AHEAD_OF_TIME, CRT, compiled
from tests.support.tools import NEEDS_NINJA

LIB0, LIB1 = (f"model/codegen/host/src/default_lib{i}.c" for i in (0, 1))
OTHERS = ("crt/", "src/", "boards/")


def _text(made: Compiled, name: str = LIB0) -> str:
    return made.files.files[name].decode()


def _calls(made: Compiled) -> list[tuple[str, ...]]:
    """Each call: the operator's name after ``tvmgen_default_``, then the buffers it is passed."""
    return [
        (call.function.removeprefix("tvmgen_default_"), *(a.name for a in call.args))
        for call in made.program.calls
    ]


def _of(params: list[Var], body: Expr, convention: str = "c") -> Compiled:
    return compiled(Function(params, body), convention)


@pytest.fixture(scope="module")
def a() -> Var:
    return relay.var("a", shape=(5, 7))


def test_an_unpacked_operator_takes_pointers_and_is_only_called_if_it_cannot_fail(a: Var) -> None:
    b = relay.var("b", shape=(5, 7))
    made = _of([a, b], relay.add(a, b))
    assert _calls(made) == [("fused_add", "a", "b", "output")]
    code = re.sub(r"\s+", " ", _text(made))
    assert (
        "(void)tvmgen_default_fused_add( (const float *)a, (const float *)b, (float *)output);"
        " return 0; }"
    ) in code
    assert "tvmgen_default___tvm_main__(void *a, void *b, void *output)" in code


def test_a_packed_operator_is_called_by_name_with_the_six_parameters(a: Var) -> None:
    """TVM's cpacked calls do the same: there is no lookup, and without a device no context."""
    made = _of([a], relay.exp(a), "packed")
    code = re.sub(r"\s+", " ", _text(made))
    assert (
        "status = tvmgen_default_fused_exp( (TVMValue *)values_0, (int *)type_codes, 2, "
        "NULL, NULL, NULL); return status; }"
    ) in code
    assert not re.search(r"TVMFuncCall|TVMBackendGetFuncFromEnv|Lookup", code)


def test_a_packed_operator_sees_shape_and_type_of_each_tensor(a: Var) -> None:
    b = relay.var("b", shape=(1, 7))
    code = _text(_of([a, b], relay.multiply(a, b), "packed"))
    shapes = re.findall(r"MG_TENSOR\((\w+), 2, (\w+), kDLFloat, 32U\)", code)
    assert shapes == [
        ("a", "tvmgen_default_shape_5_7"),
        ("b", "tvmgen_default_shape_1_7"),
        ("output", "tvmgen_default_shape_5_7"),
    ]


@pytest.mark.parametrize("convention", AHEAD_OF_TIME)
def test_names_of_operators_have_no_suffix_of_their_convention(convention: str, a: Var) -> None:
    """Callers find an operator by TVM's name for it in every convention."""
    made = _of([a], relay.tanh(relay.exp(a)), convention)
    names = set(re.findall(r"\btvmgen_default_fused_\w+(?=\()", _text(made)))
    assert names == {"tvmgen_default_fused_exp", "tvmgen_default_fused_tanh"}


@pytest.mark.parametrize("convention", AHEAD_OF_TIME)
def test_a_plain_name_is_the_function_of_the_convention(convention: str, a: Var) -> None:
    """In TVM no name in any file is another one with ``_packed``. Here only the registry has such
    names: of static functions that give its own entry points their exact type."""
    made = _of([a], relay.tanh(a), convention)
    files = [text.decode() for name, text in made.files.files.items() if name[-2:] in (".c", ".h")]
    names = {name for text in files for name in re.findall(r"\b(tvmgen_default\w*)", text)}
    suffixed = {name for name in names if name.endswith("_packed")}
    own = {f"tvmgen_default_{entry}_packed" for entry in ("run", "get_c_metadata")}
    assert suffixed == (set() if convention == "c" else own)
    assert all(f"static int {name}(" in "".join(files) for name in suffixed)
    defined = "".join(text for text in files if "tvmgen_default_fused_tanh" in text)
    plain = r"\bint tvmgen_default_fused_tanh\(\s*TVMValue \*args,"
    worker = r"\bint32_t tvmgen_default_fused_tanh_unpacked\(\s*const float \*"
    pointers = r"\bint32_t tvmgen_default_fused_tanh\(\s*const float \*"
    found = [bool(re.search(form, defined)) for form in (plain, worker, pointers)]
    assert found == ([True, True, False] if convention == "packed" else [False, False, True])


@pytest.mark.parametrize("convention", AHEAD_OF_TIME)
def test_each_operator_is_defined_once_and_called_where_it_is_needed(
    convention: str, a: Var
) -> None:
    made = _of([a], relay.exp(relay.tanh(relay.exp(a))), convention)
    calls = re.findall(r"(?:status = |\(void\))(\w+_fused_\w+)\(", _text(made))
    defined = [
        name.removesuffix("_unpacked") for name in re.findall(r"int32_t (\w+)\(", _text(made, LIB1))
    ]
    assert [c.removeprefix("tvmgen_default_fused_") for c in calls] == ["exp", "tanh", "exp"]
    assert defined == sorted(set(calls))


def test_a_constant_is_an_argument_between_inputs_and_outputs(a: Var) -> None:
    ones = relay.const(np.ones((5, 7), np.float32))
    made = _of([a], relay.add(a, ones))
    assert _calls(made) == [("fused_add", "a", "p0", "output")]
    assert "(const float *)a, tvmgen_default_0_add_in1, (float *)output" in re.sub(
        r"\s+", " ", _text(made)
    )


def test_an_input_that_is_the_output_is_one_copy(a: Var) -> None:
    made = _of([a], a)
    assert _calls(made) == [("fused_copy", "a", "output")]
    assert made.plan.placements == ()


def test_only_what_no_operator_writes_to_the_callers_buffer_is_copied(a: Var) -> None:
    """An operator writes its result straight to the first output that is this result. A second one
    is a copy."""
    total = relay.add(a, a)
    ones = relay.const(np.ones((5, 7), np.float32))
    made = _of([a], relay.Tuple([total, a, total, ones]))
    assert _calls(made) == [
        ("fused_add", "a", "a", "output0"),
        ("fused_copy", "a", "output1"),
        ("fused_copy", "output0", "output2"),
        ("fused_copy_1", "p0", "output3"),
    ]


def test_two_calls_pass_a_storage_id_between_them(a: Var) -> None:
    made = _of([a], relay.exp(relay.exp(a)))
    assert _calls(made) == [("fused_exp", "a", "sid_1"), ("fused_exp", "sid_1", "output")]
    assert [(b.name, b.nbytes) for b in made.program.buffers] == [("sid_1", 140)]


def test_results_that_are_outputs_go_straight_to_the_callers_buffers(a: Var) -> None:
    made = _of([a], relay.Tuple([relay.exp(a), relay.tanh(a)]))
    assert _calls(made) == [("fused_exp", "a", "output0"), ("fused_tanh", "a", "output1")]
    assert made.program.buffers == ()


def test_the_fields_of_a_tuple_between_calls_have_a_storage_id_each() -> None:
    x = relay.var("x", shape=(6, 9))
    parts = relay.split(x, 3)
    made = _of([x], relay.multiply(relay.add(parts[0], parts[1]), parts[2]))
    names = [c[-1] for c in _calls(made)]
    assert len(set(names)) == len(names)
    written = [n for n in names if n.startswith("sid_")]
    assert {b.name: b.nbytes for b in made.program.buffers} == dict.fromkeys(written, 72)


def test_a_let_that_is_the_result_is_written_to_the_callers_buffer() -> None:
    text = """def @main(%a: Tensor[(5, 7), float32]) -> Tensor[(5, 7), float32] {
  let %v1 = exp(%a);
  %v1
}
"""
    made = compiled(text)
    assert _calls(made) == [("fused_exp", "a", "output")]


def test_lets_that_branch_have_a_storage_id_each_which_both_readers_share() -> None:
    text = """def @main(%a: Tensor[(5, 7), float32]) -> Tensor[(5, 7), float32] {
  let %v0 = exp(%a);
  let %v1 = exp(%v0);
  let %v2 = exp(%v1);
  let %v3 = add(%v1, %v2);
  %v3
}
"""
    made = compiled(text)
    assert _calls(made) == [
        ("fused_exp", "a", "sid_1"),
        ("fused_exp", "sid_1", "sid_2"),
        ("fused_exp", "sid_2", "sid_3"),
        ("fused_add", "sid_2", "sid_3", "output"),
    ]
    assert [b.nbytes for b in made.program.buffers] == [140] * 3


def test_calls_stand_in_a_normal_order_before_they_are_lowered(a: Var) -> None:
    """Nested calls and shared calls become one step each. Operands come first."""
    shared = relay.exp(a)
    made = _of([a], relay.add(relay.multiply(relay.tanh(shared), shared), shared))
    assert [c[0] for c in _calls(made)] == [
        "fused_exp",
        "fused_tanh",
        "fused_multiply",
        "fused_add",
    ]


@pytest.mark.parametrize("convention", AHEAD_OF_TIME)
def test_nothing_is_allocated_while_it_runs(convention: str, a: Var) -> None:
    """After TVM's USMP no TVMBackendAllocWorkspace is left. Here there never is one."""
    made = _of([a], relay.tanh(relay.exp(a)), convention)
    code = "".join(
        text.decode() for name, text in made.files.files.items() if name.startswith("model/codegen")
    )
    assert not re.search(r"TVMBackend\w*Workspace|\b(m|c|re)alloc\b|\bfree\(", code)


def test_the_c_interface_without_unpacked_operators_is_refused_in_tvms_words(a: Var) -> None:
    with pytest.raises(MicrogenError, match=r'Either need interface_api == "packed" \(got: c\)'):
        compiled(Function([a], a), unpacked_api=False)


def test_a_network_without_inputs_is_refused() -> None:
    """Such a network would be a constant. TVM compiles it."""
    with pytest.raises(MicrogenError, match="@main has no inputs"):
        compiled(Function([], relay.add(relay.const(1), relay.const(1))))


def test_names_that_are_one_identifier_stay_apart() -> None:
    """TVM refuses them with "Sanitized input tensor name clash"."""
    x, y = relay.var("input::-1", shape=(2,)), relay.var("input:--1", shape=(2,))
    made = _of([x, y], relay.add(x, y))
    names = [p.name for p in made.program.inputs]
    assert len(set(names)) == 2
    header = made.files.files["model/codegen/host/include/tvmgen_default.h"].decode()
    assert all(f"void *{name};" in header for name in names)


def test_sizes_of_inputs_and_outputs_are_macros() -> None:
    data, weight = relay.var("data", shape=(1, 8, 6, 6)), relay.var("weight", shape=(4, 8, 3, 3))
    made = _of([data, weight], relay.nn.conv2d(data, weight, padding=(1, 1)))
    header = made.files.files["model/codegen/host/include/tvmgen_default.h"].decode()
    sizes = dict(re.findall(r"#define TVMGEN_DEFAULT_(\w+)_SIZE (\d+)", header))
    assert sizes.pop("WORKSPACE") == str(made.plan.peak)
    assert sizes == {"DATA": "1152", "WEIGHT": "1152", "OUTPUT": "576"}


@NEEDS_NINJA
def test_a_module_may_have_any_name_that_c_takes(tmp_path: Path, a: Var) -> None:
    made = compiled(Function([a], relay.exp(a)), name="my_mod_2")
    made.files.write_to(tmp_path)
    assert {c.function for c in made.program.calls} == {"tvmgen_my_mod_2_fused_exp"}
    host = tmp_path / "model" / "codegen" / "host"
    flags = ["-std=c99", "-Wall", "-Werror", f"-I{host / 'include'}", f"-I{CRT / 'include'}"]
    sources = map(str, (host / "src").glob("*.c"))
    subprocess.run(["cc", *flags, "-fsyntax-only", *sources], check=True)
