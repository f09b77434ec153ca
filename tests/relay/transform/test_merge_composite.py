"""MergeComposite: what patterns become, and when they do not."""

from __future__ import annotations

import pytest

from microgen import relay
from microgen.base.errors import CodegenError
from microgen.relay.module import IRModule
from microgen.relay.pattern import Pattern, is_constant, is_op, is_tuple_get_item, wildcard
from microgen.relay.transform import (
    AnnotateTarget,
    CompositePattern,
    Match,
    MergeComposite,
    PartitionGraph,
)
from tests.relay import seed
from tests.relay.transform.checks import (
    check_text,
    check_types,
    module,
    same_value,
    spelled,
    support,
)


def _conv_bias_relu() -> Pattern:
    conv = is_op("nn.conv2d")(wildcard(), wildcard())
    bias = conv.optional(lambda x: is_op("nn.bias_add")(x, wildcard()))
    return is_op("nn.relu")(bias)


def _merged(parsed: IRModule, *patterns: CompositePattern) -> IRModule:
    found = MergeComposite(patterns)(parsed)
    check_types(found)
    check_text(found)
    assert same_value(found, parsed)
    return found


def test_the_seed_as_one_composite() -> None:
    demo = seed.demo()
    pattern = CompositePattern("dnnl.conv2d_bias_relu", _conv_bias_relu())
    merged = _merged(demo, pattern)
    found = PartitionGraph()(AnnotateTarget([support("dnnl")])(merged))
    check_types(found)
    check_text(found)
    assert same_value(found, demo)
    text = relay.show(found)
    assert "  @tvmgen_default_dnnl_main_0(%d1, %w1, %b1) /*" in text
    name = 'PartitionedFromPattern="nn.conv2d_nn.bias_add_nn.relu_", '
    assert f'{name}Composite="dnnl.conv2d_bias_relu") -> ' in text
    assert "fn (%FunctionVar_0_0: Tensor[(1, 32, 56, 56), float32], %FunctionVar_0_1: " in text
    assert "  %2(%dnnl_0_i0, %dnnl_0_i1, %dnnl_0_i2) /*" in text


def test_the_first_pattern_of_the_table_has_it_the_biggest_match_first() -> None:
    add = is_op("add")(wildcard(), wildcard())
    more = add.optional(lambda x: is_op("nn.relu")(x))
    relu = CompositePattern("a.relu", is_op("nn.relu")(wildcard()))
    body = "nn.relu(add(add(%x, %x), %x))"
    found = _merged(module(body), CompositePattern("a.sum", more), relu)
    assert spelled(found["main"].body) == "a.sum(a.sum(x), x)"
    found = _merged(module(body), relu, CompositePattern("a.sum", more))
    assert spelled(found["main"].body) == "a.relu(a.sum(a.sum(x), x))"


def test_a_value_within_that_is_used_outside() -> None:
    pattern = CompositePattern("a.f", is_op("nn.relu")(is_op("exp")(wildcard())))
    body = "%0 = exp(%x);\n%1 = nn.relu(%0);\n"
    assert spelled(_merged(module(body + "%1"), pattern)["main"].body) == "a.f(x)"
    for rest in ("(%0, %1)", "add(%0, %1)", "nn.relu(%0)"):
        found = _merged(module(body + f"({rest}, %1)"), pattern)
        assert "a.f" not in spelled(found["main"].body)


def test_a_value_that_comes_back_by_another_way() -> None:
    exp = is_op("exp")(wildcard())
    pattern = CompositePattern("a.swish", is_op("multiply")(exp, wildcard()))
    found = _merged(module("%0 = exp(%x);\nmultiply(%0, tanh(%0))"), pattern)
    assert spelled(found["main"].body) == "multiply(exp(x), tanh(exp(x)))"


def test_constants_stay_within_where_the_pattern_says_so() -> None:
    held = CompositePattern("a.f", is_op("add")(wildcard(), is_constant()))
    found = _merged(module("add(1f, %x)", "%x: float32"), held)
    assert spelled(found["main"].body) == "a.f(x)"
    given = CompositePattern("a.f", is_op("add")(wildcard(), wildcard()))
    found = _merged(module("add(1f, %x)", "%x: float32"), given)
    assert spelled(found["main"].body) == "a.f(constant, x)"


def test_fields_of_tuples() -> None:
    norm = is_op("nn.batch_norm")(*[wildcard() for _ in range(5)])
    pattern = CompositePattern("a.f", is_op("nn.relu")(is_tuple_get_item(norm, 0)))
    body = "%0 = nn.batch_norm(%x, %g, %g, %g, %g);\n"
    params = "%x: Tensor[(4, 4), float32], %g: Tensor[(4), float32]"
    found = _merged(module(f"{body} nn.relu(%0.0)", params), pattern)
    assert spelled(found["main"].body) == "a.f(x, g)"
    assert 'PartitionedFromPattern="nn.batch_norm_TupleGetItem0_nn.relu_"' in str(found)
    found = _merged(module(f"{body} (nn.relu(%0.0), %0.1)", params), pattern)
    assert "a.f" not in str(found)


def test_checks_see_the_match_and_refuse_with_a_sentence() -> None:
    seen: list[Match] = []

    def check(found: Match) -> str | None:
        seen.append(found)
        return "no bias" if found.call("nn.bias_add") is None else "too big"

    demo = seed.demo()
    result = MergeComposite([CompositePattern("d.f", _conv_bias_relu(), check)]).run(demo)
    assert relay.structural_equal(result.module, demo)
    (found,) = seen
    assert [c.op for c in found.calls] == ["nn.conv2d", "nn.bias_add", "nn.relu"]
    assert found.inputs == tuple(demo["main"].params)
    assert str(found.calls[0].args[1]) == "Tensor[(32, 32, 3, 3), float32]"
    (refusal,) = result.refusals
    assert (refusal.by, refusal.what, refusal.why) == ("d", "d.f", "too big")
    assert refusal.of is found.root is demo["main"].body


def test_what_one_check_refuses_is_left_to_the_next_pattern() -> None:
    pattern = is_op("nn.relu")(is_op("exp")(wildcard()))
    refused = CompositePattern("a.f", pattern, lambda _: "never")
    found = MergeComposite([refused, CompositePattern("b.f", pattern)]).run(
        module("nn.relu(exp(%x))")
    )
    assert spelled(found.module["main"].body) == "b.f(x)"
    assert [r.what for r in found.refusals] == ["a.f"]


def test_a_check_without_a_sentence_is_refused() -> None:
    bad = CompositePattern("a.f", is_op("exp")(wildcard()), lambda _: True)  # type: ignore[arg-type,return-value]
    with pytest.raises(CodegenError, match=r"the check of a\.f answered True, expected None"):
        MergeComposite([bad])(module("exp(%x)"))


def test_composites_are_operands_of_later_patterns_not_searched() -> None:
    first = CompositePattern("a.exp", is_op("exp")(wildcard()))
    again = CompositePattern("b.exp", is_op("exp")(wildcard()))
    found = _merged(module("nn.relu(exp(%x))"), first, again)
    assert spelled(found["main"].body) == "relu(a.exp(x))"
    assert "b.exp" not in str(found)
