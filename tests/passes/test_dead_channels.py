"""Channels that are constant or unread are removed, and nothing else changes, bit for bit."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest

import microgen
from microgen import frontends, passes
from microgen.arithmetic.terms import Activation, Rounding
from microgen.ir import verify
from microgen.ir.graph import Array, DType, Graph, Node, Quant, TensorType, frozen
from microgen.ir.interpreter import evaluate
from microgen.ops import registry
from microgen.ops.base import Padding
from microgen.ops.concatenate import ConcatenateAttrs
from microgen.ops.conv2d import Conv2DAttrs
from microgen.ops.mean import MeanAttrs
from microgen.options import OPTIMIZE
from microgen.passes.dead_channels import dead_channels
from tests.graphs import DEFAULT, Builder

EARLIER = passes.DEFAULT_PIPELINE[: passes.DEFAULT_PIPELINE.index(dead_channels)]
ZERO = Quant((0.05,), (-128,))  # of tensors after a ReLU: the zero point is the least value


def _values(graph: Graph, seed: int) -> dict[str, Array]:
    rng = np.random.default_rng(seed)
    inputs = {}
    for name in graph.inputs:
        kind = graph.types[name]
        limits = np.iinfo(kind.dtype.numpy)
        extremes = rng.choice([limits.min, limits.max], kind.shape)
        values = rng.integers(limits.min, limits.max + 1, kind.shape)
        inputs[name] = np.where(rng.random() < 0.3, extremes, values).astype(kind.dtype.numpy)
    return evaluate(graph, inputs, registry())


def _reduced(graph: Graph, samples: int = 3) -> Graph:
    """The graph without dead channels. All values that it still has are compared."""
    verify.check(graph, registry())
    before = passes.run(graph, EARLIER)
    after = dead_channels(before)
    verify.check(after, registry())
    for seed in range(samples):
        expected, found = _values(before, seed), _values(after, seed)
        for node in after.nodes:
            (name,) = node.outputs
            whole, channels = expected[name], after.channels.get(name)
            left = whole if channels is None else whole[..., list(channels.kept)]
            np.testing.assert_array_equal(found[name], left, err_msg=name, strict=True)
        assert after.outputs == before.outputs
    for name, channels in after.channels.items():
        assert channels.count == before.types[name].shape[-1]
        assert len(channels.kept) == after.types[name].shape[-1] > 0
    return after


def _kept(graph: Graph) -> dict[str, tuple[int, ...]]:
    return {name: channels.kept for name, channels in graph.channels.items()}


class Planting(Builder):
    """A builder that can change the weights and biases of its layers afterwards."""

    def _change(self, layer: str, position: int, index: object, value: object) -> None:
        node = next(n for n in self.nodes if n.outputs == (layer,))
        array = self.constants[node.inputs[position]].copy()
        array[index] = value  # type: ignore[index]
        self.constants[node.inputs[position]] = frozen(array)

    def kill(self, layer: str, channels: Iterable[int], bias: int = 0) -> None:
        """Give channels of a layer's result weights of 0, and this bias."""
        chosen = list(channels)
        node = next(n for n in self.nodes if n.outputs == (layer,))
        index = (..., chosen) if node.op == "nn.depthwise_conv2d" else chosen
        self._change(layer, 1, index, 0)
        self.offset(layer, chosen, bias)

    def offset(self, layer: str, channels: Iterable[int], bias: int) -> None:
        """Give channels of a layer's result this bias."""
        if len(next(n for n in self.nodes if n.outputs == (layer,)).inputs) > 2:
            self._change(layer, 2, list(channels), bias)

    def ignore(self, layer: str, channels: Iterable[int]) -> None:
        """Make a layer ignore channels of its input."""
        self._change(layer, 1, (..., list(channels)), 0)

    def relu(self, data: str, channels: int, kernel: int = 1, padding: Padding = "SAME") -> str:
        """A convolution whose zero point is its least value."""
        return self.conv(
            data, channels, kernel, padding=padding, activation=Activation.RELU, quant=ZERO
        )

    def small(self, data: str) -> str:
        """A depthwise convolution with a ReLU."""
        name = self.depthwise(data)
        self.types[name] = dataclasses.replace(self.types[name], quant=ZERO)
        node = self.nodes[-1]
        attrs = dataclasses.replace(node.attrs, activation=Activation.RELU)  # type: ignore[call-arg]
        self.nodes[-1] = dataclasses.replace(node, attrs=attrs)
        return name


