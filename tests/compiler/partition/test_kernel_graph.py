"""Partitioning of kernel graphs: regions, their order, several generators, and refusals."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest

from microgen.compiler.partition.kernel_graph import Generator, PartitionedGraph, partition_graph
from microgen.compiler.partition.relay_module import Partitioning
from microgen.graph.ir import verify
from microgen.graph.ir.graph import Graph, Node
from microgen.graph.ops import registry
from tests.compiler.partition.networks import (
    Builder,
    external_nodes,
    outputs,
    random_network,
    samples,
)
from tests.support.sampling import seeds

SEEDS = seeds(200)


def only(*ops: str) -> Generator:
    """A generator of the nodes of some ops."""
    return Generator(lambda node: None if node.op in ops else f"it is {node.op}")


def partitioned(
    graph: Graph, generators: Mapping[str, Generator], *, merges: bool = True
) -> PartitionedGraph:
    found = partition_graph(graph, generators, Partitioning("m", merge_regions=merges))
    verify.check(found.graph, registry())  # each node comes after the nodes that it reads
    for _, attrs in external_nodes(found.graph):
        verify.check(attrs.graph, registry())
    return found


def regions(graph: Graph) -> dict[str, list[str]]:
    """The ops of each region, keyed by the region's symbol."""
    return {a.symbol: [node.op for node in a.graph.nodes] for _, a in external_nodes(graph)}


def _fickle(seed: int, name: str) -> Generator:
    """A generator that takes about half of all nodes."""

    def refuses(node: Node) -> str | None:
        word = f"{seed}{name}{node.outputs[0]}"
        return None if sum(map(ord, word)) * 7919 % 100 < 55 else "it is not lucky"

    return Generator(refuses)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("merges", [True, False])
def test_random_graphs_are_whole_and_compute_the_same(merges: bool) -> None:
    taken = 0
    with np.errstate(all="ignore"):
        for seed in SEEDS:
            graph = random_network(seed)
            generators = {name: _fickle(seed, name) for name in ("a", "b")}
            found = partitioned(graph, generators, merges=merges)
            inside = [n for _, a in external_nodes(found.graph) for n in a.graph.nodes]
            outside = [n for n in found.graph.nodes if n.op != "external"]
            names = [o for n in (*inside, *outside) for o in n.outputs]
            assert sorted(names) == sorted(o for n in graph.nodes for o in n.outputs)
            given = samples(graph, seed)
            expected, mine = outputs(graph, given), outputs(found.graph, given)
            if expected is not None:
                assert mine is not None
                for left, right in zip(mine, expected, strict=True):
                    np.testing.assert_array_equal(left, right)
            taken += len(inside)
    assert taken > len(SEEDS)


def test_merged_regions_are_convex() -> None:
    """One region of exp and add would read tanh, which is outside and itself reads exp."""
    b = Builder()
    e = b.exp(b.input(2))
    graph = b.graph(b.add(e, b.tanh(e)))
    found = partitioned(graph, {"a": only("exp", "add")})
    assert list(regions(found.graph).values()) == [["exp"], ["add"]]
    assert [node.op for node in found.graph.nodes] == ["external", "tanh", "external"]


def test_merged_regions_are_as_large_as_can_be() -> None:
    b = Builder()
    e = b.exp(b.input(2))
    graph = b.graph(b.add(e, b.tanh(e)))
    everything = partitioned(graph, {"a": only("exp", "add", "tanh")})
    assert list(regions(everything.graph).values()) == [["exp", "tanh", "add"]]
    apart = partitioned(graph, {"a": only("exp", "add", "tanh")}, merges=False)
    assert list(regions(apart.graph).values()) == [["exp"], ["tanh"], ["add"]]


def test_nodes_keep_their_order_where_they_can() -> None:
    """A region takes the place of its first result."""
    b = Builder()
    x, y = b.input(2), b.input(2)
    first, other, second = b.exp(x), b.tanh(y), b.exp(y)
    total = b.add(first, second)
    found = partitioned(b.graph(total, b.tanh(other)), {"a": only("exp", "add")})
    assert [node.outputs for node in found.graph.nodes] == [("layer1",), (total,), ("layer4",)]


def test_a_region_comes_after_what_it_needs() -> None:
    b = Builder()
    x = b.input(2)
    first, other = b.exp(x), b.tanh(x)
    graph = b.graph(first, b.add(first, other))
    found = partitioned(graph, {"a": only("exp", "add")})
    assert [n.outputs for n in found.graph.nodes] == [("layer1",), ("layer0", "layer2")]


