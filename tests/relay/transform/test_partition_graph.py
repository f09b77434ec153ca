"""PartitionGraph: functions of regions, their names, parameters, constants and results."""

from __future__ import annotations

import numpy as np
import pytest

from microgen import relay
from microgen.relay.module import IRModule
from microgen.relay.transform import (
    AnnotateTarget,
    MergeCompilerRegions,
    MergeComposite,
    PartitionGraph,
    Support,
)
from tests.relay.transform.checks import (
    check_text,
    check_types,
    externals,
    module,
    parameters,
    same_value,
    spelled,
    support,
)


def _partitioned(parsed: IRModule, *supports: Support, merges: bool = True) -> IRModule:
    annotated = AnnotateTarget(supports)(parsed)
    merged = MergeCompilerRegions()(annotated) if merges else annotated
    found = PartitionGraph()(merged)
    check_types(found)
    check_text(found)
    assert same_value(found, parsed)
    return found


def _body(found: IRModule, name: str) -> str:
    return spelled(found[name].body)


def _main(found: IRModule) -> str:
    text = spelled(found["main"].body)
    return text.replace("GlobalVar(name_hint='tvmgen_default_", "@").replace("')", "")


def test_a_shared_input_is_one_parameter_that_keeps_its_index() -> None:
    parsed = module("add(multiply(%x, %x), %y)", "%x: float32, %y: float32")
    found = _partitioned(parsed, support("a", "add", "multiply"))
    (name,) = externals(found)
    assert parameters(found, name) == ["a_0_i0", "a_0_i2"]
    assert _body(found, name) == "add(multiply(a_0_i0, a_0_i0), a_0_i2)"
    assert _main(found) == "@a_main_0(x, y)"


def test_several_results_are_a_tuple() -> None:
    parsed = module("%0 = exp(%x);\n%1 = nn.relu(%0);\n(tanh(%0), sqrt(%1), sqrt(%0))")
    found = _partitioned(parsed, support("a", "exp", "nn.relu"))
    (name,) = externals(found)
    assert _body(found, name) == "(exp(a_0_i0), relu(exp(a_0_i0)))"
    call = "@a_main_0(x)"
    assert _main(found) == f"(tanh({call}.0), sqrt({call}.1), sqrt({call}.0))"


def test_a_value_that_several_read_is_one_result() -> None:
    parsed = module("%0 = exp(%x);\n(nn.relu(%0), tanh(%0), log(%0))")
    found = _partitioned(parsed, support("a", "exp"))
    call = "@a_main_0(x)"
    assert _main(found) == f"(relu({call}), tanh({call}), log({call}))"


_NORM = """%0 = nn.batch_norm(%x, %g, %g, %g, %g);
%1 = %0.1;
(nn.relu(%0.0), tanh(%1), log(%1))"""
_NORM_PARAMS = "%x: Tensor[(4, 4), float32], %g: Tensor[(4), float32]"


def test_batch_norm_whose_fields_are_used_in_and_outside() -> None:
    found = _partitioned(module(_NORM, _NORM_PARAMS), support("a", "nn.batch_norm", "nn.relu"))
    (name,) = externals(found)
    norm = "batch_norm(a_0_i0, a_0_i1, a_0_i1, a_0_i1, a_0_i1)"
    assert _body(found, name) == f"(relu({norm}.0), {norm}.1)"
    call = "@a_main_0(x, g)"
    assert _main(found) == f"({call}.0, tanh({call}.1), log({call}.1))"


def test_regions_that_only_read_fields_stay() -> None:
    parsed = module(_NORM, _NORM_PARAMS)
    found = _partitioned(parsed, support("a", "nn.batch_norm", "nn.relu"), merges=False)
    assert externals(found) == ["tvmgen_default_a_main_0", "tvmgen_default_a_main_6"]
    assert str(found["tvmgen_default_a_main_0"].ret_type).startswith("(Tensor[(4, 4)")
    assert _main(found).startswith("(@a_main_6(@a_main_0(x, g).0), tanh(@a_main_0(x, g).1)")


def test_tuples_that_leave_are_dissolved() -> None:
    body = "%0 = split(%x, indices_or_sections=2);\n%1 = (%0.0, %0.1);\n"
    body += "%2 = concatenate(%1);\n(%2, nn.relu(exp(%0.0)))"
    found = _partitioned(module(body), support("a", "split", "exp"))
    (name,) = externals(found)
    split = "split(a_0_i0)"
    assert _body(found, name) == f"({split}.0, {split}.1, exp({split}.0))"
    call = "@a_main_0(x)"
    assert _main(found) == f"(concatenate(({call}.0, {call}.1)), relu({call}.2))"


def test_a_tuple_among_several_results_is_dissolved() -> None:
    body = "%0 = split(%x, indices_or_sections=2);\n(concatenate(%0), nn.relu(exp(%0.0)))"
    found = _partitioned(module(body), support("a", "split", "exp"))
    (name,) = externals(found)
    split = "split(a_0_i0)"
    assert _body(found, name) == f"({split}.0, {split}.1, exp({split}.0))"


def test_what_a_region_only_passes_on_does_not_enter_it() -> None:
    body = """%0 = annotation.compiler_begin(%x, compiler="a");
    %1 = annotation.compiler_begin(%y, compiler="a");
    %2 = (%0, {});
    annotation.compiler_end(%2, compiler="a")"""
    for value, params, call in [
        ("exp(%1)", ["a_1_i0"], "@a_main_1(y)"),
        ("add(%0, %1)", ["a_0_i0", "a_0_i1"], "@a_main_0(x, y)"),
    ]:
        found = PartitionGraph()(module(body.format(value), "%x: float32, %y: float32"))
        (name,) = externals(found)
        assert parameters(found, name) == params
        assert _main(found) == f"(x, {call})"


