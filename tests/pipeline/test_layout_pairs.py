"""Networks of NCHW origin cost what their twins with channels last cost, and compute the same."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
import pytest

from microgen import frontends
from microgen.compiler import passes
from microgen.frontends.tflite.litert import LiteRT
from microgen.graph.ir.graph import DType, Graph
from microgen.graph.ir.interpreter import evaluate
from microgen.graph.ops import registry
from microgen.options import Options
from microgen.pipeline import planning
from microgen.target import board as boards
from tests.frontends.onnx import one_node
from tests.pipeline.layout_networks import Array, Net, Tflite, Value
from tests.pipeline.layout_pairs import NETWORKS, Onnx

MORE = 1.02  # times what the twin takes
BOARD = boards.load("mps2_an386")
Make = Callable[[Net], Value]


@dataclass(frozen=True)
class Need:
    """The calls of a network, its bytes of RAM, and its modelled cycles."""

    calls: int
    ram: int
    cycles: int

    @classmethod
    def of(cls, path: Path) -> Need:
        made = planning.planned(path, BOARD, Options())
        ram = made.plan.peak + made.program.io_bytes
        return cls(len(made.program.calls), ram, made.schedule.score.cycles)

    def is_within(self, twin: Need) -> bool:
        pairs = ((self.ram, twin.ram), (self.cycles, twin.cycles))
        return self.calls <= twin.calls and all(own <= MORE * other for own, other in pairs)


def _written(net: Tflite | Onnx, make: Make, path: Path) -> Path:
    path.write_bytes(net.model(make(net)))
    return path


def _tflite(make: Make, dtype: str, folder: Path) -> dict[str, Path]:
    nets = {origin: Tflite(origin, dtype) for origin in ("NHWC", "NCHW")}
    return {name: _written(net, make, folder / f"{name}.tflite") for name, net in nets.items()}


def _onnx(make: Make, folder: Path) -> Path:
    return _written(Onnx(), make, folder / "net.onnx")


def _sample(graph: Graph) -> dict[str, Array]:
    (name,) = graph.inputs
    kind, rng = graph.types[name], np.random.default_rng(3)
    values = rng.standard_normal(kind.shape)
    if kind.dtype is DType.INT8:
        return {name: np.clip(np.rint(values * 40), -128, 127).astype(np.int8)}
    return {name: values.astype(np.float32)}


def _computed(graph: Graph, sample: dict[str, Array]) -> Array:
    return evaluate(passes.run(graph), sample, registry())[graph.outputs[0]]


@pytest.mark.parametrize("dtype", ["float32", "int8"])
@pytest.mark.parametrize("make", NETWORKS)
def test_tflite_networks_of_nchw_origin_need_what_their_twins_need(
    make: Make, dtype: str, tmp_path: Path
) -> None:
    paths = _tflite(make, dtype, tmp_path)
    needs = {name: Need.of(path) for name, path in paths.items()}
    assert needs["NCHW"].is_within(needs["NHWC"]), needs


@pytest.mark.parametrize("make", NETWORKS)
def test_onnx_networks_need_what_their_twins_need(make: Make, tmp_path: Path) -> None:
    twin = Need.of(_tflite(make, "float32", tmp_path)["NHWC"])
    own = Need.of(_onnx(make, tmp_path))
    assert own.is_within(twin), (own, twin)


@pytest.mark.parametrize("dtype", ["float32", "int8"])
@pytest.mark.parametrize("make", NETWORKS)
def test_both_forms_compute_what_litert_computes(make: Make, dtype: str, tmp_path: Path) -> None:
    paths = _tflite(make, dtype, tmp_path)
    graphs = {name: frontends.load(path) for name, path in paths.items()}
    sample = _sample(graphs["NCHW"])
    found = [_computed(graph, sample) for graph in graphs.values()]
    data = {".tflite": paths["NCHW"].read_bytes()}
    (values,) = LiteRT().layers(data, [list(sample.values())])
    expected = dict(values)[graphs["NCHW"].outputs[0]]
    for own in found:
        if dtype == "int8":
            np.testing.assert_array_equal(own, expected)
        else:
            np.testing.assert_allclose(own, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("make", NETWORKS)
def test_onnx_networks_compute_what_the_runtime_computes(make: Make, tmp_path: Path) -> None:
    path = _onnx(make, tmp_path)
    graph = frontends.load(path)
    sample = _sample(graph)
    (expected,) = one_node.by_runtime(onnx.load(path), sample)
    np.testing.assert_allclose(_computed(graph, sample), expected, rtol=1e-4, atol=1e-5)
