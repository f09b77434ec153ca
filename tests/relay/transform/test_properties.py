"""Whatever the graph: each pass keeps what is computed, carries the types over, makes text that
comes back, and regions stay convex."""

from __future__ import annotations

import pytest

from microgen import relay
from microgen.relay.transform import (
    AnnotateTarget,
    MergeCompilerRegions,
    MergeComposite,
    PartitionGraph,
)
from microgen.relay.transform.annotated_regions import is_mark
from microgen.relay.visit import post_order
from tests.relay.transform.checks import (
    check_convex,
    check_text,
    check_types,
    externals,
    same_value,
)
from tests.relay.transform.random_graphs import random_case
from tests.support.sampling import seeds


def _stages(seed: int, merges: bool) -> list[relay.IRModule]:
    module, supports, patterns = random_case(seed)
    composite = MergeComposite(patterns)(module)
    annotated = AnnotateTarget(supports)(composite)
    merged = MergeCompilerRegions()(annotated) if merges else annotated
    return [module, composite, annotated, merged, PartitionGraph()(merged)]


def _check(seed: int, merges: bool) -> int:
    """How many external functions the graph has in the end."""
    original, *stages = _stages(seed, merges)
    for module in stages:
        check_types(module)
        check_text(module)
        check_convex(module)
        assert same_value(module, original)
    last = stages[-1]
    assert not any(is_mark(e) for f in last.functions.values() for e in post_order(f))
    for name in externals(last):
        attrs = last[name].attrs
        assert list(attrs) == ["Inline", "Compiler", "global_symbol", "Primitive"]
        assert attrs["global_symbol"] == name
    return len(externals(last))


@pytest.mark.sampled(30)
@pytest.mark.parametrize("merges", [False, True])
@pytest.mark.parametrize("number", range(60))
def test_passes(number: int, merges: bool) -> None:
    _check(number, merges)


@pytest.mark.slow
@pytest.mark.parametrize("number", range(1000, 1400))
def test_passes_on_many_graphs(number: int) -> None:
    assert _check(number, merges=True) <= _check(number, merges=False)


def test_merging_makes_fewer_functions() -> None:
    apart = sum(_check(number, merges=False) for number in seeds(40))
    assert sum(_check(number, merges=True) for number in seeds(40)) < apart * 0.7


@pytest.mark.parametrize("number", range(0, 60, 7))
def test_equal_modules_are_partitioned_to_equal_text(number: int) -> None:
    assert [str(m) for m in _stages(number, True)] == [str(m) for m in _stages(number, True)]


@pytest.mark.parametrize("number", range(0, 60, 7))
def test_the_second_time_nothing_changes(number: int) -> None:
    _, supports, patterns = random_case(number)
    for merges in (False, True):
        _, _, annotated, merged, partitioned = _stages(number, merges)
        assert str(AnnotateTarget(supports)(annotated)) == str(annotated)
        again = PartitionGraph()(AnnotateTarget(supports)(merged))
        assert str(again) == str(partitioned)
        assert str(MergeCompilerRegions()(MergeCompilerRegions()(merged))) == str(
            MergeCompilerRegions()(merged)
        )
        assert str(PartitionGraph()(partitioned)) == str(partitioned)
        assert str(MergeComposite(patterns)(partitioned)) is not None
