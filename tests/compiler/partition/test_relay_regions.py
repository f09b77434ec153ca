"""What generators of Relay take of a kernel graph: single nodes, patterns, and regions."""

from __future__ import annotations

import numpy as np
import pytest

from microgen.compiler.partition import kernel_graph
from microgen.compiler.partition.kernel_graph import Generator, PartitionedGraph
from microgen.compiler.partition.relay_module import Partitioning
from microgen.compiler.partition.relay_regions import RelayRegions
from microgen.graph.arithmetic.terms import Activation, Rounding
from microgen.graph.ir.graph import Graph
from microgen.graph.ops.convolution.conv2d import Conv2DAttrs
from microgen.graph.ops.dense.dense import DenseAttrs
from microgen.graph.ops.elementwise.addition import AddAttrs
from microgen.relay.expr import Call, Expr, Function, Op, Var
from microgen.relay.pattern import is_op, wildcard
from microgen.relay.transform import CompositePattern, Support
from microgen.relay.visit import depth_first, operands, post_order
from microgen.tvm.codegens.dnnl.composites import SUPPORT as DNNL
from tests.compiler.partition.networks import (
    Builder,
    everything,
    external_nodes,
    of_relay,
    outputs,
    random_network,
    samples,
)

NONE, RELU = Activation.NONE, Activation.RELU
MANY = pytest.mark.parametrize("networks", [30, pytest.param(150, marks=pytest.mark.slow)])


def partitioned(
    graph: Graph, *supports: Support, composite: bool = False, merges: bool = True
) -> PartitionedGraph:
    def generator(support: Support) -> Generator:
        regions = RelayRegions(support, composite)
        return Generator(lambda node: regions.refusal(node, graph), regions.function)

    generators = {support.name: generator(support) for support in supports}
    return kernel_graph.partition_graph(graph, generators, Partitioning("m", merge_regions=merges))


def dense(b: Builder, data: str, units: int, activation: Activation = NONE) -> str:
    weight, bias = b.constant(units, b.types[data].shape[-1]), b.constant(units)
    attrs = DenseAttrs(activation, Rounding.DOUBLE, keep_num_dims=True)
    return b.node("nn.dense", attrs, data, weight, bias)


def conv(b: Builder, data: str, activation: Activation = NONE) -> str:
    weight, bias = b.constant(3, 3, 3, 3), b.constant(3)
    attrs = Conv2DAttrs((1, 1), (1, 1), (1, 1, 1, 1), activation, Rounding.DOUBLE)
    return b.node("nn.conv2d", attrs, data, weight, bias)


def called(function: Function) -> list[str]:
    """The operators and composite functions, in order."""
    calls = [e for e in depth_first(function.body, operands) if isinstance(e, Call)]
    return [e.op.name if isinstance(e.op, Op) else _composite(e.op) for e in calls]


def _composite(function: Expr) -> str:
    assert isinstance(function, Function)
    return str(function.attrs["Composite"])


def agree(graph: Graph, found: PartitionedGraph, seed: int) -> int:
    """Compares the functions of regions with their graphs, and returns the number of regions."""
    given = samples(graph, seed)
    whole = outputs(graph, given)
    if whole is None:
        return 0
    again = outputs(found.graph, given)
    assert again is not None
    for mine, theirs in zip(again, whole, strict=True):
        np.testing.assert_array_equal(mine, theirs)
    nodes = external_nodes(found.graph)
    for _, attrs in nodes:
        inside = samples(attrs.graph, seed)
        expected = outputs(attrs.graph, inside)
        assert expected is not None
        values = of_relay(attrs.function, [inside[name] for name in attrs.graph.inputs])
        # The frontend reads a convolution with one channel per group as another kind, which rounds
        # differently.
        tolerance = 1e-5 if any("conv2d" in node.op for node in attrs.graph.nodes) else 0
        for mine, theirs in zip(values, expected, strict=True):
            largest = np.max(np.abs(theirs), initial=0, where=np.isfinite(theirs))
            np.testing.assert_allclose(mine, theirs, rtol=0, atol=tolerance * largest)
    return len(nodes)


@pytest.mark.sampled(1)
@MANY
@pytest.mark.parametrize("merges", [True, False])
def test_functions_of_random_regions_compute_what_their_graphs_do(
    merges: bool, networks: int
) -> None:
    count = 0
    with np.errstate(all="ignore"):
        for seed in range(networks):
            graph = random_network(seed)
            lacking = ("add", "nn.relu", "reshape", "concatenate")[seed % 5 :][:1]
            found = partitioned(graph, everything("a", *lacking), merges=merges)
            count += agree(graph, found, seed)
    assert count > 60 * networks // 150


@MANY
def test_what_dnnl_takes_of_random_networks_computes_the_same(networks: int) -> None:
    count = 0
    with np.errstate(all="ignore"):
        for seed in range(networks):
            graph = random_network(seed)
            count += agree(graph, partitioned(graph, DNNL, composite=True), seed)
    assert count > 25 * networks // 150


def test_a_node_is_taken_if_all_its_calls_are() -> None:
    b = Builder()
    x = b.input(1, 4)
    graph = b.graph(dense(b, x, 3, RELU))
    found = partitioned(graph, everything("a"))
    ((node, attrs),) = external_nodes(found.graph)
    assert called(attrs.function) == ["nn.dense", "nn.bias_add", "nn.relu"]
    assert (node.op, node.target, node.function) == ("external", "a", "tvmgen_m_a_main_0")
    assert dict(attrs.function.attrs) == {
        "Inline": 1,
        "Compiler": "a",
        "global_symbol": "tvmgen_m_a_main_0",
        "Primitive": 1,
    }
    assert [p.name_hint for p in attrs.function.params] == ["a_0_i0"]
    assert attrs.types is not None
    assert all(e in attrs.types for e in post_order(attrs.function))