def _with_constant(body: str) -> IRModule:
    constants = {"relay.Constant.0": np.ones((4, 4), "float32")}
    return relay.parse(f"def @main(%x: Tensor[(4, 4), float32]) {{ {body} }}", constants=constants)


@pytest.mark.parametrize("binds", [True, False])
def test_constants_are_bound_into_the_region(binds: bool) -> None:
    parsed = _with_constant("exp(add(multiply(%x, meta[relay.Constant][0]), 2f))")
    annotated = AnnotateTarget([support("a", "add", "multiply")])(parsed)
    found = PartitionGraph(bind_constants=binds)(MergeCompilerRegions()(annotated))
    check_types(found)
    (name,) = externals(found)
    if binds:
        assert _body(found, name) == "add(multiply(a_0_i0, constant), constant)"
        assert parameters(found, name) == ["a_0_i0"]
    else:
        assert parameters(found, name) == ["a_0_i0", "a_0_i1", "a_0_i2"]
        assert _main(found) == "exp(@a_main_0(x, constant, constant))"


def test_a_constant_of_two_regions_is_in_both() -> None:
    c = "meta[relay.Constant][0]"
    found = _partitioned(
        _with_constant(f"add(tanh(add(%x, {c})), {c})"), support("a", "add"), support("b", "exp")
    )
    assert [_body(found, n) for n in externals(found)] == [
        "add(a_0_i0, constant)",
        "add(a_2_i0, constant)",
    ]


def test_tuples_of_constants_are_bound() -> None:
    c = "meta[relay.Constant][0]"
    found = _partitioned(_with_constant(f"concatenate(({c}, {c}))"), support("a", "concatenate"))
    (name,) = externals(found)
    assert _body(found, name) == "concatenate((constant, constant))"


def test_a_tuple_of_anyones_is_one_parameter() -> None:
    found = _partitioned(module("concatenate((tanh(%x), %x))"), support("a", "concatenate"))
    assert _main(found) == "@a_main_0((tanh(x), x))"


def test_several_codegens_and_functions() -> None:
    more = "def @f(%p: Tensor[(4, 4), float32]) { exp(nn.relu(%p)) }"
    parsed = module("tanh(exp(@f(%x)))", more=more)
    found = _partitioned(parsed, support("a", "exp"), support("b", "tanh", "exp"))
    assert list(found.functions) == [
        *("main", "f", "tvmgen_default_a_main_0", "tvmgen_default_b_main_1"),
        "tvmgen_default_a_f_0",
    ]


def test_names_are_made_fit_and_stay_distinct() -> None:
    parsed = module("exp(tanh(%x))")
    supports = [support("a-b", "exp"), support("a+b", "tanh")]
    annotated = AnnotateTarget(supports)(parsed)
    found = PartitionGraph("net")(annotated)
    assert externals(found) == ["tvmgen_net_a_b_main_0", "tvmgen_net_a_b_main_1"]
    again = AnnotateTarget([support("a-b", "exp")])(_partitioned(parsed, support("a-b", "tanh")))
    assert externals(PartitionGraph()(again)) == [
        "tvmgen_default_a_b_main_0",
        "tvmgen_default_a_b_main_0_1",
    ]
    assert externals(PartitionGraph("")(annotated))[0] == "tvmgen_a_b_main_0"


def test_twice_is_as_once() -> None:
    a = support("a", "exp")
    once = _partitioned(module("tanh(exp(%x))"), a)
    assert str(_partitioned(once, a)) == str(once)
    assert PartitionGraph()(once)["tvmgen_default_a_main_0"] is once["tvmgen_default_a_main_0"]


def test_operators_that_the_registry_does_not_have() -> None:
    x = relay.var("x", shape=(2,))
    call = relay.Call(relay.Op("vendor.op"), [x], {"layer": "a/b", "pads": (1, 2)})
    out = relay.Call(relay.Op("vendor.other"), [call], {})
    kind = relay.TensorType((2,), "float32")
    main = relay.Function([x], out, kind)
    types: dict[relay.Expr, relay.Type] = {x: kind, call: kind, out: kind}
    types[main] = relay.FuncType((kind,), kind)
    found = PartitionGraph()(
        AnnotateTarget([support("a", "vendor.op")])(
            MergeComposite([])(IRModule({"main": main}, types))
        )
    )
    comment = "/* ty=Tensor[(2), float32] */"
    assert f'  vendor.op(%a_0_i0, layer="a/b", pads=[1, 2]) {comment}\n' in relay.show(found)
    assert f"  vendor.other(%0) {comment}\n" in relay.show(found)


def test_text_with_annotations_may_be_written_by_hand() -> None:
    body = """%0 = annotation.compiler_begin(%x, compiler="a");
    %1 = add(%0, %0);
    %2 = subtract(%0, %0);
    annotation.compiler_end((%1, %2), compiler="a")"""
    found = PartitionGraph()(module(body))
    check_text(found)
    assert _main(found) == "(@a_main_0(x).0, @a_main_0(x).1)"
    assert _body(found, "tvmgen_default_a_main_0") == (
        "(add(a_0_i0, a_0_i0), subtract(a_0_i0, a_0_i0))"
    )