def _start(channels: int = 8) -> tuple[Planting, str]:
    b = Planting()
    return b, b.relu(b.input(1, 5, 4, 3), channels)


DEAD = (1, 2, 5, 6)
LEFT = (0, 3, 4, 7)


def test_channels_that_mean_0_are_removed_from_both_layers_whatever_the_padding() -> None:
    b, first = _start()
    b.kill(first, DEAD)
    last = b.conv(first, 6, 3)
    graph = _reduced(b.graph(last))
    assert _kept(graph) == {first: LEFT}
    weight, following = (graph.nodes[k].inputs[1] for k in (0, 1))
    assert graph.types[weight].shape == (4, 1, 1, 3)
    assert graph.types[following].shape == (6, 3, 3, 4)
    quant = graph.types[weight].quant
    whole = b.types[weight].quant
    assert quant is not None
    assert whole is not None
    assert quant.scale == tuple(whole.scale[i] for i in LEFT)
    assert len(quant.zero_point) == 4
    np.testing.assert_array_equal(graph.constants[weight], b.constants[weight][list(LEFT)])
    np.testing.assert_array_equal(
        graph.constants[graph.nodes[1].inputs[2]], b.constants[b.nodes[1].inputs[2]]
    )


@pytest.mark.parametrize("padding", ["VALID", "SAME"])
def test_other_constants_move_into_the_next_bias_if_no_window_is_padded(padding: Padding) -> None:
    b, first = _start()
    b.kill(first, DEAD, bias=900)
    last = b.conv(first, 6, 3, padding=padding)
    graph = _reduced(b.graph(last))
    if padding == "SAME":
        assert not graph.channels
        return
    assert _kept(graph) == {first: LEFT}
    before = evaluate(b.graph(last), {"input0": np.zeros((1, 5, 4, 3), np.int8)}, registry())
    weights = b.constants[b.nodes[1].inputs[1]].astype(np.int64).sum(axis=(1, 2))
    value = before[first][0, 0, 0, list(DEAD)].astype(np.int64) + 128
    assert (value > 0).all()
    expected = b.constants[b.nodes[1].inputs[2]] + weights[:, DEAD] @ value
    np.testing.assert_array_equal(graph.constants[graph.nodes[1].inputs[2]], expected)


def test_a_1x1_convolution_is_not_padded_and_a_layer_without_bias_gets_one() -> None:
    b, first = _start()
    b.kill(first, DEAD, bias=900)
    last = b.conv(first, 6, 1, with_bias=False)
    graph = _reduced(b.graph(last))
    assert _kept(graph) == {first: LEFT}
    assert len(graph.nodes[1].inputs) == 3
    assert graph.types[graph.nodes[1].inputs[2]] == TensorType((6,), DType.INT32)


def test_a_layer_without_bias_gets_none_for_channels_that_mean_0() -> None:
    b, first = _start()
    b.kill(first, DEAD)
    graph = _reduced(b.graph(b.conv(first, 6, 3, with_bias=False)))
    assert _kept(graph) == {first: LEFT}
    assert len(graph.nodes[1].inputs) == 2


@pytest.mark.parametrize("bias", [-(2**27), 2**27])
def test_biases_that_no_sum_can_outweigh_make_constants(bias: int) -> None:
    b, first = _start()
    b.offset(first, DEAD, bias)
    graph = _reduced(b.graph(b.conv(first, 6, 1)))
    assert _kept(graph) == {first: LEFT}


