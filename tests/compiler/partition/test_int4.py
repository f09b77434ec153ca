"""Which graphs have int4 weights, and which kernels compute them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import microgen
from microgen.base.errors import InternalError
from microgen.compiler import passes
from microgen.compiler.passes.dead_code import dead_code
from microgen.graph import ops
from microgen.graph.ir import verify
from microgen.graph.ir.graph import Graph
from microgen.kernels.fitting import fitting
from microgen.target import board as boards
from tests.frontends.tweaked import Network, dense
from tests.support.tflite_builder import packed

ODD = np.arange(-8, 4).reshape(3, 4)
BOARD = "mps2_an386"


def _network(**data: Any) -> Network:
    """A dense layer of int4 weights. ``data`` are changes of its input and output."""
    network = dense(2, 4).with_tensor("w", dtype="int4", data=packed(ODD))
    return network.with_tensor("x", **data).with_tensor("y", **data)


def _graph(network: Network) -> Graph:
    return passes.run(network.load())


def _call(network: Network, folder: Path) -> tuple[str, str]:
    """The kernel of the only layer, and the refusals of those before it."""
    file = folder / "m.tflite"
    file.write_bytes(network.to_bytes())
    (call,) = microgen.generate(file, BOARD, folder / "p").manifest.calls
    (step,) = call.steps
    return step.kernel, "; ".join(step.refusals)


def test_passes_keep_what_is_int4() -> None:
    assert _graph(_network()).int4 == {"w"}
    assert _graph(dense(2, 4)).int4 == frozenset()


def test_int4_constants_that_nothing_reads_are_dropped() -> None:
    graph = _graph(_network())
    assert dead_code(graph.replace(nodes=(), outputs=graph.inputs)).int4 == frozenset()


@pytest.mark.parametrize("value", [8, -9])
def test_values_of_int4_are_checked_after_each_pass(value: int) -> None:
    graph = _graph(_network())
    wide = np.full((3, 4), value, np.int8)
    with pytest.raises(InternalError, match="'w' is not an int8 constant of values from -8 to 7"):
        verify.check(graph.replace(constants={"w": wide}), ops.registry())
    with pytest.raises(InternalError, match="'x' is not an int8 constant"):
        verify.check(graph.replace(int4=frozenset({"x"})), ops.registry())


def test_int8_data_has_a_kernel_for_packed_weights(tmp_path: Path) -> None:
    """Which of them is taken depends on costs: for few weights, one for int8 is faster."""
    file = tmp_path / "m.tflite"
    file.write_bytes(_network().to_bytes())
    (call,) = microgen.generate(file, BOARD, tmp_path / "p").manifest.calls
    assert "mg_dense_s4_" in call.steps[0].reason
    assert any(why.startswith("mg_dense_s4_mve: ") for why in call.steps[0].refusals)
    graph = _graph(_network())
    (node,) = graph.nodes
    fit = [k.symbol for k in fitting(node, graph, boards.load(BOARD).cpu).kernels if k.takes_int4]
    assert fit == ["mg_dense_s4_dsp", "mg_dense_s4_portable", "mg_dense_s4"]


def test_other_data_falls_back_to_one_byte_for_each_weight(tmp_path: Path) -> None:
    network = _network(dtype="int16", zero_point=(0,))
    kernel, _ = _call(network, tmp_path)
    assert kernel.startswith("mg_dense_s16")
    assert "mg_dense_s4: 'x' is int16, the kernel computes int8" in _refusals(network)


def _refusals(network: Network) -> list[str]:
    """Why kernels do not compute the only layer."""
    graph = _graph(network)
    (node,) = graph.nodes
    found = fitting(node, graph, boards.load(BOARD).cpu)
    return [f"{refusal.by}: {refusal.why}" for refusal in found.refusals]


def test_hybrid_layers_have_one_byte_for_each_weight(tmp_path: Path) -> None:
    kernel, refusals = _call(_network(dtype="float32", scale=(), zero_point=()), tmp_path)
    assert kernel == "mg_dense_hybrid_f32_dsp"
    assert refusals == ""
