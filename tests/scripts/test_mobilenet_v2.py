"""The MobileNetV2 that a script writes: published shapes, useful values, equal bytes anywhere."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import pytest

import microgen
from microgen import frontends
from microgen.frontends.tflite.litert import LiteRT
from microgen.graph.ir import interpreter
from microgen.graph.ir.graph import Graph
from microgen.graph.ops import registry
from scripts import mobilenet_v2
from tests.kernels.conformance.litert_oracle import needs_litert
from tests.support.tools import NEEDS_ARM, NEEDS_NINJA

DIGEST = "5d108600dafb03635ce64b5e8cc0e3ec2bd882ab2edc0193ccf3f7200404a5d0"
# What Keras counts for this width without a head: weights, and four numbers for each channel's
# batch norm, which is folded into a bias here.
PUBLISHED_PARAMETERS = 410_208
MOST_LIVE_BYTES = 112 * 112 * 48 + 56 * 56 * 48  # of the first layer with a stride in a block


def _graph(folder: Path) -> Graph:
    model = folder / "mobilenet_v2.tflite"
    model.write_bytes(mobilenet_v2.model())
    return frontends.load(model)


def test_all_machines_write_the_same_bytes() -> None:
    assert hashlib.sha256(mobilenet_v2.model()).hexdigest() == DIGEST


def test_shapes_are_published_ones(tmp_path: Path) -> None:
    graph = _graph(tmp_path)
    shape = {name: kind.shape for name, kind in graph.types.items()}
    assert shape["stem"] == (1, 112, 112, 16)
    projected = {name: s[1:] for name, s in shape.items() if name.endswith("/project")}
    assert list(dict.fromkeys(projected.values())) == [
        (112, 112, 8),
        (56, 56, 8),
        (28, 28, 16),
        (14, 14, 24),
        (14, 14, 32),
        (7, 7, 56),
        (7, 7, 112),
    ]
    assert shape["last"] == (1, 7, 7, 1280)
    sums = [n for n in graph.nodes if n.op in ("nn.conv2d", "nn.depthwise_conv2d")]
    assert len(sums) == 52
    sizes = [[graph.constants[name].size for name in n.inputs[1:]] for n in sums]
    assert sum(weights + 4 * biases for weights, biases in sizes) == PUBLISHED_PARAMETERS
    pairs = [graph.types[n.inputs[0]].nbytes + graph.types[n.outputs[0]].nbytes for n in sums]
    assert max(pairs) == MOST_LIVE_BYTES


@needs_litert
def test_values_equal_litert_and_no_layer_is_saturated(tmp_path: Path) -> None:
    graph = _graph(tmp_path)
    rng = np.random.default_rng(0)
    image = rng.integers(-128, 128, graph.types["image"].shape).astype(np.int8)
    ours = interpreter.evaluate(graph, {"image": image}, registry())
    (theirs,) = LiteRT().layers(frontends.stored(tmp_path / "mobilenet_v2.tflite"), [[image]])
    for name in (name for node in graph.nodes for name in node.outputs):
        values = theirs[name]
        np.testing.assert_array_equal(ours[name], values, err_msg=name)
        if values.ndim == 4:
            assert np.mean(abs(values.astype(int)) >= 127) < 0.2, f"{name} is saturated"
            channels = values.reshape(-1, values.shape[3])
            assert (channels != channels[0]).any(0).all(), f"{name} has a constant channel"


@NEEDS_NINJA
@NEEDS_ARM
@pytest.mark.slow
def test_it_runs_in_little_ram(tmp_path: Path) -> None:
    """At most 96 KiB for the workspace, inputs by rows, and the output; and all layers right."""
    _graph(tmp_path)
    done = microgen.generate(
        tmp_path / "mobilenet_v2.tflite",
        "mps3_an547",
        tmp_path / "p",
        optimize="ram",
        input_rows=1,
    )
    assert done.manifest.plan.peak + done.manifest.plan.io_bytes <= 96 * 1024
    microgen.build(tmp_path / "p")
    assert microgen.verify(tmp_path / "p").ok
    ran = microgen.run(tmp_path / "p", compare=True)
    assert ran.checks.ok
    assert all(verdict.ok for verdict in ran.verdicts)
