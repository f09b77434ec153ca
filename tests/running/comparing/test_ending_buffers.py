"""Outputs whose last rows take the place of buffers that are not read any more."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import microgen
from scripts.mobilenet_v2 import Net, Tensor
from tests.support.tflite_builder import build_model
from tests.support.tools import NEEDS_NINJA

SHAPE = (32, 24, 3)


def _model() -> bytes:
    """The beginning of a MobileNetV2, whose result two means read, so that it is whole."""
    net = Net(np.random.RandomState(1))
    data = net.convolution("stem", net.image(*SHAPE), 8, 3, 2)
    data = _narrow(net, "block1", net.depthwise("block1/depthwise", data, 1))
    data = net.convolution("block2/expand", data, 24)
    data = _narrow(net, "block2", net.depthwise("block2/depthwise", data, 2))
    wide = net.mean("mean2", net.convolution("last", data, 8))
    net.add("sum", net.mean("mean1", data), wide)
    return build_model(net.tensors, net.operators, ["image"], ["sum"])


def _narrow(net: Net, name: str, data: Tensor) -> Tensor:
    return net.convolution(f"{name}/project", data, 8, relu=0)


@NEEDS_NINJA
def test_the_last_rows_take_the_place_of_the_first_buffers(tmp_path: Path) -> None:
    (tmp_path / "m.tflite").write_bytes(_model())
    made = microgen.generate(
        tmp_path / "m.tflite", "native", tmp_path / "p", optimize="ram", input_rows=1
    )
    (pair,) = (one for one in made.plan.in_place if one.input == "scratch_0")
    (result,) = (one for one in made.plan.workspace if one.name == pair.output)
    assert 0 < pair.lag < result.nbytes
    assert made.manifest.schedule.ram_bound <= made.plan.peak + made.program.io_bytes
    samples = np.random.default_rng(0).integers(-128, 128, (3, *SHAPE)).astype(np.int8)
    ran = microgen.run(tmp_path / "p", {"image": samples}, compare=True)
    assert all(verdict.ok for verdict in ran.verdicts)
