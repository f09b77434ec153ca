"""TFLite_Detection_PostProcess with several classes for each box, with boxes for each class, and in
uint8."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import microgen
from microgen.base.errors import MicrogenError, ModelError, UnsupportedError
from microgen.frontends.tflite.litert import LiteRT
from microgen.graph.ir.graph import ArrayType, DType
from microgen.graph.ir.interpreter import evaluate
from microgen.graph.ops import registry
from microgen.graph.ops.detection.suppression import (
    MULTICLASS_SUPPRESSION,
    MulticlassSuppressionAttrs,
)
from tests.frontends.tweaked import Network, refusal
from tests.graph.ops.detection.test_suppression_reference import detector, samples
from tests.kernels.conformance.litert_oracle import needs_litert
from tests.support.tools import NEEDS_NINJA

Array = np.ndarray[Any, Any]


def _assert_equals_litert(network: Network, fed: dict[str, Array], rows: int) -> int:
    """Compares the first ``rows`` rows for each detection, and returns the number of detections.
    Classes, scores and numbers are equal; boxes but for the rounding of their decoding."""
    (theirs,) = LiteRT().layers({"": network.to_bytes()}, [list(fed.values())])
    ours = evaluate(network.load(), fed, registry())
    assert ours["n"] == theirs["n"]
    count = int(ours["n"][0])
    for name in "cp":
        np.testing.assert_array_equal(
            ours[name][0, : count * rows], theirs[name][0, : count * rows]
        )
        assert not ours[name][0, count * rows :].any()
    boxes, expected = (found["y"][0, : count * rows] for found in (ours, theirs))
    np.testing.assert_allclose(boxes, expected, rtol=0, atol=1e-6)
    return count


def _settings(seed: int, **settings: Any) -> dict[str, Any]:
    overlap = (0.5, 0.3, 0.6, 1.0)[seed % 4]
    return {"nms_iou_threshold": overlap, "num_classes": 2 + seed % 7, **settings}


@needs_litert
@pytest.mark.parametrize("seed", range(40))
def test_several_classes_equal_litert(seed: int) -> None:
    """Odd seeds have many equal scores. All classes are there, so all rows are compared."""
    settings = _settings(seed)
    each = 2 + seed % (settings["num_classes"] - 1)
    network = detector(seed, 40, seed % 2, max_classes_per_detection=each, **settings)
    fed = dict(zip("xs", samples(network, seed), strict=True))
    assert _assert_equals_litert(network, fed, each) > 0


@needs_litert
@pytest.mark.parametrize("seed", range(40))
def test_boxes_of_each_class_equal_litert(seed: int) -> None:
    settings = _settings(seed, use_regular_nms=True, max_detections=(10, 1, 25)[seed % 3])
    if seed % 5:
        settings["detections_per_class"] = 1 + seed % 5
    network = detector(seed, 40, seed % 2, max_classes_per_detection=1 + seed % 2, **settings)
    fed = dict(zip("xs", samples(network, seed), strict=True))
    assert _assert_equals_litert(network, fed, 1) > 0


@needs_litert
def test_more_rows_than_classes_are_zeros() -> None:
    """LiteRT leaves them as they were, so the oracle's are zeroed, too."""
    network = detector(1, max_classes_per_detection=5)
    fed = dict(zip("xs", samples(network, 1), strict=True))
    (theirs,) = LiteRT().layers({"": network.to_bytes()}, [list(fed.values())])
    ours = evaluate(network.load(), fed, registry())
    count = int(ours["n"][0])
    found, expected = (each["c"].reshape(-1, 5) for each in (ours, theirs))
    np.testing.assert_array_equal(found, expected)
    assert found[:count, :3].any()
    assert not found[:, 3:].any()


def _unsigned(network: Network) -> Network:
    """The network with uint8 boxes, scores and anchors."""
    rng = np.random.default_rng(5)
    stored = rng.integers(0, 256, network.tensors[2].shape).astype(np.uint8)
    stored[:, 2:] = np.maximum(stored[:, 2:], 30)
    network = network.with_tensor("x", dtype="uint8", scale=(0.07,), zero_point=(130,))
    network = network.with_tensor("s", dtype="uint8", scale=(1 / 256,), zero_point=(0,))
    anchors = {"dtype": "uint8", "scale": (0.004,), "zero_point": (3,), "data": stored}
    return network.with_tensor("a", **anchors)


def _unsigned_samples(network: Network, seed: int) -> dict[str, Array]:
    rng = np.random.default_rng(seed)
    shapes = [tensor.shape for tensor in network.tensors[:2]]
    return {
        name: rng.integers(0, 256, shape).astype(np.uint8)
        for name, shape in zip("xs", shapes, strict=True)
    }


