from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from flatbuffers import flexbuffers

from microgen.base.errors import MicrogenError, ModelError
from microgen.frontends.tflite.litert import LiteRT
from microgen.graph.ir.graph import ArrayType, DType
from microgen.graph.ir.interpreter import evaluate
from microgen.graph.ops import registry
from microgen.graph.ops.detection.suppression import (
    ALL_CLASS_SUPPRESSION,
    NON_MAX_SUPPRESSION,
    AllClassSuppressionAttrs,
    NonMaxSuppressionAttrs,
)
from tests.frontends.tweaked import Network, refusal
from tests.kernels.conformance.litert_oracle import needs_litert
from tests.kernels.conformance.onnx_oracle import by_onnx
from tests.kernels.moves.movement_cases import random_all_class_suppression
from tests.support.tflite_builder import OperatorSpec, TensorSpec

SETTINGS = {
    "max_detections": 10,
    "max_classes_per_detection": 1,
    "num_classes": 3,
    "nms_score_threshold": 0.2,
    "nms_iou_threshold": 0.5,
    "y_scale": 10.0,
    "x_scale": 10.0,
    "h_scale": 5.0,
    "w_scale": 5.0,
    "use_regular_nms": False,
}


def flexbuffer(settings: dict[str, Any]) -> bytes:
    builder = flexbuffers.Builder()
    with builder.Map():
        for name, value in settings.items():
            builder.Key(name)
            builder.Add(value)
    return bytes(builder.Finish())


def detector(
    seed: int = 0, boxes: int = 40, background: int = 1, width: int = 4, **settings: Any
) -> Network:
    """A network of that operator alone, with random anchors."""
    chosen = {**SETTINGS, **settings}
    rows = chosen["max_detections"] * max(1, chosen["max_classes_per_detection"])
    columns = chosen["num_classes"] + background
    rng = np.random.default_rng(seed)
    anchors = np.concatenate(
        [rng.uniform(0, 1, (boxes, 2)), rng.uniform(0.1, 0.5, (boxes, 2))], axis=1
    )
    return Network(
        (
            TensorSpec("x", (1, boxes, width), "float32"),
            TensorSpec("s", (1, boxes, columns), "float32"),
            TensorSpec("a", (boxes, 4), "float32", anchors),
            TensorSpec("y", (1, rows, 4), "float32"),
            TensorSpec("c", (1, rows), "float32"),
            TensorSpec("p", (1, rows), "float32"),
            TensorSpec("n", (1,), "float32"),
        ),
        (
            OperatorSpec(
                "CUSTOM",
                ("x", "s", "a"),
                ("y", "c", "p", "n"),
                custom_code="TFLite_Detection_PostProcess",
                custom_options=flexbuffer(chosen),
            ),
        ),
        ("x", "s"),
        ("y", "c", "p", "n"),
    )


def samples(network: Network, seed: int) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    rng = np.random.default_rng(seed + 1)
    boxes, scores = (tensor.shape for tensor in network.tensors[:2])
    found = np.round(rng.uniform(0, 1, scores) * 40) / 40 if seed % 2 else rng.uniform(0, 1, scores)
    return rng.normal(0, 3, boxes).astype(np.float32), found.astype(np.float32)


@needs_litert
@pytest.mark.parametrize("seed", range(40))
def test_equals_litert(seed: int) -> None:
    """Classes, scores and numbers bit for bit, also of equal scores; boxes but for the rounding of
    their decoding. LiteRT leaves the rows after the chosen boxes as they were."""
    overlap, width = (0.5, 0.3, 0.6, 1.0)[seed % 4], (4, 6)[seed % 3 == 0]
    network = detector(seed, 40, seed % 2, width, nms_iou_threshold=overlap)
    boxes, scores = samples(network, seed)
    (theirs,) = LiteRT().layers({"": network.to_bytes()}, [[boxes, scores]])
    ours = evaluate(network.load(), {"x": boxes, "s": scores}, registry())
    assert ours["n"] == theirs["n"]
    count = int(ours["n"][0])
    assert count > 0
    for name in "cp":
        np.testing.assert_array_equal(ours[name][0, :count], theirs[name][0, :count])
        assert not ours[name][0, count:].any()
    np.testing.assert_allclose(ours["y"][0, :count], theirs["y"][0, :count], rtol=0, atol=1e-6)


def test_shapes_that_the_file_leaves_out() -> None:
    network = detector()
    for name in "ycpn":
        network = network.with_tensor(name, shape=())
    graph = network.load()
    assert [graph.types[name].shape for name in graph.outputs] == [
        (1, 10, 4),
        (1, 10),
        (1, 10),
        (1,),
    ]


OPTIONS = detector().operators[0].custom_options


