"""A bias that is wrong by two steps of the output, in layers whose sums have coarse steps beside
it: compare finds it and names the layer. As it is, the same layer passes."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import microgen
from microgen.building import builder
from microgen.running import runner
from microgen.running.comparing import compare
from microgen.running.comparing.verdict import Verdict
from tests.frontends.onnx.quantization.quantized import Network
from tests.support.tools import NEEDS_NINJA

pytestmark = NEEDS_NINJA

PARAMETERS = "model/codegen/host/src/default_params.c"
LAYER, STEP = "layer", 0.02  # the layer's name, and its output's step
BIAS = np.array([0.24, -0.24, 0.2], np.float32)
SMALL = np.array([[1, -1, 0, 1], [0, 1, 1, -1], [1, 0, -1, 1]], np.int8)
LARGE = np.array([[127, 1, 0, 1], [0, -100, 1, 1], [1, 0, 90, -1]], np.int8)


def _network(dtype: str, weight: np.ndarray, op: str, limits: tuple[int, ...] = ()) -> Network:
    """A layer behind a quantized input, which ``limits`` clip."""
    net = Network(dtype, "int8", seed=1)
    scales = [net.constant(np.float32(1)), net.constant(net.dtype.type(0))]
    data = net.input((1, 4) if op == "Gemm" else (1, 4, 3, 2))
    stored = net.add("QuantizeLinear", [data, *scales])
    if limits:
        ends = [net.constant(net.dtype.type(limit)) for limit in limits]
        stored = net.add("Clip", [stored, *ends])
    floats = net.add("DequantizeLinear", [stored, *scales])
    values = weight if op == "Gemm" else weight.reshape(3, 4, 1, 1)
    names = [net.constant(each) for each in (values, np.float32(0.5), np.int8(0))]
    operands = [floats, net.add("DequantizeLinear", names), net.constant(BIAS)]
    attrs = {"transB": 1} if op == "Gemm" else {}
    net.quantized(net.add(op, operands, output=LAYER, **attrs), STEP)
    return net


NETWORKS = {
    "finer weights": ("int8", SMALL, "Gemm"),
    "finer weights behind a clip": ("uint8", SMALL, "Gemm", (0, 3)),
    "finer weights of a convolution": ("int8", SMALL, "Conv"),
    "floats": ("int8", LARGE, "Gemm"),
}
FINER = 0.5 / 64  # the step of sums of SMALL


def _compared(project: Path) -> tuple[Verdict, ...]:
    (port,) = microgen.base.manifest.load(project).inputs
    samples = np.random.RandomState(0).randn(20, *port.shape).astype(np.float32)
    inputs, elf = {port.tensor: samples}, builder.build(project).elf
    return compare.compare(project, inputs, runner.run(project, inputs, elf=elf).outputs, elf)


def _two_steps_more(found: re.Match[str]) -> str:
    """The first number of a bias, greater by two steps of the output."""
    number, more = found[2], 2 * STEP
    if number.endswith("F"):
        return f"{found[1]}{(float.fromhex(number[:-1]) + more).hex()}F"
    return f"{found[1]}{int(number) + round(more / FINER)}"


@pytest.mark.parametrize(
    "name",
    [
        "finer weights behind a clip",
        "floats",
        pytest.param("finer weights", marks=pytest.mark.slow),
        pytest.param("finer weights of a convolution", marks=pytest.mark.slow),
    ],
)
def test_a_bias_that_is_two_steps_off_is_found(name: str, tmp_path: Path) -> None:
    net = _network(*NETWORKS[name])  # type: ignore[arg-type]
    (tmp_path / "network.onnx").write_bytes(net.model().SerializeToString())
    project = tmp_path / "p"
    microgen.generate(tmp_path / "network.onnx", "native", project)
    assert [str(each) for each in _compared(project) if not each.ok] == []
    parameters = project / PARAMETERS
    edited, count = re.subn(
        r"((?:_bias|float \w+)\[3\] = {\s+)([^,]+)", _two_steps_more, parameters.read_text()
    )
    assert count == 1
    parameters.write_text(edited)
    for verdict in _compared(project):
        assert not verdict.ok, verdict
        assert verdict.difference is not None
        assert verdict.difference.layer == LAYER, verdict