def test_a_bias_that_one_input_outweighs_makes_none() -> None:
    """The sums of channel 1 are at most 0, except for one input; those of channel 2, for all."""
    b, first = _start(8)
    weight = b.constants[b.nodes[0].inputs[1]].astype(int).reshape(8, 3)
    largest = np.maximum(weight * (-128 - 3), weight * (127 - 3)).sum(axis=1)
    assert b.types[b.nodes[0].inputs[1]].quant
    for channel in DEAD:
        b.offset(first, [channel], -int(largest[channel]))
    last = b.conv(first, 6, 1)
    assert _kept(_reduced(b.graph(last))) == {first: LEFT}
    b.offset(first, [DEAD[0]], 200 - int(largest[DEAD[0]]))
    assert DEAD[0] in _kept(_reduced(b.graph(last))).get(first, range(8))


@pytest.mark.parametrize("multiplier", [1, 2])
def test_a_depthwise_convolution_loses_the_channels_of_its_input(multiplier: int) -> None:
    b, first = _start()
    b.kill(first, DEAD)
    middle = b.depthwise(first, multiplier=multiplier)
    graph = _reduced(b.graph(b.conv(middle, 6, 1)))
    assert _kept(graph)[first] == LEFT
    assert _kept(graph)[middle] == tuple(
        i for i in range(8 * multiplier) if i // multiplier in LEFT
    )


def test_a_padded_depthwise_convolution_of_another_constant_is_kept() -> None:
    b, first = _start()
    b.kill(first, DEAD, bias=900)
    assert not _reduced(b.graph(b.conv(b.depthwise(first), 6, 1))).channels
    unpadded = b.depthwise(first, padding="VALID")
    assert _kept(_reduced(b.graph(b.conv(unpadded, 6, 1))))[first] == LEFT


def test_a_constant_result_of_a_depthwise_convolution_frees_its_input() -> None:
    b, first = _start()
    middle = b.small(first)
    b.kill(middle, DEAD, bias=500)
    graph = _reduced(b.graph(b.conv(middle, 6, 1)))
    assert _kept(graph) == {first: LEFT, middle: LEFT}


def test_channels_that_nothing_reads_are_removed_through_the_layers_before() -> None:
    b, first = _start()
    middle = b.pool(b.small(first), "max")
    last = b.conv(middle, 6, 3)
    b.ignore(last, DEAD)
    graph = _reduced(b.graph(last))
    assert set(_kept(graph).values()) == {LEFT}
    assert len(graph.channels) == 3


def test_a_channel_that_only_an_unread_channel_reads_is_removed() -> None:
    b, first = _start()
    middle, last = b.relu(first, 8), ""
    b.ignore(middle, DEAD)
    b._change(middle, 1, (2, 0, 0, 1), 7)  # channel 2 reads channel 1, and nothing reads 2
    last = b.conv(middle, 6, 1)
    b.ignore(last, DEAD)
    assert _kept(_reduced(b.graph(last))) == {first: LEFT, middle: LEFT}


def test_a_channel_with_another_reader_is_kept() -> None:
    b, first = _start()
    last = b.conv(first, 6, 3)
    b.ignore(last, DEAD)
    graph = _reduced(b.graph(last, b.conv(first, 2, 3)))
    assert not graph.channels


def test_an_addition_loses_the_channels_that_are_dead_on_both_sides() -> None:
    b, first = _start()
    other = b.relu("input0", 8)
    b.kill(first, (1, 2, 3, 5, 6))
    b.kill(other, (0, *DEAD))
    total = b.add(first, other)
    graph = _reduced(b.graph(b.conv(total, 6, 1)))
    assert _kept(graph) == {first: LEFT, other: LEFT, total: LEFT}


def test_an_addition_needs_channels_that_are_dead_on_one_side() -> None:
    b, first = _start()
    other = b.relu("input0", 8)
    b.kill(first, DEAD)
    assert not _reduced(b.graph(b.conv(b.add(first, other), 6, 1))).channels