def test_the_first_call_that_is_not_taken_is_the_reason() -> None:
    b = Builder()
    x = b.input(1, 4)
    graph = b.graph(dense(b, x, 3, RELU))
    (refusal,) = partitioned(graph, everything("a", "nn.relu", "nn.bias_add")).refusals
    assert (refusal.by, refusal.what, refusal.why) == ("a", "nn.dense", "a has no nn.bias_add")


def test_what_has_no_form_in_relay_is_refused_with_the_reason() -> None:
    found = partitioned(random_network(1), everything("a"))
    assert any("rounding has no form in Relay" in r.why for r in found.refusals)


def test_patterns_count_if_composite_is_asked_for() -> None:
    b = Builder()
    graph = b.graph(dense(b, b.input(1, 4), 3, RELU))
    without = partitioned(graph, DNNL)
    assert not external_nodes(without.graph)
    assert [r.why for r in without.refusals] == ["dnnl has no nn.bias_add"]
    ((_, attrs),) = external_nodes(partitioned(graph, DNNL, composite=True).graph)
    assert called(attrs.function) == ["dnnl.dense_bias_relu"]


def test_patterns_match_across_the_nodes_of_a_region() -> None:
    b = Builder()
    x = b.input(1, 4, 4, 3)
    total = b.node("add", AddAttrs(RELU), conv(b, x), x)
    graph = b.graph(conv(b, total, RELU))
    ((_, attrs),) = external_nodes(partitioned(graph, DNNL, composite=True).graph)
    assert called(attrs.function) == ["dnnl.conv2d_bias_sum_relu", "dnnl.conv2d_bias_relu"]
    apart = external_nodes(partitioned(graph, DNNL, composite=True, merges=False).graph)
    assert [called(a.function) for _, a in apart] == [
        ["dnnl.conv2d_bias"],
        ["add", "nn.relu"],
        ["dnnl.conv2d_bias_relu"],
    ]


def test_patterns_of_single_nodes_count_where_those_of_several_leave_a_call_over() -> None:
    """A match of exp and dense would leave a bias that no pattern takes."""
    product = is_op("nn.dense")(is_op("exp")(wildcard()), wildcard())
    biased = is_op("nn.bias_add")(is_op("nn.dense")(wildcard(), wildcard()), wildcard())
    patterns = (CompositePattern("a.late", product), CompositePattern("a.biased", biased))
    support = Support("a", {"exp": lambda _: None}, patterns)
    b = Builder()
    graph = b.graph(dense(b, b.exp(b.input(1, 4)), 3))
    found = partitioned(graph, support, composite=True)
    ((_, attrs),) = external_nodes(found.graph)
    assert called(attrs.function) == ["exp", "a.biased"]
    assert agree(graph, found, 0) == 1


def test_patterns_of_other_names_are_nobodys() -> None:
    pattern = CompositePattern("other.tanh", is_op("tanh")(wildcard()))
    b = Builder()
    graph = b.graph(b.tanh(b.input(2)))
    assert not external_nodes(
        partitioned(graph, Support("a", {}, (pattern,)), composite=True).graph
    )


def test_the_reason_of_a_pattern_comes_first() -> None:
    def check(_match: object) -> str:
        return "it is Tuesday"

    biased = is_op("nn.bias_add")(is_op("nn.dense")(wildcard(), wildcard()), wildcard())
    support = Support("a", {}, (CompositePattern("a.biased", biased, check),))
    b = Builder()
    graph = b.graph(dense(b, b.input(1, 4), 3))
    (refusal,) = partitioned(graph, support, composite=True).refusals
    assert refusal.why == "it is Tuesday"


def test_constants_are_bound_and_parameters_named_in_order() -> None:
    b = Builder()
    x, y = b.input(2, 3), b.input(2, 3)
    graph = b.graph(b.add(b.add(y, b.constant(3)), b.exp(x)))
    ((node, attrs),) = external_nodes(partitioned(graph, everything("a", "exp")).graph)
    params = attrs.function.params
    assert all(isinstance(p, Var) and p.name_hint.startswith("a_0_i") for p in params)
    assert node.inputs == attrs.graph.inputs == ("input1", "layer1")
    assert len(params) == 2
    assert list(attrs.graph.constants) == ["constant0"]


def test_a_region_of_several_results_is_a_tuple() -> None:
    b = Builder()
    first = b.exp(b.input(2, 3))
    graph = b.graph(first, b.add(first, first))
    found = partitioned(graph, everything("a"))
    ((node, attrs),) = external_nodes(found.graph)
    assert node.outputs == attrs.graph.outputs == ("layer0", "layer1")
    assert agree(graph, found, 1) == 1


def test_a_node_of_a_generator_before_is_not_asked_for() -> None:
    b = Builder()
    graph = b.graph(b.tanh(b.exp(b.input(2))))
    found = partitioned(graph, everything("a", "tanh"), everything("b"))
    assert [attrs.codegen for _, attrs in external_nodes(found.graph)] == ["a", "b"]
    assert [(r.by, r.what) for r in found.refusals] == [("a", "tanh")]
