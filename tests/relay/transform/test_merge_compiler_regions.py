"""MergeCompilerRegions: regions grow, and stay convex."""

from __future__ import annotations

import pytest

from microgen.base.errors import ModelError
from microgen.relay.transform import AnnotateTarget, MergeCompilerRegions, PartitionGraph
from tests.relay.transform.checks import (
    check_convex,
    check_text,
    check_types,
    externals,
    module,
    same_value,
    spelled,
    support,
)

_A = support("a", "nn.relu", "add", "exp")


def _begin(value: str, target: str = "a") -> str:
    return f'annotation.compiler_begin({value}, compiler="{target}")'


def _end(value: str, target: str = "a") -> str:
    return f'annotation.compiler_end({value}, compiler="{target}")'


def _merged(body: str, params: str = "%x: Tensor[(4, 4), float32]") -> str:
    parsed = module(body, params)
    found = MergeCompilerRegions()(parsed)
    check_types(found)
    check_text(found)
    check_convex(found)
    assert same_value(found, parsed)
    return spelled(found["main"].body)


def test_a_diamond_whose_other_side_is_not_ours() -> None:
    annotated = AnnotateTarget([_A])(module("%0 = exp(%x);\nadd(nn.relu(%0), tanh(%0))"))
    found = MergeCompilerRegions()(annotated)
    check_convex(found)
    other = "{default tanh(<default {a exp(<a x>)}>)}"
    assert spelled(found["main"].body) == f"{{a add(<a {{a relu(exp(<a x>))}}>, <a {other}>)}}"
    names = ["tvmgen_default_a_main_0", "tvmgen_default_a_main_1"]
    assert externals(PartitionGraph()(found)) == names


def test_a_diamond_whose_other_side_has_no_annotations() -> None:
    first = f"%0 = exp({_begin('%x')});\n%1 = {_end('%0')};\n"
    sides = f"%2 = tanh(%1);\n%3 = {_end('nn.relu(' + _begin('%1') + ')')};\n"
    found = _merged(first + sides + _end(f"add({_begin('%3')}, {_begin('%2')})"))
    assert found == "{a add(<a {a relu(exp(<a x>))}>, <a tanh({a exp(<a x>)})>)}"


def test_a_diamond_of_ours_alone_is_one_region() -> None:
    annotated = AnnotateTarget([_A])(module("%0 = exp(%x);\nadd(nn.relu(%0), exp(%0))"))
    found = MergeCompilerRegions()(annotated)
    assert spelled(found["main"].body) == "{a add(relu(exp(<a x>)), exp(exp(<a x>)))}"


def test_the_example_of_the_algorithm() -> None:
    params = ", ".join(f"%i{n}: float32" for n in range(1, 11))
    body = """%2 = add(add(%i1, %i2), add(%i3, %i4));
    %4 = subtract(%i7, subtract(%i5, %i6));
    %5 = add(%2, %4);
    %6 = subtract(%i8, %5);
    %7 = add(%i9, %5);
    add(%i10, add(%6, %7))"""
    annotated = AnnotateTarget([_A])(module(body, params))
    found = MergeCompilerRegions()(annotated)
    check_convex(found)
    four = "subtract(<default i7>, subtract(<default i5>, <default i6>))"
    five = f"add(add(add(<a i1>, <a i2>), add(<a i3>, <a i4>)), <a {{default {four}}}>)"
    six = f"{{default subtract(<default i8>, <default {{a {five}}}>)}}"
    seven = f"{{a add(<a i9>, {five})}}"
    assert spelled(found["main"].body) == f"{{a add(<a i10>, add(<a {six}>, <a {seven}>))}}"


def test_two_ways_round_through_others() -> None:
    body = "%0 = exp(%x);\n%1 = tanh(%0);\n%2 = nn.relu(%1);\n%3 = sqrt(%0);\nadd(add(%2, %0), %3)"
    annotated = AnnotateTarget([_A])(module(body))
    merged = MergeCompilerRegions()(annotated)
    check_convex(merged)
    assert len(externals(PartitionGraph()(merged))) == 2  # exp; relu and both sums


def test_codegens_do_not_mix() -> None:
    annotated = AnnotateTarget([support("b", "exp"), _A])(module("exp(nn.relu(exp(%x)))"))
    merged = MergeCompilerRegions()(annotated)
    assert str(merged) == str(annotated)


def test_regions_that_need_each_other_are_refused() -> None:
    both = f"%0 = add({_begin('%x')}, {_begin('%x')});\n%1 = {_end('%0')};\n"
    body = both + f"%2 = {_begin('tanh(%1)')};\n" + _end("add(%0, %2)")
    for transform in (MergeCompilerRegions(), PartitionGraph()):
        with pytest.raises(ModelError, match="is not convex: it needs its own results"):
            transform(module(body))


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (_end("%x"), "compiler_end is outside of any region"),
        (_end(f"exp({_begin('%x')})", "b"), "a region of 'a' ends as 'b'"),
        (f"exp({_begin('%x')})", "a value leaves a region without compiler_end"),
        (
            f"exp({_begin(_begin('%x'), 'b')})",
            "a value of another one that has not ended",
        ),
        (_end(f"add({_begin('%x')}, %x)"), "an operand enters a region without compiler_begin"),
        (_end(f"add({_begin('%x')}, {_begin('%x', 'b')})"), "in regions of several compilers"),
    ],
)
def test_annotations_that_fit_no_region(body: str, message: str) -> None:
    for transform in (MergeCompilerRegions(), PartitionGraph()):
        with pytest.raises(ModelError, match=message) as caught:
            transform(module(body))
        assert "text:2:" in str(caught.value)


def test_long_chains() -> None:
    lines = "".join(f"%{i + 1} = nn.relu(%{i});\n" for i in range(3000))
    parsed = module(f"%0 = exp(%x);\n{lines} %3000")
    merged = MergeCompilerRegions()(AnnotateTarget([_A])(parsed))
    assert externals(PartitionGraph()(merged)) == ["tvmgen_default_a_main_0"]
