"""Random networks with dead channels of every kind, and MLPerf Tiny's: no value changes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import microgen
from microgen import frontends
from microgen.compiler import passes
from microgen.compiler.passes.dead_channels import dead_channels
from microgen.graph.arithmetic.terms import Activation, Rounding
from microgen.graph.ir.graph import Graph, Node
from microgen.graph.ops.base import Padding
from microgen.graph.ops.moves.layouts import ConcatenateAttrs
from microgen.options import OPTIMIZE
from tests.compiler.passes.planting import EARLIER, ZERO, Planting, reduced
from tests.support.sampling import seeds

_ROUNDINGS = (Rounding.DOUBLE, Rounding.SINGLE, Rounding.UPWARD, Rounding.NEAREST)


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
        b.round(name, _ROUNDINGS[int(rng.integers(len(_ROUNDINGS)))])
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


@pytest.mark.sampled(100)
@pytest.mark.parametrize("seed", range(200))
def test_no_value_of_a_random_network_changes(seed: int) -> None:
    graph = reduced(_planted(seed), samples=2)
    assert dead_channels(graph).types == graph.types  # nothing is left to remove


def _has_new_bias(node: Node, before: Graph, after: Graph) -> bool:
    """Whether values have been added to the biases that are left."""
    channels, bias = after.channels.get(node.outputs[0]), node.inputs[2]
    whole = before.constants.get(bias.partition("#")[0])  # the name of a changed one is longer
    if whole is None:
        return False
    left = whole if channels is None else whole[list(channels.kept)]
    return not np.array_equal(after.constants[bias], left)


def test_random_networks_have_dead_channels_in_every_op() -> None:
    ops: set[str] = set()
    folded, planted = 0, seeds(400)
    for seed in planted:
        before = passes.run(_planted(seed), EARLIER)
        after = dead_channels(before)
        for node in after.nodes:
            ops |= {node.op for name in node.outputs if name in after.channels}
            folded += node.op == "nn.conv2d" and _has_new_bias(node, before, after)
    assert ops >= {"add", "concatenate", "lookup", "nn.conv2d", "nn.depthwise_conv2d", "reshape"}
    assert folded >= len(planted) // 10


def test_vww_keeps_a_sixth_of_its_weights(mlperf_models: Path) -> None:
    source = frontends.load(mlperf_models / "vww_96_int8.tflite")
    before = passes.run(source, EARLIER)
    after = reduced(source, samples=1)

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


@pytest.mark.sampled(1)
@pytest.mark.parametrize("goal", OPTIMIZE)
@pytest.mark.parametrize("board", ["mps2_an386", "mps3_an547"])
def test_vww_has_80_kb_of_constants_at_most(board: str, goal: str, mlperf_models: Path) -> None:
    compiled = microgen.compile_model(mlperf_models / "vww_96_int8.tflite", board, optimize=goal)
    assert sum(constant.nbytes for constant in compiled.manifest.constants) <= 80 * 1024


@pytest.mark.parametrize("model", ["kws_ref_model", "pretrainedResnet_quant", "ad01_int8"])
def test_networks_without_dead_channels_are_the_same(model: str, mlperf_models: Path) -> None:
    graph = passes.run(frontends.load(mlperf_models / f"{model}.tflite"), EARLIER)
    assert dead_channels(graph) is graph
