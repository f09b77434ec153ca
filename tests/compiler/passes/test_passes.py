"""Each pass on a small graph, and all of them on random graphs: results must never change."""

from __future__ import annotations

import numpy as np
import pytest

from microgen.compiler import passes
from microgen.graph.arithmetic.terms import Activation
from microgen.graph.ir import verify
from microgen.graph.ir.graph import Graph, Quant
from microgen.graph.ir.interpreter import evaluate
from microgen.graph.ops import registry
from tests.support.graphs import Builder, random_graph

COMMON = {
    *("add", "clip", "nn.avg_pool2d", "nn.conv2d", "nn.dense", "nn.depthwise_conv2d"),
    *("nn.max_pool2d", "nn.pad", "nn.softmax", "reshape", "sigmoid"),
}


def _ops(graph: Graph) -> list[str]:
    return [node.op for node in graph.nodes]


def _outputs(graph: Graph, seed: int) -> list[bytes]:
    rng = np.random.default_rng(seed)
    inputs = {
        name: rng.integers(-128, 128, graph.types[name].shape).astype(np.int8)
        for name in graph.inputs
    }
    values = evaluate(graph, inputs, registry())
    return [values[name].tobytes() for name in graph.outputs]


@pytest.mark.sampled(75)
@pytest.mark.parametrize("seed", range(150))
def test_no_pass_changes_what_a_random_graph_computes(seed: int) -> None:
    graph = random_graph(seed)
    verify.check(graph, registry())
    expected = _outputs(graph, seed)
    for step in passes.DEFAULT_PIPELINE:
        graph = step(graph)
        verify.check(graph, registry())
        assert _outputs(graph, seed) == expected, step.__name__


def test_random_graphs_exercise_common_ops_and_every_pass() -> None:
    graphs = [random_graph(seed) for seed in range(150)]
    used = {node.op for graph in graphs for node in graph.nodes}
    assert used >= COMMON
    for step in passes.DEFAULT_PIPELINE:
        if step in (passes.cancel_layouts, passes.slide_windows, passes.own_updates):
            continue  # test_cancel_layouts.py and test_updates.py draw graphs for these
        if step in (passes.dead_channels, passes.merge_affine, passes.scale_weights):
            continue  # test_dead_networks.py and test_scale_weights.py have graphs for these
        if step is passes.inside:
            continue  # tests of loops have graphs inside graphs
        if step is passes.store_weights:
            continue  # test_store_weights.py has graphs for it
        changed = 0
        for graph in graphs:
            for earlier in passes.DEFAULT_PIPELINE:
                after = earlier(graph)
                if earlier is step:
                    changed += after.nodes != graph.nodes or after.outputs != graph.outputs
                    break
                graph = after
        assert changed > 0, step.__name__


def test_a_clamp_with_equal_quantization_moves_into_the_convolution() -> None:
    b = Builder()
    graph = passes.run(b.graph(b.clip(b.conv(b.input(1, 4, 4, 2), 3), Activation.RELU6)))
    assert _ops(graph) == ["nn.conv2d"]
    assert graph.nodes[0].attrs.activation is Activation.RELU6  # type: ignore[attr-defined]


def test_a_clamp_moves_past_reshapes() -> None:
    b = Builder()
    conv = b.reshape(b.conv(b.input(1, 1, 4, 2), 3), 1, 4, 3)
    graph = passes.run(b.graph(b.clip(b.reshape(conv, 4, 3), Activation.RELU6)))
    assert _ops(graph) == ["nn.conv2d", "reshape"]
    assert graph.nodes[0].attrs.activation is Activation.RELU6  # type: ignore[attr-defined]
    assert graph.outputs == ("layer3",)


def test_a_clamp_stays_where_a_reshape_has_another_reader() -> None:
    b = Builder()
    flat = b.reshape(b.conv(b.input(1, 1, 4, 2), 3), 4, 3)
    graph = passes.run(b.graph(b.clip(flat, Activation.RELU), flat))
    assert "clip" in _ops(graph)


