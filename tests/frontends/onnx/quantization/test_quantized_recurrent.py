"""Recurrent layers with 8-bit weights."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from onnx import ModelProto, helper

import microgen
from microgen import frontends
from microgen.base.errors import ModelError
from microgen.frontends.onnx.oracle.ort import OnnxRuntime
from microgen.graph.ir.graph import Array
from microgen.graph.ir.interpreter import evaluate
from microgen.graph.ops import registry
from tests.frontends.onnx.models import info, model, written

CELLS, SIZE = 6, 4
RNG = np.random.default_rng(8)
needs_runtime = pytest.mark.skipif(bool(OnnxRuntime().lacking()), reason=OnnxRuntime().lacking())


def stored(directions: int, size: int, *, per_channel: bool) -> tuple[Array, Array, Array]:
    """Weights as DynamicQuantizeLSTM reads them, their scales and zero points."""
    shape = (directions, 4 * CELLS) if per_channel else (directions,)
    values = RNG.integers(0, 256, (directions, size, 4 * CELLS)).astype(np.uint8)
    zeros = np.full(shape, 128, np.uint8)
    return values, RNG.uniform(0.002, 0.006, shape).astype(np.float32), zeros


def dynamic(directions: int = 1, *, per_channel: bool = False) -> ModelProto:
    parts = [stored(directions, size, per_channel=per_channel) for size in (SIZE, CELLS)]
    names = [f"{side}{kind}" for side in "WR" for kind in ("", "_scale", "_zero")]
    values = dict(zip(names, (each for part in parts for each in part), strict=True))
    values["B"] = RNG.normal(0, 0.2, (directions, 8 * CELLS)).astype(np.float32)
    inputs = ["x", "W", "R", "B", "", "", "", "", "W_scale", "W_zero", "R_scale", "R_zero"]
    direction = "bidirectional" if directions == 2 else "forward"
    node = helper.make_node(
        "DynamicQuantizeLSTM",
        inputs,
        ["y", "last"],
        domain="com.microsoft",
        hidden_size=CELLS,
        direction=direction,
    )
    outputs = [info("y", None), info("last", None)]
    domains = ["com.microsoft"]
    return model([node], [info("x", (5, 2, SIZE))], outputs, values, opset=17, domains=domains)


@needs_runtime
@pytest.mark.parametrize("per_channel", [False, True])
@pytest.mark.parametrize("directions", [1, 2])
def test_it_differs_from_onnx_runtime_by_8_bit_data(
    directions: int, per_channel: bool, tmp_path: Path
) -> None:
    import onnxruntime

    made = dynamic(directions, per_channel=per_channel)
    data = RNG.normal(0, 1, (5, 2, SIZE)).astype(np.float32)
    graph = frontends.load(written(made, tmp_path))
    found = evaluate(graph, {"x": data}, registry())
    session = onnxruntime.InferenceSession(made.SerializeToString())
    for name, expected in zip(("y", "last"), session.run(["y", "last"], {"x": data}), strict=True):
        assert found[name].shape == expected.shape
        assert np.abs(found[name] - expected).max() < 0.05
    assert any("are float32 in flash" in note for note in graph.notes)


@needs_runtime
def test_its_layers_are_compared_with_float_weights(tmp_path: Path) -> None:
    microgen.generate(written(dynamic(2), tmp_path), "native", tmp_path / "p")
    verdict = microgen.run(tmp_path / "p", compare=True).verdicts[1]
    assert (verdict.name, verdict.ok) == ("ONNX Runtime ORT_DISABLE_ALL", True)


def test_scales_must_fit(tmp_path: Path) -> None:
    made = dynamic()
    for each in made.graph.initializer:
        if each.name == "W_scale":
            each.CopyFrom(dynamic(2).graph.initializer[1])
    with pytest.raises(ModelError, match="has weights that cannot be read"):
        frontends.load(written(made, tmp_path))


def test_dequantized_weights_are_float32_with_a_note(tmp_path: Path) -> None:
    values = {
        "w": RNG.integers(-127, 128, (1, 3 * CELLS, SIZE)).astype(np.int8),
        "r": RNG.normal(0, 0.3, (1, 3 * CELLS, CELLS)).astype(np.float32),
        "s": np.float32(0.01),
        "z": np.int8(0),
    }
    nodes = [
        helper.make_node("DequantizeLinear", ["w", "s", "z"], ["f"]),
        helper.make_node("GRU", ["x", "f", "r"], ["", "y"], hidden_size=CELLS),
    ]
    made = model(nodes, [info("x", (5, 2, SIZE))], [info("y", (1, 2, CELLS))], values, opset=17)
    (note,) = frontends.load(written(made, tmp_path)).notes
    assert note.startswith('the layer "y": its weights of a few bits are float32 in flash')
