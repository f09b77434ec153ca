"""What counts once in the flash of a schedule."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import pytest

from microgen.compiler.schedule.options import Option, space
from microgen.compiler.schedule.search import _regrouped
from microgen.compiler.schedule.state import Candidate
from microgen.kernels import registry
from microgen.kernels.base import Implementation
from microgen.kernels.cost import Cost
from microgen.project.firmware.crt_files import kernel_sources
from tests.compiler.schedule.costs import M4, parts_of, two_convolutions

FAST, SMALL = "mg_conv2d_s8_dsp", "mg_conv2d_s8_portable"

CORE = ("mg_core", 100)
COST = Cost(instructions=10, cycles=20, code_bytes=7, shared_bytes=0, cores=(CORE,))


def kernel(symbol: str) -> Implementation:
    (found,) = (each for each in registry()["nn.conv2d"] if each.symbol == symbol)
    return found


def candidate(*kinds: tuple[str, bool]) -> Candidate:
    """The convolutions by these kernels, in these forms, without constants."""
    graph = parts_of(two_convolutions()).graph
    nodes = [node for node in graph.nodes if node.op == "nn.conv2d"]
    picks = {
        node.outputs[0]: Option(
            (node,),
            replace(kernel(symbol), constants=lambda _node, _graph: ()),
            is_shared,
            COST,
            graph,
        )
        for node, (symbol, is_shared) in zip(nodes, kinds, strict=False)
    }
    return Candidate(picks)


@pytest.mark.parametrize(
    ("kinds", "copies"),
    [
        ([("mg_conv2d_s8_paired", False), ("mg_conv2d_s8_paired_stack", False)], 1),
        ([("mg_conv2d_winograd_s8", True), ("mg_conv2d_winograd_s8_areas_4", True)], 1),
        ([("mg_conv2d_winograd_s8", True), ("mg_conv2d_winograd_s8", False)], 2),
        ([("mg_conv2d_s8_paired", True), ("mg_conv2d_s8_paired_stack", True)], 1),
        ([("mg_conv2d_s8_paired", True), ("mg_conv2d_winograd_s8", True)], 2),
    ],
)
def test_a_function_of_several_kernels_counts_once_in_a_source(
    kinds: list[tuple[str, bool]], copies: int
) -> None:
    assert candidate(*kinds).flash == 2 * 7 + copies * 100


def test_a_change_that_keeps_the_function_costs_only_its_own_code() -> None:
    one = candidate(("mg_conv2d_s8_paired", False))
    two = candidate(("mg_conv2d_s8_paired", False), ("mg_conv2d_s8_paired_stack", False))
    added = {name: option for name, option in two.picks.items() if name not in one.picks}
    assert Candidate({**one.picks, **added}).flash - one.flash == 7


def test_layers_that_lose_little_share_a_form() -> None:
    """Out of line, two small layers cost little time, and the large one would cost much."""
    options = space(parts_of(two_convolutions()), M4.cpu, prefers_shared=False)
    names = list(options.single)
    assert len(names) > 2
    kinds = [(FAST, False), (FAST, True)]
    slower = dict(zip(names, (1000, 10, 20), strict=True))
    single = {name: tuple(option(name, kind, slower[name]) for kind in kinds) for name in names}
    shared = {name: [ways[1]] for name, ways in single.items()}
    change = partial(_regrouped, shared, kinds[0], part=0.6)
    changed = change(Candidate({name: single[name][0] for name in names}))
    assert list(changed) == names[1:]
    assert all(each.is_shared for each in changed.values())


def option(name: str, kind: tuple[str, bool], slower: int) -> Option:
    """A way to compute a convolution, which takes ``slower`` cycles more out of line."""
    graph = parts_of(two_convolutions()).graph
    node = next(node for node in graph.nodes if node.outputs[0] == name)
    symbol, is_shared = kind
    return Option((node,), kernel(symbol), is_shared, Cost(1, 1 + slower * is_shared, 1), graph)


def test_kernels_of_a_header_are_in_one_source() -> None:
    names = ("mg_conv2d_winograd_s8", "mg_conv2d_winograd_s8_areas_4")
    ((path, text),) = kernel_sources(kernel(name).code for name in names).items()
    assert path == "kernels/conv2d_winograd_s8.c"
    assert text.count("#include") == 1
    assert all(f"MG_CONV2D_WINOGRAD_S8_KERNEL({name}, " in text for name in names)