def test_a_clamp_that_rescales_stays() -> None:
    b = Builder()
    other = Quant((0.1,), (-128,))
    graph = passes.run(b.graph(b.clip(b.conv(b.input(1, 4, 4, 2), 3), Activation.RELU, other)))
    assert _ops(graph) == ["nn.conv2d", "clip"]


def test_a_clamp_stays_where_the_unclamped_tensor_has_another_reader() -> None:
    b = Builder()
    conv = b.conv(b.input(1, 4, 4, 2), 3)
    graph = passes.run(b.graph(b.add(conv, b.clip(conv, Activation.RELU))))
    assert "clip" in _ops(graph)


def test_a_pad_by_the_zero_point_becomes_the_convolutions_padding() -> None:
    b = Builder()
    padded = b.pad(b.input(1, 4, 4, 2), ((0, 0), (1, 2), (3, 4), (0, 0)), 3)
    graph = passes.run(b.graph(b.conv(padded, 3, padding="VALID")))
    assert _ops(graph) == ["nn.conv2d"]
    assert graph.nodes[0].attrs.padding == (1, 3, 2, 4)  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("pads", "value"),
    [
        (((0, 0), (1, 1), (1, 1), (0, 0)), 4),
        (((0, 0), (1, 1), (1, 1), (0, 1)), 3),
    ],
    ids=["another value", "channels"],
)
def test_other_pads_stay(pads: tuple[tuple[int, int], ...], value: int) -> None:
    b = Builder()
    padded = b.pad(b.input(1, 4, 4, 2), pads, value)
    graph = passes.run(b.graph(b.conv(padded, 3, padding="VALID")))
    assert _ops(graph) == ["nn.pad", "nn.conv2d"]


def test_a_pad_before_a_pool_stays_because_a_pool_skips_its_padding() -> None:
    b = Builder()
    padded = b.pad(b.input(1, 4, 4, 2), ((0, 0), (1, 1), (1, 1), (0, 0)), 3)
    assert _ops(passes.run(b.graph(b.pool(padded, "avg")))) == ["nn.pad", "nn.avg_pool2d"]


def test_same_padding_becomes_numbers_as_tflite_splits_them() -> None:
    b = Builder()
    graph = passes.run(b.graph(b.conv(b.input(1, 6, 5, 1), 1, 3, stride=2)))
    assert graph.nodes[0].attrs.padding == (0, 1, 1, 1)  # type: ignore[attr-defined]


def test_chains_of_views_become_one_and_idle_views_none() -> None:
    b = Builder()
    data = b.conv(b.input(1, 4, 4, 2), 3)
    back = b.reshape(b.reshape(data, 48), 1, 4, 4, 3)
    graph = passes.run(b.graph(b.clip(back, Activation.RELU), b.dense(b.reshape(back, 1, 48), 2)))
    assert _ops(graph).count("reshape") == 1


def test_a_node_of_constants_is_computed_while_compiling() -> None:
    b = Builder()
    graph = passes.run(b.graph(b.add(b.input(1, 2, 2, 1), b.add(b.int8(1, 2, 2, 1), b.int8(1)))))
    assert _ops(graph) == ["add"]


def test_what_no_output_needs_is_dropped_but_inputs_stay() -> None:
    b = Builder()
    first, second = b.input(1, 2, 2, 1), b.input(1, 2, 2, 1)
    b.conv(second, 3)
    graph = passes.run(b.graph(b.clip(first, Activation.RELU)))
    assert _ops(graph) == ["clip"]
    assert graph.inputs == (first, second)
    assert not graph.constants


def test_an_output_is_copied_only_where_nothing_computes_it_for_itself_alone() -> None:
    b = Builder()
    data = b.input(1, 2, 2, 1)
    conv = b.conv(data, 1)
    graph = passes.run(b.graph(conv, data, conv, b.reshape(conv, 4), b.int8(3)))
    assert _ops(graph).count("copy") == 4
    assert graph.outputs[0] == conv
    assert len(set(graph.outputs)) == 5