@pytest.mark.parametrize(
    ("network", "kind", "said"),
    [
        (detector(max_classes_per_detection=0), ModelError, "max_classes_per_detection 0 and"),
        (detector(max_detections=1000, max_classes_per_detection=33), ModelError, "to 32768 rows"),
        (detector(use_regular_nms=True, detections_per_class=0), ModelError, "_per_class 0; 1 or"),
        (detector(use_regular_nms=True, detections_per_class=2**33), ModelError, "_per_class 8589"),
        (detector(num_classes=0), ModelError, "do not lie in axis 2"),
        (detector(background=2), ModelError, "has scores of float32[1,40,5] for 40 boxes and 3"),
        (detector(width=3), ModelError, "has boxes of float32[1,40,3]"),
        (
            detector(y_scale=0.0),
            ModelError,
            "has max_detections 10, max_classes_per_detection 1 and scales",
        ),
        (detector(nms_iou_threshold=0.0), ModelError, "the overlap is 0"),
        (
            detector().with_operator(custom_options=flexbuffer({**SETTINGS, "max_detections": 0})),
            ModelError,
            "has max_detections 0",
        ),
        (
            detector().with_operator(custom_options=flexbuffer({"num_classes": 3})),
            ModelError,
            "has custom options that cannot be read ('max_detections')",
        ),
        (detector().with_operator(custom_options=b""), ModelError, "cannot be read"),
        (detector().with_operator(custom_options=OPTIONS[:-9]), ModelError, ""),
        (detector().with_operator(outputs=("y", "c", "p")), ModelError, "3 outputs"),
    ],
)
def test_impossible_detectors(network: Network, kind: type[MicrogenError], said: str) -> None:
    if network.operators[0].outputs == ("y", "c", "p"):
        network = network.replace(outputs=("y", "c", "p"))
    assert said in refusal(network, kind)


def test_spoiled_options_are_refused_or_read() -> None:
    rng, outcomes = np.random.default_rng(5), set()
    for _ in range(400):
        options = bytearray(OPTIONS)
        for place in rng.integers(0, len(options), 3):
            options[place] = int(rng.integers(256))
        try:
            detector().with_operator(custom_options=bytes(options)).load()
            outcomes.add("read")
        except MicrogenError:
            outcomes.add("refused")
    assert outcomes == {"read", "refused"}


def test_constraints() -> None:
    boxes, scores = (ArrayType(shape, DType.FLOAT32, None) for shape in ((5, 4), (5,)))
    types = [boxes, scores, replace(scores, dtype=DType.INT32)]
    attrs = NonMaxSuppressionAttrs(3, 0.5, 0.5)
    (shape,) = NON_MAX_SUPPRESSION.infer(attrs, types)
    output = ArrayType(shape, DType.FLOAT32, None)
    assert NON_MAX_SUPPRESSION.check(attrs, types, [output]) is None
    assert "the overlap is 2" in str(
        NON_MAX_SUPPRESSION.check(replace(attrs, overlap=2.0), types, [output])
    )
    assert "scores" in str(NON_MAX_SUPPRESSION.check(attrs, [boxes, types[2], types[2]], [output]))
    with pytest.raises(ValueError, match="must be"):
        NON_MAX_SUPPRESSION.infer(attrs, [scores, scores, scores])
    with pytest.raises(ValueError, match="at most 0 boxes"):
        NON_MAX_SUPPRESSION.infer(replace(attrs, most=0), types)


# vision.all_class_non_max_suppression against onnx's reference implementation.


@pytest.mark.parametrize("seed", [seed for seed in range(50) if seed % 5])
def test_equals_onnx(seed: int) -> None:
    case = random_all_class_suppression(seed)
    attrs = case.attrs
    assert isinstance(attrs, AllClassSuppressionAttrs)
    least = attrs.least_score
    given = [
        *(tensor.array for tensor in case.inputs),
        np.array([attrs.most]),
        np.array([attrs.overlap], np.float32),
        None if least is None else np.array([least], np.float32),
    ]
    expected = by_onnx(
        "NonMaxSuppression", given[: 4 + (least is not None)], center_point_box=attrs.is_centred
    )
    found = case.expected
    np.testing.assert_array_equal(found[: len(expected)], expected.reshape(-1, 3))
    assert (found[len(expected) :] == -1).all()


@pytest.mark.parametrize(
    "shapes", [((1, 8, 4),), ((1, 8, 3), (1, 1, 8)), ((2, 8, 4), (1, 1, 8)), ((1, 8, 4), (8,))]
)
def test_impossible_shapes_are_refused(shapes: tuple[tuple[int, ...], ...]) -> None:
    kinds = [ArrayType(shape, DType.FLOAT32) for shape in shapes]
    with pytest.raises(ValueError, match="expected"):
        ALL_CLASS_SUPPRESSION.infer(AllClassSuppressionAttrs(1, 0.5, None, False), kinds)


def test_dtypes() -> None:
    attrs = AllClassSuppressionAttrs(1, 0.5, None, False)
    plain, wide = ArrayType((1,), DType.FLOAT32), ArrayType((1,), DType.INT64)
    assert "the boxes are" in str(ALL_CLASS_SUPPRESSION.check(attrs, [wide, plain], [wide]))
    assert "the scores are" in str(ALL_CLASS_SUPPRESSION.check(attrs, [plain, wide], [wide]))
    assert "it is int64" in str(ALL_CLASS_SUPPRESSION.check(attrs, [plain, plain], [plain]))
