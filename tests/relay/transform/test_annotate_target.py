"""AnnotateTarget: who takes what, and what earlier annotations mean."""

from __future__ import annotations

import pytest

from microgen import relay
from microgen.base.errors import CodegenError, ModelError, UnsupportedError
from microgen.relay.transform import AnnotateTarget, MergeCompilerRegions, OperatorCall, Support
from tests.relay.transform.checks import check_text, check_types, module, spelled, support


def _annotated(body: str, *supports: Support) -> str:
    found = AnnotateTarget(supports)(module(body))
    check_types(found)
    check_text(found)
    return spelled(found["main"].body)


def test_each_use_of_a_value_has_annotations_of_its_own() -> None:
    body = "%0 = nn.relu(%x);\nadd(exp(%0), %0)"
    found = _annotated(body, support("a", "nn.relu"))
    relu = "{a relu(<a x>)}"
    exp = f"{{default exp(<default {relu}>)}}"
    assert found == f"{{default add(<default {exp}>, <default {relu}>)}}"


def test_the_first_codegen_that_accepts_has_it() -> None:
    first, second = support("a", "exp"), support("b", "exp", "nn.relu")
    assert _annotated("exp(nn.relu(%x))", first, second) == "{a exp(<a {b relu(<b x>)}>)}"
    assert _annotated("exp(nn.relu(%x))", second, first) == "{b exp(<b {b relu(<b x>)}>)}"


def test_predicates_see_attributes_types_and_constants() -> None:
    seen: list[OperatorCall] = []

    def predicate(call: OperatorCall) -> str | None:
        seen.append(call)
        return f"rank {len(getattr(call.result, 'shape', ()))} is not 4"

    body = "nn.bias_add(%x, meta[relay.Constant][0], axis=0)"
    data = relay.const([1.0, 2.0, 3.0, 4.0]).data
    text = f"def @main(%x: Tensor[(4, 4), float32]) {{ {body} }}"
    parsed = relay.parse(text, constants={"relay.Constant.0": data})
    result = AnnotateTarget([Support("a", {"nn.bias_add": predicate})]).run(parsed)
    (call,) = seen
    assert call.op == "nn.bias_add"
    assert dict(call.attrs) == {"axis": 0}
    assert list(map(str, call.args)) == ["Tensor[(4, 4), float32]", "Tensor[(4), float32]"]
    assert str(call.result) == "Tensor[(4, 4), float32]"
    assert call.constants[0] is None
    assert call.constants[1] is not None
    assert call.constants[1].data is data
    (refusal,) = result.refusals
    assert (refusal.by, refusal.what) == ("a", "nn.bias_add")
    assert refusal.why == "rank 2 is not 4"
    assert refusal.of is parsed["main"].body
    assert refusal.where == str(parsed["main"].body.span)


def test_refusals_come_in_order_from_all_that_were_asked() -> None:
    no = Support("b", {"exp": lambda _: "b is full"})
    parsed = module("let %y = nn.relu(%x);\nexp(%y)")
    result = AnnotateTarget([support("a", "nn.relu"), no]).run(parsed)
    found = [(r.by, r.what, r.why) for r in result.refusals]
    assert found == [("a", "exp", "a has no exp"), ("b", "exp", "b is full")]
    let = parsed["main"].body
    assert isinstance(let, relay.Let)
    assert result.refusals[0].of is let.body


@pytest.mark.parametrize("given", [True, False, ""])
def test_a_predicate_without_a_sentence_is_refused(given: object) -> None:
    bad = Support("a", {"exp": lambda _: given})  # type: ignore[dict-item,return-value]
    with pytest.raises(CodegenError, match=r"predicate of a for exp answered .*, expected None"):
        AnnotateTarget([bad])(module("exp(%x)"))