def test_a_sum_with_a_constant_is_constant() -> None:
    b, first = _start()
    b.kill(first, DEAD)
    total = b.add(first, b.int8(8))
    graph = _reduced(b.graph(b.conv(total, 6, 1)))
    assert _kept(graph) == {first: LEFT, total: LEFT}
    assert [graph.types[name].shape for name in graph.nodes[1].inputs] == [(1, 5, 4, 4), (4,)]


def test_a_residual_keeps_the_same_channels_on_every_path() -> None:
    """The path around needs channel 1, so the path through the convolution has it, too."""
    b, first = _start(12)
    through = b.relu(first, 12)
    b.kill(through, (1, 2, 3, 4))
    total = b.add(first, through, quant=ZERO)
    last = b.conv(total, 6, 1)
    b.ignore(last, (1, 2, 3, 4))
    branch = b.conv(first, 6, 1)
    b.ignore(branch, (2, 3, 4, 5))
    graph = _reduced(b.graph(last, branch))
    assert len({*_kept(graph).values()}) <= 1


def test_a_concatenation_of_channels_loses_those_of_each_part() -> None:
    b, first = _start()
    other = b.relu("input0", 6)
    b.kill(first, DEAD)
    b.kill(other, (0, 1))
    joined = b.node("concatenate", ConcatenateAttrs(3), first, other, quant=ZERO)
    graph = _reduced(b.graph(b.conv(joined, 6, 3)))
    assert _kept(graph) == {first: LEFT, other: (2, 3, 4, 5), joined: (*LEFT, 10, 11, 12, 13)}


def test_a_part_of_a_concatenation_keeps_a_channel() -> None:
    b, first = _start(12)
    other = b.relu("input0", 6)
    b.kill(first, range(12))
    joined = b.node("concatenate", ConcatenateAttrs(3), first, other, quant=ZERO)
    graph = _reduced(b.graph(b.conv(joined, 6, 3)))
    assert _kept(graph)[first] == (0, 1, 2, 3)


def test_a_concatenation_of_rows_loses_what_is_dead_in_all_parts() -> None:
    b, first = _start()
    other = b.relu("input0", 8)
    b.kill(first, DEAD, bias=900)
    b.kill(other, DEAD, bias=-900)
    joined = b.node("concatenate", ConcatenateAttrs(1), first, other, quant=ZERO)
    last = b.conv(joined, 6, 1)
    assert not _reduced(b.graph(last)).channels  # constant in each part, with different values
    b.kill(other, DEAD)
    b.kill(first, DEAD)
    assert _kept(_reduced(b.graph(last)))[joined] == LEFT


@pytest.mark.parametrize("is_flat", [True, False])
def test_a_dense_layer_loses_the_features_of_all_pixels(is_flat: bool) -> None:
    b, first = _start()
    b.kill(first, DEAD, bias=900)
    flat = b.reshape(first, 1, 160) if is_flat else first
    dense = b.dense(b.reshape(first, 1, 160), 4)
    b.nodes[-1] = dataclasses.replace(b.nodes[-1], inputs=(flat, *b.nodes[-1].inputs[1:]))
    graph = _reduced(b.graph(dense))
    assert _kept(graph)[first] == LEFT
    weight = b.constants[b.nodes[-1].inputs[1]]
    expected = weight.reshape(4, 20, 8)[..., list(LEFT)].reshape(4, 80)
    np.testing.assert_array_equal(graph.constants[graph.nodes[-1].inputs[1]], expected)


def test_a_mean_loses_the_channels_of_its_input() -> None:
    b, first = _start()
    b.kill(first, DEAD, bias=900)
    mean = b.node("mean", MeanAttrs((1, 2), keep_dims=False), first)
    graph = _reduced(b.graph(b.dense(mean, 4)))
    assert _kept(graph) == {first: LEFT, mean: LEFT}


