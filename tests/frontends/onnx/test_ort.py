"""ONNX Runtime as the oracle: which tensors it gives, and how they are compared."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import ModelProto, TensorProto, helper, numpy_helper

import microgen
from microgen import frontends
from microgen.frontends.model_format import OracleError
from microgen.frontends.onnx.oracle import ort_products
from microgen.frontends.onnx.oracle.ort import OnnxRuntime
from tests.frontends.onnx import judged
from tests.frontends.onnx.models import info, model, written

pytestmark = pytest.mark.skipif(bool(OnnxRuntime().lacking()), reason=OnnxRuntime().lacking())


def convolving(opset: int = 20) -> ModelProto:
    rng = np.random.default_rng(5)
    constants = {
        "w": rng.normal(size=(4, 3, 3, 3)).astype(np.float32),
        "k": rng.normal(size=(4, 1, 1)).astype(np.float32),
    }
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["c"], pads=[1, 1, 1, 1]),
        helper.make_node("Mul", ["c", "k"], ["m"]),
        helper.make_node("Add", ["m", "c"], ["y"]),
    ]
    x, y = info("x", (1, 3, 5, 5)), info("y", (1, 4, 5, 5))
    return model(nodes, [x], [y], constants, opset=opset)


def test_it_gives_every_tensor_of_the_graph(tmp_path: Path) -> None:
    files = frontends.files(written(convolving(), tmp_path))
    samples = [[np.full((1, 3, 5, 5), value, np.float32)] for value in (0, 1)]
    first, second = OnnxRuntime().layers(files, samples)
    assert sorted(first) == ["c", "m", "y"]
    assert not first["y"].any()
    assert np.allclose(second["y"], second["c"] + second["m"])


def test_layers_of_the_firmware_are_compared_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, project = written(convolving(), tmp_path), tmp_path / "p"
    microgen.generate(path, "native", project)
    record = json.loads((project / "microgen.json").read_text())
    monkeypatch.setattr(OnnxRuntime, "profile", record["options"]["numerics"])
    verdict = microgen.run(project, compare=True).verdicts[1]
    assert (verdict.name, verdict.ok) == ("ONNX Runtime ORT_DISABLE_ALL", True)
    assert verdict.layers is not None
    names = [held.name for held in verdict.layers.held if held.sample == 0]
    assert names == ["c#NHWC", "c#NHWC'1", "m#NHWC", "y#NHWC", "y"]  # also those with channels last
    assert [held.tensor for held in verdict.layers.held][2:5] == ["m", "y", "y"]


def test_a_layer_of_its_own_that_differs_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, project = written(convolving(), tmp_path), tmp_path / "p"
    microgen.generate(path, "native", project)
    record = json.loads((project / "microgen.json").read_text())
    monkeypatch.setattr(OnnxRuntime, "profile", record["options"]["numerics"])
    other = convolving()
    weights = np.ones((4, 3, 3, 3), np.float32)
    other.graph.initializer[0].CopyFrom(numpy_helper.from_array(weights, "w"))
    monkeypatch.setattr(
        "microgen.frontends.onnx.oracle.ort_products.widened", lambda _model: _all(other)
    )
    verdict = microgen.run(project, compare=True).verdicts[1]
    assert not verdict.ok
    assert verdict.difference is not None
    assert verdict.difference.layer == "c"


def _all(found: ModelProto) -> ModelProto:
    """The model with all tensors as outputs."""
    found.graph.output.extend(onnx.ValueInfoProto(name=name) for name in ("c", "m"))
    return found


def test_a_model_that_it_refuses_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = frontends.files(written(convolving(onnx.defs.onnx_opset_version()), tmp_path))
    monkeypatch.setattr("microgen.frontends.onnx.oracle.ort_products.widened", _broken)
    with pytest.raises(OracleError, match="ONNX Runtime refuses: "):
        list(OnnxRuntime().layers(files, []))


def _broken(found: ModelProto) -> ModelProto:
    found.opset_import[0].version = 9999
    return found


def _products() -> tuple[ModelProto, dict[str, np.ndarray]]:
    rng = np.random.default_rng(7)
    weights = rng.integers(-128, 128, (64, 16), np.int8)
    constants = {
        "xz": np.uint8(3),
        "w": weights,
        "wz": np.int8(-5),
    }
    node = helper.make_node("MatMulInteger", ["x", "w", "xz", "wz"], ["y"])
    x = info("x", (4, 64), TensorProto.UINT8)
    return model([node], [x], [info("y", (4, 16), TensorProto.INT32)], constants), {
        "x": rng.integers(0, 256, (4, 64), np.uint8)
    }


def test_products_of_uint8_and_int8_become_products_of_uint8() -> None:
    import onnxruntime

    found, given = _products()
    widened = ort_products.widened(found)
    assert {each.name for each in widened.graph.initializer} >= {"w#uint8", "wz#uint8"}
    assert list(widened.graph.node[0].input) == ["x", "w#uint8", "xz", "wz#uint8"]
    session = onnxruntime.InferenceSession(widened.SerializeToString())
    values = {each.name: numpy_helper.to_array(each) for each in found.graph.initializer}
    data, weights = (
        given["x"].astype(np.int32) - values["xz"],
        values["w"].astype(np.int32) - values["wz"],
    )
    assert (session.run(None, given)[0] == data @ weights).all()


def test_other_models_are_given_as_they_are() -> None:
    assert ort_products.widened(convolving()) == convolving()


def test_its_error_of_exp_grows_with_alpha(tmp_path: Path) -> None:
    node = helper.make_node("Selu", ["x"], ["y"], alpha=20.0, gamma=3.0)
    net = model([node], [info("x", (1, 5000))], [info("y", (1, 5000))])
    assert judged.wrong([written(net, tmp_path)]) == {}