@needs_litert
@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize(
    "settings",
    [{}, {"max_classes_per_detection": 3}, {"use_regular_nms": True, "max_detections": 20}],
    ids=["fast", "several classes", "each class"],
)
def test_uint8_equals_litert(settings: dict[str, Any], seed: int) -> None:
    network = _unsigned(detector(seed, 60, seed % 2, (4, 6)[seed % 3 == 0], **settings))
    rows = settings.get("max_classes_per_detection", 1)
    assert _assert_equals_litert(network, _unsigned_samples(network, seed), rows) > 0


@needs_litert
def test_uint8_boxes_with_float_scores_equal_litert() -> None:
    network = _unsigned(detector(2)).with_tensor("s", dtype="float32", scale=(), zero_point=())
    fed = {"x": _unsigned_samples(network, 2)["x"], "s": samples(detector(2), 2)[1]}
    assert _assert_equals_litert(network, fed, 1) > 0


def _sequence(network: Network) -> dict[str, Array]:
    """Samples with high scores and with low ones in turn."""
    boxes, scores = [], []
    for seed in range(6):
        if network.tensors[0].dtype == "uint8":
            sample = _unsigned_samples(network, seed)
        else:
            sample = dict(zip("xs", samples(network, seed), strict=True))
        boxes.append(sample["x"])
        scores.append((sample["s"] / (1, 5)[seed % 2]).astype(sample["s"].dtype))
    return {"x": np.stack(boxes), "s": np.stack(scores)}


@NEEDS_NINJA
@needs_litert
@pytest.mark.parametrize(
    ("settings", "is_unsigned"),
    [
        ({}, False),
        pytest.param({}, True, marks=pytest.mark.slow),
        ({"max_classes_per_detection": 4}, True),
        pytest.param({"max_classes_per_detection": 4}, False, marks=pytest.mark.slow),
        ({"use_regular_nms": True, "nms_iou_threshold": 0.1}, False),
        pytest.param(
            *({"use_regular_nms": True, "nms_iou_threshold": 0.1}, True), marks=pytest.mark.slow
        ),
    ],
)
def test_firmware_equals_litert(
    settings: dict[str, Any], is_unsigned: bool, tmp_path: Path
) -> None:
    """Samples have few and many detections. LiteRT leaves other rows as the sample before."""
    network = detector(3, **settings)
    network = _unsigned(network) if is_unsigned else network
    (tmp_path / "m.tflite").write_bytes(network.to_bytes())
    microgen.generate(tmp_path / "m.tflite", "native", tmp_path / "p")
    microgen.build(tmp_path / "p")
    fed = _sequence(network)
    result = microgen.run(tmp_path / "p", fed, compare=True)
    assert [str(verdict) for verdict in result.verdicts if not verdict.ok] == []
    assert [verdict.is_skipped for verdict in result.verdicts] == [False, False]
    assert len(np.unique(result.outputs["n"])) > 1


def _refusals() -> list[tuple[Network, type[MicrogenError], str]]:
    mixed = _unsigned(detector())
    plain = {"dtype": "float32", "scale": (), "zero_point": ()}
    return [
        (mixed.with_tensor("x", **plain), ModelError, "has float32 boxes and uint8 anchors"),
        (
            mixed.with_tensor("a", **plain),
            ModelError,
            "has uint8 boxes and float32 anchors; one dtype is expected",
        ),
        (detector().with_tensor("s", dtype="int8", scale=(0.1,)), UnsupportedError, "reads int8"),
    ]


@pytest.mark.parametrize(("network", "kind", "said"), _refusals())
def test_dtypes_that_litert_misreads(
    network: Network, kind: type[MicrogenError], said: str
) -> None:
    assert said in refusal(network, kind)


def test_constraints() -> None:
    boxes, scores = (ArrayType(shape, DType.FLOAT32, None) for shape in ((5, 4), (5, 3)))
    attrs = MulticlassSuppressionAttrs(3, 2, 0, 0.5, 0.5)
    (shape,) = MULTICLASS_SUPPRESSION.infer(attrs, [boxes, scores])
    assert shape == (6, 7)
    output = ArrayType(shape, DType.FLOAT32, None)
    assert MULTICLASS_SUPPRESSION.check(attrs, [boxes, scores], [output]) is None
    assert "the overlap is 2" in str(
        MULTICLASS_SUPPRESSION.check(replace(attrs, overlap=2.0), [boxes, scores], [output])
    )
    many = ArrayType((5, 2**24 + 1), DType.FLOAT32, None)
    assert "16777217 classes" in str(MULTICLASS_SUPPRESSION.check(attrs, [boxes, many], [output]))
    with pytest.raises(ValueError, match="must be"):
        MULTICLASS_SUPPRESSION.infer(attrs, [scores, boxes])
    with pytest.raises(ValueError, match="there are 1 inputs"):
        MULTICLASS_SUPPRESSION.infer(attrs, [boxes])
    for wrong in (replace(attrs, most=0), replace(attrs, each=0), replace(attrs, per_class=-1)):
        with pytest.raises(ValueError, match="1 or more"):
            MULTICLASS_SUPPRESSION.infer(wrong, [boxes, scores])