def test_a_pad_with_another_value_makes_a_channel_vary() -> None:
    b, first = _start()
    b.kill(first, DEAD)
    pads = ((0, 0), (1, 0), (0, 1), (0, 0))
    assert _kept(_reduced(b.graph(b.conv(b.pad(first, pads, -128), 6, 1))))[first] == LEFT
    assert not _reduced(b.graph(b.conv(b.pad(first, pads, 5), 6, 1))).channels


def test_a_table_of_a_constant_is_constant() -> None:
    b, first = _start()
    b.kill(first, DEAD, bias=900)
    graph = _reduced(b.graph(b.conv(b.sigmoid(first), 6, 1)))
    assert [node.op for node in graph.nodes] == ["nn.conv2d", "lookup", "nn.conv2d"]
    assert _kept(graph)[first] == LEFT


def test_sums_that_might_not_fit_int32_are_left_alone() -> None:
    b, first = _start()
    b.kill(first, DEAD, bias=900)
    last = b.conv(first, 6, 1)
    b.offset(last, [2], 2**31 - 1000)
    assert not _reduced(b.graph(last)).channels
    b.offset(last, [2], 2**30)
    assert _kept(_reduced(b.graph(last))) == {first: LEFT}


def test_a_layer_whose_scale_overflows_has_no_constants_but_those_of_one_sum() -> None:
    """Sums from 2 to 257, modulo 256 because of the scale: both ends become 127, 200 does not."""
    b, first = _start()
    name = b.nodes[0].inputs[1]
    quant = b.types[name].quant
    assert quant is not None
    scales = tuple(2.0**23 if i in DEAD else scale for i, scale in enumerate(quant.scale))
    b.types[name] = dataclasses.replace(
        b.types[name], quant=dataclasses.replace(quant, scale=scales)
    )
    weight = b.constants[name].copy()
    weight[list(DEAD)] = (1, 0, 0)
    b.constants[name] = frozen(weight)
    b.offset(first, DEAD, 133)
    b.types[first] = dataclasses.replace(b.types[first], quant=DEFAULT)
    last = b.conv(first, 6, 1)
    assert not _reduced(b.graph(last)).channels
    b.kill(first, DEAD, bias=133)
    assert _kept(_reduced(b.graph(last))) == {first: LEFT}


def test_outputs_of_the_graph_keep_all_channels() -> None:
    b, first = _start()
    b.kill(first, DEAD)
    assert not _reduced(b.graph(first)).channels
    assert not _reduced(b.graph(first, b.conv(first, 6, 3))).channels


def test_inputs_of_ops_that_mix_channels_keep_all_channels() -> None:
    b, first = _start()
    b.kill(first, DEAD)
    assert not _reduced(b.graph(b.softmax(first))).channels


def test_a_layer_without_any_live_channel_keeps_four() -> None:
    b, first = _start()
    b.kill(first, range(8))
    assert _kept(_reduced(b.graph(b.conv(first, 6, 3)))) == {first: (0, 1, 2, 3)}


def test_a_network_of_dead_layers_only_is_one_that_computes_constants() -> None:
    b, first = _start()
    middle = b.relu(b.small(first), 8)
    for layer in (first, middle):
        b.kill(layer, range(8), bias=70)
    last = b.conv(middle, 3, 1)
    b.kill(last, range(3), bias=70)
    graph = _reduced(b.graph(last))
    assert {len(kept) for kept in _kept(graph).values()} == {4}


@pytest.mark.parametrize(("count", "kept"), [(1, None), (2, None), (3, (0, 1)), (5, (0, 1, 2, 3))])
def test_few_channels(count: int, kept: tuple[int, ...] | None) -> None:
    b, first = _start(count)
    b.kill(first, range(count))
    assert _kept(_reduced(b.graph(b.conv(first, 6, 3)))).get(first) == kept


