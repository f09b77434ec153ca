"""MergeComposite on shapes of networks that TVM's suite has: branches, reuse, order of patterns."""

from __future__ import annotations

import pytest

from microgen.base.errors import UnsupportedError
from microgen.relay.pattern import Pattern, is_op, wildcard
from microgen.relay.transform import AnnotateTarget, CompositePattern, Match, MergeComposite
from tests.relay.transform.checks import (
    check_text,
    check_types,
    module,
    same_value,
    spelled,
    support,
)

_TWO = "%x: Tensor[(4, 4), float32], %y: Tensor[(4, 4), float32]"
_THREE = _TWO + ", %z: Tensor[(4, 4), float32]"


def _merged(body: str, params: str, *patterns: CompositePattern) -> str:
    """@main, with composite functions spelled by their names."""
    parsed = module(body, params)
    found = MergeComposite(patterns)(parsed)
    check_types(found)
    check_text(found)
    assert same_value(found, parsed)
    return spelled(found["main"].body)


def _sum_times_difference() -> CompositePattern:
    a, b = wildcard(), wildcard()
    both = is_op("multiply")(is_op("add")(a, b), is_op("subtract")(a, b))
    return CompositePattern("t.f", both)


def test_a_match_feeds_another_of_the_same_pattern() -> None:
    body = "%0 = multiply(add(%x, %y), subtract(%x, %y));\n"
    body += "multiply(add(%z, %0), subtract(%z, %0))"
    found = _merged(body, _THREE, _sum_times_difference())
    assert found == "t.f(z, t.f(x, y))"


def test_matches_beside_each_other_read_the_same_inputs() -> None:
    part = "multiply(add(%x, %y), subtract(%x, %y))"
    found = _merged(f"multiply({part}, {part})", _TWO, _sum_times_difference())
    assert found == "multiply(t.f(x, y), t.f(x, y))"


def test_a_call_that_the_match_reads_twice_is_within_it_once() -> None:
    a, b = wildcard(), wildcard()
    inner = is_op("add")(a, b)
    pattern = CompositePattern("t.f", is_op("add")(is_op("add")(a, inner), inner))
    body = "%0 = subtract(%x, %y);\n%1 = add(%0, %y);\nadd(add(%0, %1), %1)"
    assert _merged(body, _TWO, pattern) == "t.f(subtract(x, y), y)"


def test_matches_of_several_patterns_feed_one_another() -> None:
    sums = is_op("nn.relu")(is_op("add")(wildcard(), wildcard()))
    table = (CompositePattern("t.sum", sums), _sum_times_difference())
    first, second = "nn.relu(add(%x, %y))", "nn.relu(add(%z, %y))"
    body = f"%0 = {first};\n%1 = {second};\nmultiply(add(%0, %1), subtract(%0, %1))"
    assert _merged(body, _THREE, *table) == "t.f(t.sum(x, y), t.sum(z, y))"


_ORDERED: dict[str, Pattern] = {
    "t.a": is_op("nn.relu")(is_op("abs")(is_op("add")(wildcard(), wildcard()))),
    "t.b": is_op("abs")(is_op("add")(wildcard(), wildcard())),
    "t.c": is_op("nn.relu")(is_op("abs")(wildcard())),
}


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        ("abc", "t.a(x, y)"),
        ("bca", "relu(t.b(x, y))"),
        ("cab", "t.c(add(x, y))"),
    ],
)
def test_the_order_of_the_table_decides(order: str, expected: str) -> None:
    table = [CompositePattern(f"t.{letter}", _ORDERED[f"t.{letter}"]) for letter in order]
    assert _merged("nn.relu(abs(add(%x, %y)))", _TWO, *table) == expected


@pytest.mark.parametrize(
    ("body", "matched"),
    [("nn.relu(%0)", "add_nn.relu_"), ("abs(%0)", "add_")],
)
def test_what_is_optional_shows_in_the_name_of_the_match(body: str, matched: str) -> None:
    pattern = is_op("add")(wildcard(), wildcard()).optional(lambda x: is_op("nn.relu")(x))
    parsed = module(f"%0 = add(%x, %y);\n{body}", _TWO)
    found = MergeComposite([CompositePattern("t.f", pattern)])(parsed)
    assert f'PartitionedFromPattern="{matched}"' in str(found)


def test_a_diamond_with_another_operator_in_it_is_no_match() -> None:
    relu = is_op("nn.relu")(wildcard())
    pattern = CompositePattern("t.f", is_op("multiply")(relu, is_op("clip")(relu)))
    body = "%0 = nn.relu(%x);\nmultiply(%0, clip({}, a_min=0f, a_max=6f))"
    assert _merged(body.format("%0"), _TWO, pattern) == "t.f(x)"
    other = _merged(body.format("add(%0, %y)"), _TWO, pattern)
    assert other == "multiply(relu(x), clip(add(relu(x), y)))"


@pytest.mark.parametrize("wanted", [4, 5])
def test_checks_see_types_of_what_other_patterns_made(wanted: int) -> None:
    def check(match: Match) -> str | None:
        (rows, _) = match.calls[0].args[0].shape  # type: ignore[union-attr,misc]
        return None if rows == wanted else f"{rows} rows"

    first = CompositePattern("t.sum", is_op("nn.relu")(is_op("add")(wildcard(), wildcard())))
    second = CompositePattern("t.exp", is_op("tanh")(is_op("exp")(wildcard())), check)
    found = _merged("tanh(exp(nn.relu(add(%x, %y))))", _TWO, first, second)
    assert found == ("t.exp(t.sum(x, y))" if wanted == 4 else "tanh(exp(t.sum(x, y)))")


def test_an_operator_that_there_is_not_is_refused_before_any_pattern() -> None:
    with pytest.raises(UnsupportedError, match="einsum"):
        module('einsum((%x, %x), equation="ij,jk->ik")')


def test_an_empty_tuple_stays() -> None:
    found = AnnotateTarget([support("t", "exp")])(module("()", ""))
    assert spelled(found["main"].body) == "()"
