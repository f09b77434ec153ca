"""Refusals of ONNX models say what to do about the cause, in the exporter's own words."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import ModelProto, TensorProto, helper

from microgen import frontends
from microgen.base.errors import MicrogenError
from tests.frontends.onnx.models import info, model, written

STATISTICS = {name: np.ones(2, np.float32) for name in ("s", "b", "m", "v")}
X, Y = info("x", (1, 2, 3, 3)), info("y", (1, 2, 3, 3))


def _said(found: ModelProto, folder: Path) -> str:
    with pytest.raises(MicrogenError) as caught:
        frontends.load(written(found, folder))
    return str(caught.value)


def _norm(*outputs: str) -> onnx.NodeProto:
    names = ["x", "s", "b", "m", "v"]
    return helper.make_node("BatchNormalization", names, list(outputs), training_mode=1)


def test_training_of_a_normalization_is_an_export_in_the_wrong_mode(tmp_path: Path) -> None:
    """Its outputs for the next step of the training are there, but nothing reads them."""
    said = _said(model([_norm("y", "m2", "v2")], [X], [Y], STATISTICS), tmp_path)
    assert "takes mean and variance from its own input, as in training; call network.eval()" in said
    wanted = [info("m2", (2,)), info("v2", (2,))]
    trained = model([_norm("y", "m2", "v2")], [X], [Y, *wanted], STATISTICS)
    assert len(frontends.load(written(trained, tmp_path)).outputs) == 3


def test_training_of_a_dropout(tmp_path: Path) -> None:
    drop = helper.make_node("Dropout", ["x", "r", "t"], ["y"])
    values = {"r": np.float32(0.5), "t": np.array(True)}
    assert "as in training; call network.eval()" in _said(model([drop], [X], [Y], values), tmp_path)


def test_weights_that_were_left_behind(tmp_path: Path) -> None:
    add = helper.make_node("Add", ["x", "w"], ["y"])
    found = model([add], [X], [Y], {"w": np.ones((1, 2, 3, 3), np.float32)})
    path = tmp_path / "m.onnx"
    onnx.save(found, path, save_as_external_data=True, location="m.data", size_threshold=0)
    assert frontends.load(path).constants
    (tmp_path / "m.data").unlink()
    with pytest.raises(MicrogenError, match="that file holds the weights: copy it into") as caught:
        frontends.load(path)
    assert "the file 'm.data'" in str(caught.value)


def test_places_of_an_input_are_not_to_be_bound(tmp_path: Path) -> None:
    places = helper.make_node("NonZero", ["x"], ["y"])
    found = model([places], [X], [info("y", None, TensorProto.INT64)])
    said = _said(found, tmp_path)
    assert "its shape depends on values" in said
    assert "--bind" not in said


@pytest.mark.parametrize("domain", ["com.microsoft", "com.microsoft.nchwc"])
def test_what_onnx_runtime_optimized(domain: str, tmp_path: Path) -> None:
    node = helper.make_node("FusedThing", ["x"], ["y"], domain=domain)
    said = _said(model([node], [X], [Y], domains=(domain,)), tmp_path)
    assert "is of ONNX Runtime only" in said
    level = "ORT_ENABLE_EXTENDED" if domain.endswith("nchwc") else "ORT_DISABLE_ALL"
    assert level in said


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        (TensorProto.DOUBLE, "of double; call network.float() before torch.onnx.export"),
        (TensorProto.STRING, "of string; no kernel reads texts: turn them into numbers"),
    ],
)
def test_types_that_nothing_computes(kind: int, said: str, tmp_path: Path) -> None:
    same = helper.make_node("Identity", ["x"], ["y"])
    ports = [info(name, (1, 2), kind) for name in "xy"]
    assert said in _said(model([same], ports[:1], ports[1:]), tmp_path)