def test_channels_that_make_four_are_constant_ones_first() -> None:
    b, first = _start(12)
    b.kill(first, (4, 9))
    last = b.conv(first, 6, 3)
    b.ignore(last, (1, 2, 3))
    assert _kept(_reduced(b.graph(last))) == {first: (0, 4, 5, 6, 7, 8, 10, 11)}


def test_a_convolution_in_groups_is_kept_as_it_is() -> None:
    b, first = _start()
    b.kill(first, DEAD)
    attrs = Conv2DAttrs((1, 1), (1, 1), "SAME", Activation.NONE, Rounding.DOUBLE)
    grouped = b.node("nn.conv2d", attrs, first, b.weight((4, 1, 1, 4), 0))
    b.kill(grouped, (1, 2))
    assert not _reduced(b.graph(b.conv(grouped, 6, 3))).channels


def test_nodes_of_other_places_are_kept_as_they_are() -> None:
    b, first = _start()
    b.kill(first, DEAD)
    last = b.conv(first, 6, 3)
    b.nodes[-1] = dataclasses.replace(b.nodes[-1], target="accelerator")
    graph = b.graph(last)
    assert not _reduced(graph).channels


def test_floats_are_kept_because_0_times_infinity_is_no_number() -> None:
    b, first = _start()
    b.kill(first, DEAD)
    last = b.conv(first, 6, 3)
    types = {
        name: TensorType(kind.shape, DType.FLOAT32) for name, kind in b.graph(last).types.items()
    }
    constants = {name: array.astype(np.float32) for name, array in b.constants.items()}
    graph = passes.run(b.graph(last).replace(types=types, constants=constants), EARLIER)
    assert dead_channels(graph) is graph


def test_a_graph_without_dead_channels_is_the_same_object() -> None:
    b, first = _start()
    graph = passes.run(b.graph(b.conv(b.small(first), 6, 1)), EARLIER)
    assert dead_channels(graph) is graph


@pytest.mark.parametrize("rounding", [Rounding.SINGLE, Rounding.DOUBLE])
def test_a_layer_with_a_scale_for_each_channel_keeps_several(rounding: Rounding) -> None:
    """The table of one scale is computed as for a weight with one scale, maybe in float32."""
    b = Planting()
    first = b.dense(b.input(1, 12), 3, rounding)
    node = b.nodes[-1]
    quant = Quant((0.01, 0.02, 0.03), (0, 0, 0), 0)
    b.types[node.inputs[1]] = dataclasses.replace(b.types[node.inputs[1]], quant=quant)
    b.kill(first, (0, 2))
    graph = _reduced(b.graph(b.dense(first, 4, rounding)))
    assert _kept(graph) == {first: (0, 1)}
    assert graph.types[graph.nodes[0].inputs[1]].quant == Quant((0.01, 0.02), (0, 0), 0)


def test_arrays_that_layers_share_are_cut_for_each() -> None:
    b, first = _start()
    b.kill(first, DEAD)
    one, other = b.conv(first, 8, 1), b.conv(first, 8, 1)
    shared = b.nodes[-2].inputs[1:]
    b.nodes[-1] = dataclasses.replace(b.nodes[-1], inputs=(first, *shared))
    whole = b.conv("input0", 8, 1)
    b.nodes[-1] = dataclasses.replace(
        b.nodes[-1], inputs=("input0", b.nodes[-1].inputs[1], shared[1])
    )
    graph = _reduced(b.graph(one, other, whole))
    weights = [node.inputs[1] for node in graph.nodes if node.inputs[0] == first]
    assert len({*weights}) == 2
    assert {graph.types[name].shape for name in weights} == {(8, 1, 1, 4)}


def test_weights_of_4_bits_are_still_known_as_such() -> None:
    b, first = _start()
    b.kill(first, DEAD)
    last = b.conv(first, 6, 1)
    weight = b.nodes[-1].inputs[1]
    b.constants[weight] = frozen(b.constants[weight] >> 4)
    graph = _reduced(b.graph(last).replace(int4=frozenset({weight})))
    assert graph.int4 == {graph.nodes[1].inputs[1]}
    assert graph.types[graph.nodes[1].inputs[1]].shape == (6, 1, 1, 4)