def test_tuples_and_their_fields_go_with_their_operands() -> None:
    a = support("a", "nn.relu", "concatenate", "split")
    relu = "<a {a relu(<a x>)}>"
    found = _annotated("%0 = nn.relu(%x);\nconcatenate((%0, %0))", a)
    assert found == f"{{a concatenate(<a {{a ({relu}, {relu})}}>)}}"
    mixed = _annotated("concatenate((nn.relu(%x), %x))", a)
    entering = "<default {a relu(<a x>)}>, <default x>"
    assert mixed == f"{{a concatenate(<a {{default ({entering})}}>)}}"
    field = _annotated("split(%x, indices_or_sections=2).1", a)
    assert field == "{a <a {a split(<a x>)}>.1}"


def test_calls_without_arguments_begin_like_variables() -> None:
    zeros = 'add(zeros(shape=[4, 4], dtype="float32"), %x)'
    assert _annotated(zeros, support("a", "add", "zeros")) == "{a add(<a zeros()>, <a x>)}"
    assert _annotated("%x", support("a")) == "x"


def test_composite_functions_are_taken_whole_by_their_prefix() -> None:
    fn = 'fn (%p: Tensor[(4, 4), float32], Composite="a.f") { exp(%p) }'
    body = f"%0 = {fn};\n%0(%x)"
    assert _annotated(body, support("a", "exp")) == "{a a.f(<a x>)}"
    assert _annotated(body, support("b", "exp")) == "{default a.f(<default x>)}"
    plain = body.replace('Composite="a.f"', "Primitive=1")
    assert _annotated(plain, support("a", "exp")) == "{default fn(<default x>)}"


def test_inner_functions_that_use_what_is_outside_are_refused() -> None:
    body = "let %y = exp(%x);\n%0 = fn (%p: Tensor[(4, 4), float32]) { add(%p, %y) };\n%0(%x)"
    with pytest.raises(UnsupportedError, match=r"inner function uses %[xy], .*; pass it as an arg"):
        AnnotateTarget([support("a", "exp")])(module(body))


def test_functions_of_other_compilers_stay() -> None:
    more = 'def @f(%p: Tensor[(4, 4), float32], Compiler="b") { exp(%p) }'
    parsed = module("exp(@f(%x))", more=more)
    found = AnnotateTarget([support("a", "exp")])(parsed)
    assert found["f"] is parsed["f"]
    assert (
        spelled(found["main"].body)
        == "{a exp(<a {default GlobalVar(name_hint='f')(<default x>)}>)}"
    )


_A, _B = support("a", "nn.relu"), support("b", "add", "exp")


@pytest.mark.parametrize(
    "body",
    [
        "%0 = nn.relu(%x);\nadd(%0, %0)",
        "%0 = nn.relu(%x);\nadd(tanh(%0), nn.relu(%0))",
        "add(%x, exp(%x))",
        "concatenate((nn.relu(%x), tanh(%x), exp(tanh(%x))))",
        "nn.relu(split(exp(%x), indices_or_sections=2).0)",
    ],
)
def test_one_codegen_after_the_other_is_as_both_at_once(body: str) -> None:
    parsed = module(body)
    both = AnnotateTarget([_A, _B])(parsed)
    assert str(AnnotateTarget([_B])(AnnotateTarget([_A])(parsed))) == str(both)
    assert str(AnnotateTarget([_A, _B])(both)) == str(both)


def test_what_is_annotated_stays_though_another_would_take_it() -> None:
    merged = MergeCompilerRegions()(AnnotateTarget([support("a", "nn.relu", "exp")])(
        module("tanh(exp(nn.relu(%x)))")
    ))  # fmt: skip
    found = AnnotateTarget([support("b", "nn.relu", "exp", "tanh")])(merged)
    assert spelled(found["main"].body) == "{b tanh(<b {a exp(relu(<a x>))}>)}"


def test_types_must_be_known() -> None:
    x = relay.var("x", shape=(2,))
    bare = relay.IRModule.from_expr(relay.Function([x], relay.nn.relu(x)))
    with pytest.raises(ModelError, match="types are not known; run InferType first"):
        AnnotateTarget([_A])(bare)
