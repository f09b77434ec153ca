"""Channels that cannot be removed exactly, or may not be, are kept."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from microgen.compiler import passes
from microgen.compiler.passes.dead_channels import dead_channels
from microgen.graph.arithmetic.terms import Activation, Rounding
from microgen.graph.ir.graph import (
    ArrayType,
    DType,
    Graph,
    KeptChannels,
    Node,
    Origin,
    Quant,
    frozen,
)
from microgen.graph.ops.convolution.conv2d import Conv2DAttrs
from microgen.graph.ops.external import ExternalAttrs
from microgen.graph.ops.moves.layouts import ConcatenateAttrs
from tests.compiler.passes.planting import DEAD, EARLIER, LEFT, ZERO, Planting, kept, reduced, start
from tests.support.graphs import DEFAULT


def test_sums_that_might_not_fit_int32_are_left_alone() -> None:
    b, first = start()
    b.kill(first, DEAD, bias=900)
    last = b.conv(first, 6, 1)
    b.offset(last, [2], 2**31 - 1000)
    assert not reduced(b.graph(last)).channels
    b.offset(last, [2], 2**30)
    assert kept(reduced(b.graph(last))) == {first: LEFT}


def test_a_layer_whose_scale_overflows_has_no_constants_but_those_of_one_sum() -> None:
    """Sums from 2 to 257, modulo 256 because of the scale: both ends become 127, 200 does not."""
    b, first = start()
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
    assert not reduced(b.graph(last)).channels
    b.kill(first, DEAD, bias=133)
    assert kept(reduced(b.graph(last))) == {first: LEFT}


def test_outputs_of_the_graph_keep_all_channels() -> None:
    b, first = start()
    b.kill(first, DEAD)
    assert not reduced(b.graph(first)).channels
    assert not reduced(b.graph(first, b.conv(first, 6, 3))).channels


def test_inputs_of_ops_that_mix_channels_keep_all_channels() -> None:
    b, first = start()
    b.kill(first, DEAD)
    assert not reduced(b.graph(b.softmax(first))).channels


def test_a_layer_without_any_live_channel_keeps_four() -> None:
    b, first = start()
    b.kill(first, range(8))
    assert kept(reduced(b.graph(b.conv(first, 6, 3)))) == {first: (0, 1, 2, 3)}


def test_a_network_of_dead_layers_only_is_one_that_computes_constants() -> None:
    b, first = start()
    middle = b.relu(b.small(first), 8)
    for layer in (first, middle):
        b.kill(layer, range(8), bias=70)
    last = b.conv(middle, 3, 1)
    b.kill(last, range(3), bias=70)
    graph = reduced(b.graph(last))
    assert {len(kept) for kept in kept(graph).values()} == {4}


@pytest.mark.parametrize(("count", "left"), [(1, None), (2, None), (3, (0, 1)), (5, (0, 1, 2, 3))])
def test_few_channels(count: int, left: tuple[int, ...] | None) -> None:
    b, first = start(count)
    b.kill(first, range(count))
    assert kept(reduced(b.graph(b.conv(first, 6, 3)))).get(first) == left


def test_channels_that_make_four_are_constant_ones_first() -> None:
    b, first = start(12)
    b.kill(first, (4, 9))
    last = b.conv(first, 6, 3)
    b.ignore(last, (1, 2, 3))
    assert kept(reduced(b.graph(last))) == {first: (0, 4, 5, 6, 7, 8, 10, 11)}


def test_a_convolution_in_groups_is_kept_as_it_is() -> None:
    b, first = start()
    b.kill(first, DEAD)
    attrs = Conv2DAttrs((1, 1), (1, 1), "SAME", Activation.NONE, Rounding.DOUBLE)
    grouped = b.node("nn.conv2d", attrs, first, b.weight((4, 1, 1, 4), 0))
    b.kill(grouped, (1, 2))
    assert not reduced(b.graph(b.conv(grouped, 6, 3))).channels


def test_nodes_of_other_places_are_kept_as_they_are() -> None:
    b, first = start()
    b.kill(first, DEAD)
    last = b.conv(first, 6, 3)
    b.nodes[-1] = dataclasses.replace(b.nodes[-1], target="accelerator")
    graph = b.graph(last)
    assert not reduced(graph).channels


def test_floats_are_kept_because_0_times_infinity_is_no_number() -> None:
    b, first = start()
    b.kill(first, DEAD)
    last = b.conv(first, 6, 3)
    types = {
        name: ArrayType(kind.shape, DType.FLOAT32) for name, kind in b.graph(last).types.items()
    }
    constants = {name: array.astype(np.float32) for name, array in b.constants.items()}
    graph = passes.run(b.graph(last).replace(types=types, constants=constants), EARLIER)
    assert dead_channels(graph) is graph


def test_a_graph_without_dead_channels_is_the_same_object() -> None:
    b, first = start()
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
    graph = reduced(b.graph(b.dense(first, 4, rounding)))
    assert kept(graph) == {first: (0, 1)}
    assert graph.types[graph.nodes[0].inputs[1]].quant == Quant((0.01, 0.02), (0, 0), 0)


def test_arrays_that_layers_share_are_cut_for_each() -> None:
    b, first = start()
    b.kill(first, DEAD)
    one, other = b.conv(first, 8, 1), b.conv(first, 8, 1)
    shared = b.nodes[-2].inputs[1:]
    b.nodes[-1] = dataclasses.replace(b.nodes[-1], inputs=(first, *shared))
    whole = b.conv("input0", 8, 1)
    b.nodes[-1] = dataclasses.replace(
        b.nodes[-1], inputs=("input0", b.nodes[-1].inputs[1], shared[1])
    )
    graph = reduced(b.graph(one, other, whole))
    weights = [node.inputs[1] for node in graph.nodes if node.inputs[0] == first]
    assert len({*weights}) == 2
    assert {graph.types[name].shape for name in weights} == {(8, 1, 1, 4)}


def test_weights_of_4_bits_are_still_known_as_such() -> None:
    b, first = start()
    b.kill(first, DEAD)
    last = b.conv(first, 6, 1)
    weight = b.nodes[-1].inputs[1]
    b.constants[weight] = frozen(b.constants[weight] >> 4)
    graph = reduced(b.graph(last).replace(int4=frozenset({weight})))
    assert graph.int4 == {graph.nodes[1].inputs[1]}
    assert graph.types[graph.nodes[1].inputs[1]].shape == (6, 1, 1, 4)


def test_weights_of_0_are_those_that_equal_their_zero_point() -> None:
    """As in networks that are uint8 in the file."""
    b, first = start()
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
    assert kept(reduced(b.graph(last))) == {first: (0, 1, 3, 4)}


def test_int16_layers_lose_dead_channels() -> None:
    b, first = start()
    b.kill(first, DEAD, bias=9000)
    last = b.conv(first, 6, 1)
    graph = b.graph(last)
    types = {
        name: kind
        if name in b.constants
        else ArrayType(kind.shape, DType.INT16, Quant((0.001,), (0,)))
        for name, kind in graph.types.items()
    }
    assert kept(reduced(graph.replace(types=types))) == {first: LEFT}


def test_sums_of_int32_need_all_but_constant_channels() -> None:
    b, first = start()
    b.kill(first, DEAD, bias=900)
    last = b.conv(first, 6, 1)
    graph = b.graph(last)
    types = {**graph.types, last: ArrayType(graph.types[last].shape, DType.INT32)}
    attrs = dataclasses.replace(graph.nodes[-1].attrs, rounding=Rounding.UPWARD)  # type: ignore[call-arg]
    nodes = (*graph.nodes[:-1], dataclasses.replace(graph.nodes[-1], attrs=attrs))
    assert kept(reduced(graph.replace(types=types, nodes=nodes))) == {first: LEFT}


def test_a_value_that_the_next_inference_reads_keeps_all_channels() -> None:
    b, first = start()
    b.kill(first, DEAD)
    graph = b.graph(b.conv(first, 6, 3))
    types = {**graph.types, "state": graph.types[first]}
    graph = graph.replace(types=types, variables=("state",), updates={"state": first})
    assert not dead_channels(passes.run(graph, EARLIER)).channels


def test_functions_of_code_generators_keep_all_channels() -> None:
    b, first = start()
    b.kill(first, DEAD)
    inner = b.graph(b.conv(first, 6, 1))
    types = {name: inner.types[name] for name in (*inner.inputs, *inner.outputs)}
    attrs = ExternalAttrs("function", "toy", inner)
    node = Node("external", inner.inputs, inner.outputs, attrs, Origin("test", "function"))
    outer = Graph("test", inner.inputs, inner.outputs, (node,), types, {})
    (found,) = passes.run(outer).nodes
    assert isinstance(found.attrs, ExternalAttrs)
    assert not found.attrs.graph.channels
    assert passes.run(inner).channels


def test_a_graph_of_too_many_channels_is_kept_as_it_is() -> None:
    b, first = start()
    b.kill(first, DEAD)
    wide = b.reshape(b.input(1, 2**11, 2**11, 1), 1, 2**22)
    graph = passes.run(b.graph(b.conv(first, 6, 1), wide), EARLIER)
    assert dead_channels(graph) is graph


def test_a_second_removal_still_has_the_channels_of_the_model() -> None:
    b, first = start(12)
    b.kill(first, DEAD)
    last = b.conv(first, 6, 3)
    graph = reduced(b.graph(last))
    assert kept(graph) == {first: (0, 3, 4, 7, 8, 9, 10, 11)}
    weight = graph.nodes[1].inputs[1]
    changed = graph.constants[weight].copy()
    changed[..., :4] = 0
    constants = {**graph.constants, weight: frozen(changed)}
    again = dead_channels(graph.replace(constants=constants))
    assert again.channels == {first: KeptChannels(12, (8, 9, 10, 11))}


def test_nodes_that_nothing_reads_are_no_obstacle() -> None:
    b, first = start()
    b.kill(first, DEAD)
    b.add(b.conv(first, 6, 3), b.constant(np.int8(3)[()].reshape(()), DEFAULT))
    graph = passes.run(b.graph(b.conv(first, 6, 3)), EARLIER[:-1])
    assert len(graph.nodes) == 4
    after = dead_channels(graph)
    assert kept(after) == {first: LEFT}
    assert len(after.nodes) == 2


def test_tensors_without_any_channel_are_kept_as_they_are() -> None:
    b, first = start()
    b.kill(first, DEAD)
    empty = b.constant(np.zeros((1, 5, 4, 0), np.int8), ZERO)
    joined = b.node("concatenate", ConcatenateAttrs(3), first, empty, quant=ZERO)
    assert not reduced(b.graph(b.conv(joined, 6, 3))).channels
    other = b.conv(first, 6, 3)
    nothing = b.node("concatenate", ConcatenateAttrs(3), empty, empty, quant=ZERO)
    assert kept(reduced(b.graph(other, nothing))) == {first: LEFT}
