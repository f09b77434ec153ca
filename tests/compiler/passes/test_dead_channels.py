"""Channels that are constant or unread are removed, and nothing else changes, bit for bit."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from microgen.graph.ir.graph import ArrayType, DType
from microgen.graph.ir.interpreter import evaluate
from microgen.graph.ops import registry
from microgen.graph.ops.base import Padding
from microgen.graph.ops.moves.layouts import ConcatenateAttrs
from microgen.graph.ops.reductions.reduction import MeanAttrs
from tests.compiler.passes.planting import DEAD, LEFT, ZERO, kept, reduced, start


def test_channels_that_mean_0_are_removed_from_both_layers_whatever_the_padding() -> None:
    b, first = start()
    b.kill(first, DEAD)
    last = b.conv(first, 6, 3)
    graph = reduced(b.graph(last))
    assert kept(graph) == {first: LEFT}
    weight, following = (graph.nodes[k].inputs[1] for k in (0, 1))
    assert graph.types[weight].shape == (4, 1, 1, 3)
    assert graph.types[following].shape == (6, 3, 3, 4)
    quant = graph.types[weight].quant
    own = weight.partition("#")[0]  # of the model; other values have another name
    whole = b.types[own].quant
    assert quant is not None
    assert whole is not None
    assert quant.scale == tuple(whole.scale[i] for i in LEFT)
    assert len(quant.zero_point) == 4
    np.testing.assert_array_equal(graph.constants[weight], b.constants[own][list(LEFT)])
    np.testing.assert_array_equal(
        graph.constants[graph.nodes[1].inputs[2]], b.constants[b.nodes[1].inputs[2]]
    )


@pytest.mark.parametrize("padding", ["VALID", "SAME"])
def test_other_constants_move_into_the_next_bias_if_no_window_is_padded(padding: Padding) -> None:
    b, first = start()
    b.kill(first, DEAD, bias=900)
    last = b.conv(first, 6, 3, padding=padding)
    graph = reduced(b.graph(last))
    if padding == "SAME":
        assert not graph.channels
        return
    assert kept(graph) == {first: LEFT}
    before = evaluate(b.graph(last), {"input0": np.zeros((1, 5, 4, 3), np.int8)}, registry())
    weights = b.constants[b.nodes[1].inputs[1]].astype(np.int64).sum(axis=(1, 2))
    value = before[first][0, 0, 0, list(DEAD)].astype(np.int64) + 128
    assert (value > 0).all()
    expected = b.constants[b.nodes[1].inputs[2]] + weights[:, DEAD] @ value
    np.testing.assert_array_equal(graph.constants[graph.nodes[1].inputs[2]], expected)


def test_a_1x1_convolution_is_not_padded_and_a_layer_without_bias_gets_one() -> None:
    b, first = start()
    b.kill(first, DEAD, bias=900)
    last = b.conv(first, 6, 1, with_bias=False)
    graph = reduced(b.graph(last))
    assert kept(graph) == {first: LEFT}
    assert len(graph.nodes[1].inputs) == 3
    assert graph.types[graph.nodes[1].inputs[2]] == ArrayType((6,), DType.INT32)


def test_a_layer_without_bias_gets_none_for_channels_that_mean_0() -> None:
    b, first = start()
    b.kill(first, DEAD)
    graph = reduced(b.graph(b.conv(first, 6, 3, with_bias=False)))
    assert kept(graph) == {first: LEFT}
    assert len(graph.nodes[1].inputs) == 2


@pytest.mark.parametrize("bias", [-(2**27), 2**27])
def test_biases_that_no_sum_can_outweigh_make_constants(bias: int) -> None:
    b, first = start()
    b.offset(first, DEAD, bias)
    graph = reduced(b.graph(b.conv(first, 6, 1)))
    assert kept(graph) == {first: LEFT}


def test_a_bias_that_one_input_outweighs_makes_none() -> None:
    """The sums of channel 1 are at most 0, except for one input; those of channel 2, for all."""
    b, first = start(8)
    weight = b.constants[b.nodes[0].inputs[1]].astype(int).reshape(8, 3)
    largest = np.maximum(weight * (-128 - 3), weight * (127 - 3)).sum(axis=1)
    assert b.types[b.nodes[0].inputs[1]].quant
    for channel in DEAD:
        b.offset(first, [channel], -int(largest[channel]))
    last = b.conv(first, 6, 1)
    assert kept(reduced(b.graph(last))) == {first: LEFT}
    b.offset(first, [DEAD[0]], 200 - int(largest[DEAD[0]]))
    assert DEAD[0] in kept(reduced(b.graph(last))).get(first, range(8))


@pytest.mark.parametrize("multiplier", [1, 2])
def test_a_depthwise_convolution_loses_the_channels_of_its_input(multiplier: int) -> None:
    b, first = start()
    b.kill(first, DEAD)
    middle = b.depthwise(first, multiplier=multiplier)
    graph = reduced(b.graph(b.conv(middle, 6, 1)))
    assert kept(graph)[first] == LEFT
    assert kept(graph)[middle] == tuple(i for i in range(8 * multiplier) if i // multiplier in LEFT)


def test_a_padded_depthwise_convolution_of_another_constant_is_kept() -> None:
    b, first = start()
    b.kill(first, DEAD, bias=900)
    assert not reduced(b.graph(b.conv(b.depthwise(first), 6, 1))).channels
    unpadded = b.depthwise(first, padding="VALID")
    assert kept(reduced(b.graph(b.conv(unpadded, 6, 1))))[first] == LEFT


def test_a_constant_result_of_a_depthwise_convolution_frees_its_input() -> None:
    b, first = start()
    middle = b.small(first)
    b.kill(middle, DEAD, bias=500)
    graph = reduced(b.graph(b.conv(middle, 6, 1)))
    assert kept(graph) == {first: LEFT, middle: LEFT}


def test_channels_that_nothing_reads_are_removed_through_the_layers_before() -> None:
    b, first = start()
    middle = b.pool(b.small(first), "max")
    last = b.conv(middle, 6, 3)
    b.ignore(last, DEAD)
    graph = reduced(b.graph(last))
    assert set(kept(graph).values()) == {LEFT}
    assert len(graph.channels) == 3


def test_a_channel_that_only_an_unread_channel_reads_is_removed() -> None:
    b, first = start()
    middle, last = b.relu(first, 8), ""
    b.ignore(middle, DEAD)
    b._change(middle, 1, (2, 0, 0, 1), 7)  # channel 2 reads channel 1, and nothing reads 2
    last = b.conv(middle, 6, 1)
    b.ignore(last, DEAD)
    assert kept(reduced(b.graph(last))) == {first: LEFT, middle: LEFT}


def test_a_channel_with_another_reader_is_kept() -> None:
    b, first = start()
    last = b.conv(first, 6, 3)
    b.ignore(last, DEAD)
    graph = reduced(b.graph(last, b.conv(first, 2, 3)))
    assert not graph.channels


def test_an_addition_loses_the_channels_that_are_dead_on_both_sides() -> None:
    b, first = start()
    other = b.relu("input0", 8)
    b.kill(first, (1, 2, 3, 5, 6))
    b.kill(other, (0, *DEAD))
    total = b.add(first, other)
    graph = reduced(b.graph(b.conv(total, 6, 1)))
    assert kept(graph) == {first: LEFT, other: LEFT, total: LEFT}


def test_an_addition_needs_channels_that_are_dead_on_one_side() -> None:
    b, first = start()
    other = b.relu("input0", 8)
    b.kill(first, DEAD)
    assert not reduced(b.graph(b.conv(b.add(first, other), 6, 1))).channels


def test_a_sum_with_a_constant_is_constant() -> None:
    b, first = start()
    b.kill(first, DEAD)
    total = b.add(first, b.int8(8))
    graph = reduced(b.graph(b.conv(total, 6, 1)))
    assert kept(graph) == {first: LEFT, total: LEFT}
    assert [graph.types[name].shape for name in graph.nodes[1].inputs] == [(1, 5, 4, 4), (4,)]


def test_a_residual_keeps_the_same_channels_on_every_path() -> None:
    """The path around needs channel 1, so the path through the convolution has it, too."""
    b, first = start(12)
    through = b.relu(first, 12)
    b.ignore(through, range(1, 6))
    b.kill(through, range(1, 5))
    total = b.add(first, through, quant=ZERO)
    last, branch = b.conv(total, 6, 1), b.conv(first, 6, 1)
    b.ignore(last, range(1, 6))
    b.ignore(branch, range(2, 6))
    graph = reduced(b.graph(last, branch))
    assert kept(graph) == dict.fromkeys((first, through, total), (0, 1, 6, 7, 8, 9, 10, 11))


def test_a_concatenation_of_channels_loses_those_of_each_part() -> None:
    b, first = start()
    other = b.relu("input0", 6)
    b.kill(first, DEAD)
    b.kill(other, (0, 1))
    joined = b.node("concatenate", ConcatenateAttrs(3), first, other, quant=ZERO)
    graph = reduced(b.graph(b.conv(joined, 6, 3)))
    assert kept(graph) == {first: LEFT, other: (2, 3, 4, 5), joined: (*LEFT, 10, 11, 12, 13)}


def test_a_part_of_a_concatenation_keeps_a_channel() -> None:
    b, first = start(12)
    other = b.relu("input0", 6)
    b.kill(first, range(12))
    joined = b.node("concatenate", ConcatenateAttrs(3), first, other, quant=ZERO)
    graph = reduced(b.graph(b.conv(joined, 6, 3)))
    assert kept(graph)[first] == (0, 1, 2, 3)


def test_a_concatenation_of_rows_loses_what_is_dead_in_all_parts() -> None:
    b, first = start()
    other = b.relu("input0", 8)
    b.kill(first, DEAD, bias=900)
    b.kill(other, DEAD, bias=-900)
    joined = b.node("concatenate", ConcatenateAttrs(1), first, other, quant=ZERO)
    last = b.conv(joined, 6, 1)
    assert not reduced(b.graph(last)).channels  # constant in each part, with different values
    b.kill(other, DEAD)
    b.kill(first, DEAD)
    assert kept(reduced(b.graph(last)))[joined] == LEFT


@pytest.mark.parametrize("is_flat", [True, False])
def test_a_dense_layer_loses_the_features_of_all_pixels(is_flat: bool) -> None:
    b, first = start()
    b.kill(first, DEAD, bias=900)
    flat = b.reshape(first, 1, 160) if is_flat else first
    dense = b.dense(b.reshape(first, 1, 160), 4)
    b.nodes[-1] = dataclasses.replace(b.nodes[-1], inputs=(flat, *b.nodes[-1].inputs[1:]))
    graph = reduced(b.graph(dense))
    assert kept(graph)[first] == LEFT
    weight = b.constants[b.nodes[-1].inputs[1]]
    expected = weight.reshape(4, 20, 8)[..., list(LEFT)].reshape(4, 80)
    np.testing.assert_array_equal(graph.constants[graph.nodes[-1].inputs[1]], expected)


def test_a_mean_loses_the_channels_of_its_input() -> None:
    b, first = start()
    b.kill(first, DEAD, bias=900)
    mean = b.node("mean", MeanAttrs((1, 2), keep_dims=False), first)
    graph = reduced(b.graph(b.dense(mean, 4)))
    assert kept(graph) == {first: LEFT, mean: LEFT}


def test_a_pad_with_another_value_makes_a_channel_vary() -> None:
    b, first = start()
    b.kill(first, DEAD)
    pads = ((0, 0), (1, 0), (0, 1), (0, 0))
    assert kept(reduced(b.graph(b.conv(b.pad(first, pads, -128), 6, 1))))[first] == LEFT
    assert not reduced(b.graph(b.conv(b.pad(first, pads, 5), 6, 1))).channels


def test_a_table_of_a_constant_is_constant() -> None:
    b, first = start()
    b.kill(first, DEAD, bias=900)
    graph = reduced(b.graph(b.conv(b.sigmoid(first), 6, 1)))
    assert [node.op for node in graph.nodes] == ["nn.conv2d", "lookup", "nn.conv2d"]
    assert kept(graph)[first] == LEFT