def test_a_region_may_have_several_results() -> None:
    b = Builder()
    e = b.exp(b.input(2))
    t = b.exp(e)
    graph = b.graph(b.tanh(e), t, b.tanh(t))
    ((node, attrs),) = external_nodes(partitioned(graph, {"a": only("exp")}).graph)
    assert node.outputs == attrs.graph.outputs == ("layer0", "layer1")


def _of_two_results() -> Graph:
    b = Builder()
    e = b.exp(b.input(2))
    t = b.exp(e)
    total = b.add(b.tanh(t), e)
    return partitioned(b.graph(total), {"a": only("exp")}).graph


def test_results_of_a_node_of_several_are_read_by_regions() -> None:
    graph = _of_two_results()
    assert [len(node.outputs) for node in graph.nodes] == [2, 1, 1]
    found = partitioned(graph, {"b": only("tanh", "add")})
    assert regions(found.graph) == {
        "tvmgen_m_a_main_0": ["exp", "exp"],
        "tvmgen_m_b_main_0": ["tanh", "add"],
    }
    ((_, _), (node, _)) = external_nodes(found.graph)
    assert set(node.inputs) == {"layer0", "layer1"}


def test_what_is_a_generators_stays_its_own() -> None:
    graph = _of_two_results()
    found = partitioned(graph, {"b": Generator(lambda _: None)})
    assert found.refusals == ()


def test_a_symbol_is_given_once() -> None:
    found = partitioned(_of_two_results(), {"a": only("tanh")})
    assert list(regions(found.graph)) == ["tvmgen_m_a_main_0", "tvmgen_m_a_main_0_1"]


def test_nodes_of_other_targets_are_refused() -> None:
    b = Builder()
    graph = b.graph(b.exp(b.input(2)))
    (node,) = graph.nodes
    placed = graph.replace(nodes=(replace(node, target="npu"),))
    found = partitioned(placed, {"a": only("exp")})
    assert found.graph == placed
    assert [r.why for r in found.refusals] == ["it is on the target npu"]


def test_nodes_with_a_state_are_refused() -> None:
    b = Builder()
    x, state = b.input(2), b.input(2)
    graph = b.graph(b.add(b.exp(x), state))
    graph = graph.replace(inputs=("input0",), variables=("input1",))
    found = partitioned(graph, {"a": only("exp", "add")})
    assert list(regions(found.graph).values()) == [["exp"]]
    (refusal,) = found.refusals
    assert (refusal.what, refusal.why) == ("add", "it keeps a state between inferences")


def test_the_first_generator_that_accepts_has_the_node() -> None:
    b = Builder()
    graph = b.graph(b.tanh(b.exp(b.input(2))))
    a, c = only("exp"), only("exp", "tanh")
    found = partitioned(graph, {"a": a, "b": c})
    assert regions(found.graph) == {"tvmgen_m_a_main_0": ["exp"], "tvmgen_m_b_main_1": ["tanh"]}
    assert [(r.by, r.what, r.why) for r in found.refusals] == [("a", "tanh", "it is tanh")]
    other = partitioned(graph, {"b": c, "a": a})
    assert list(regions(other.graph).values()) == [["exp", "tanh"]]
    assert not other.refusals


def test_every_refusal_is_kept_in_order() -> None:
    b = Builder()
    graph = b.graph(b.tanh(b.exp(b.input(2))))
    found = partitioned(graph, {"a": only(), "b": only()})
    assert found.graph == graph
    assert [(r.by, r.what) for r in found.refusals] == [
        ("a", "exp"),
        ("b", "exp"),
        ("a", "tanh"),
        ("b", "tanh"),
    ]


def test_constants_are_in_the_region_that_reads_them() -> None:
    b = Builder()
    shared = b.constant(2)
    x = b.input(2)
    graph = b.graph(b.tanh(b.add(x, shared)), b.tanh(b.add(b.exp(x), shared)))
    found = partitioned(graph, {"a": only("add")}, merges=False)
    nodes = external_nodes(found.graph)
    assert [list(attrs.graph.constants) for _, attrs in nodes] == [["constant0"]] * 2
    assert [node.inputs for node, _ in nodes] == [("input0",), ("layer2",)]