def test_weights_of_0_are_those_that_equal_their_zero_point() -> None:
    """As in networks that are uint8 in the file."""
    b, first = _start()
    last = b.conv(first, 6, 1)
    for k, chosen in enumerate(((list(DEAD),), (..., [7]))):
        name = b.nodes[k].inputs[1]
        b.types[name] = dataclasses.replace(b.types[name], quant=Quant((0.01,), (5,)))
        weight = b.constants[name].copy()
        weight[chosen] = 5
        b.constants[name] = frozen(weight)
        attrs = dataclasses.replace(b.nodes[k].attrs, rounding=Rounding.PRODUCT)  # type: ignore[call-arg]
        b.nodes[k] = dataclasses.replace(b.nodes[k], attrs=attrs)
    b.offset(first, DEAD, 0)
    assert _kept(_reduced(b.graph(last))) == {first: (0, 1, 3, 4)}


def test_int16_layers_lose_dead_channels() -> None:
    b, first = _start()
    b.kill(first, DEAD, bias=9000)
    last = b.conv(first, 6, 1)
    graph = b.graph(last)
    types = {
        name: kind
        if name in b.constants
        else TensorType(kind.shape, DType.INT16, Quant((0.001,), (0,)))
        for name, kind in graph.types.items()
    }
    assert _kept(_reduced(graph.replace(types=types))) == {first: LEFT}


def test_sums_of_int32_need_all_but_constant_channels() -> None:
    b, first = _start()
    b.kill(first, DEAD, bias=900)
    last = b.conv(first, 6, 1)
    graph = b.graph(last)
    types = {**graph.types, last: TensorType(graph.types[last].shape, DType.INT32)}
    attrs = dataclasses.replace(graph.nodes[-1].attrs, rounding=Rounding.UPWARD)  # type: ignore[call-arg]
    nodes = (*graph.nodes[:-1], dataclasses.replace(graph.nodes[-1], attrs=attrs))
    assert _kept(_reduced(graph.replace(types=types, nodes=nodes))) == {first: LEFT}


def test_a_value_that_the_next_inference_reads_keeps_all_channels() -> None:
    b, first = _start()
    b.kill(first, DEAD)
    graph = b.graph(b.conv(first, 6, 3))
    types = {**graph.types, "state": graph.types[first]}
    kept = graph.replace(types=types, variables=("state",), updates={"state": first})
    assert not dead_channels(passes.run(kept, EARLIER)).channels


def _random_layer(b: Planting, images: list[str]) -> str:
    rng = b.rng
    data = str(rng.choice(images[-3:]))
    kind = rng.integers(8)
    if kind < 4:
        kernel = int(rng.choice([1, 1, 1, 3]))
        padding: Padding = "SAME" if rng.random() < 0.5 or kernel == 3 else "VALID"
        make = b.relu if rng.random() < 0.7 else b.conv
        return make(data, int(rng.integers(1, 14)), kernel, padding=padding)
    if kind == 4:
        return b.small(data) if rng.random() < 0.7 else b.depthwise(data, multiplier=2)
    if kind == 5:
        return b.clip(b.depthwise(data), Activation.RELU6)
    partners = [n for n in images if b.types[n].shape == b.types[data].shape]
    if kind == 6:
        return b.add(data, str(rng.choice(partners)), ZERO)
    same = [n for n in images if b.types[n].quant == b.types[data].quant]
    return (
        b.node("concatenate", ConcatenateAttrs(3), data, str(rng.choice(same)), quant=ZERO)
        if (b.types[data].quant == ZERO)
        else b.sigmoid(data)
    )


def _planted(seed: int) -> Graph:
    """A random network with layers that have dead channels of every kind."""
    b = Planting(seed)
    rng = b.rng
    images = [b.input(1, 5, 4, 3)]
    for _ in range(int(rng.integers(2, 9))):
        images.append(_random_layer(b, images))
    for node in b.nodes:
        if node.op not in ("nn.conv2d", "nn.depthwise_conv2d"):
            continue
        (name,) = node.outputs
        count = b.types[name].shape[3]
        bias = int(rng.choice([0, 0, -700, 900, 900, 900, 2**27, -(2**27)]))
        (b.kill if abs(bias) < 2**20 else b.offset)(
            name, np.flatnonzero(rng.random(count) < 0.4), bias
        )
        if node.op == "nn.conv2d" and rng.random() < 0.5:
            given = b.types[node.inputs[0]].shape[3]
            b.ignore(name, np.flatnonzero(rng.random(given) < 0.4))
    outputs = [images[-1]]
    if rng.random() < 0.4:
        outputs.append(b.dense(b.reshape(images[-1], 1, b.types[images[-1]].size), 4))
    if rng.random() < 0.3:
        outputs.append(str(rng.choice(images[1:])))
    return b.graph(*dict.fromkeys(outputs[::-1][:2]))


@pytest.mark.parametrize("seed", range(200))
def test_no_value_of_a_random_network_changes(seed: int) -> None:
    graph = _reduced(_planted(seed), samples=2)
    assert dead_channels(graph).types == graph.types  # nothing is left to remove


def _has_new_bias(node: Node, before: Graph, after: Graph) -> bool:
    """Whether values have been added to the biases that are left."""
    channels, bias = after.channels.get(node.outputs[0]), node.inputs[2]
    if bias not in before.constants:
        return False
    whole = before.constants[bias]
    left = whole if channels is None else whole[list(channels.kept)]
    return not np.array_equal(after.constants[bias], left)


def test_random_networks_have_dead_channels_in_every_op() -> None:
    ops: set[str] = set()
    folded = 0
    for seed in range(200):
        before = passes.run(_planted(seed), EARLIER)
        after = dead_channels(before)
        for node in after.nodes:
            ops |= {node.op for name in node.outputs if name in after.channels}
            folded += node.op == "nn.conv2d" and _has_new_bias(node, before, after)
    assert ops >= {"add", "concatenate", "lookup", "nn.conv2d", "nn.depthwise_conv2d", "reshape"}
    assert folded >= 20


def test_vww_keeps_a_sixth_of_its_weights(mlperf_models: Path) -> None:
    source = frontends.load(mlperf_models / "vww_96_int8.tflite")
    before = passes.run(source, EARLIER)
    after = _reduced(source, samples=1)

    def weights(graph: Graph) -> int:
        return sum(
            graph.constants[node.inputs[1]].size
            for node in graph.nodes
            if node.op in ("nn.conv2d", "nn.depthwise_conv2d", "nn.dense")
        )

    assert weights(before) > 208_000
    assert weights(after) < 36_000
    convolutions = [node for node in after.nodes if node.op == "nn.conv2d"]
    removed = [after.channels[n.outputs[0]] for n in convolutions if n.outputs[0] in after.channels]
    assert sum(channels.count - len(channels.kept) for channels in removed) > 950


@pytest.mark.parametrize("goal", OPTIMIZE)
@pytest.mark.parametrize("board", ["mps2_an386", "mps3_an547"])
def test_vww_has_80_kb_of_constants_at_most(board: str, goal: str, mlperf_models: Path) -> None:
    compiled = microgen.compile_model(mlperf_models / "vww_96_int8.tflite", board, optimize=goal)
    assert sum(constant.nbytes for constant in compiled.manifest.constants) <= 80 * 1024


@pytest.mark.parametrize("model", ["kws_ref_model", "pretrainedResnet_quant", "ad01_int8"])
def test_networks_without_dead_channels_are_the_same(model: str, mlperf_models: Path) -> None:
    graph = passes.run(frontends.load(mlperf_models / f"{model}.tflite"), EARLIER)
    assert dead_channels(graph) is graph
