"""Operators of ai.onnx.ml other than trees, against ONNX Runtime."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import ModelProto, TensorProto, helper, numpy_helper

from microgen.base.errors import ModelError, UnsupportedError
from microgen.graph.ir.graph import Array, Graph
from tests.frontends.onnx.ml import forests
from tests.frontends.onnx.models import info
from tests.frontends.onnx.one_node import by_graph, by_runtime, loaded

CODES = {"f": TensorProto.FLOAT, "i": TensorProto.INT64}


def _compared(model: ModelProto, given: dict[str, Array], folder: Path, rtol: float = 0) -> Graph:
    graph = loaded(model, folder)
    expected = by_runtime(model, given)
    found = by_graph(graph, given)
    for own, other in zip(found, expected, strict=True):
        assert own.shape == other.shape
        np.testing.assert_allclose(own, other, rtol=rtol, atol=rtol)
    return graph


def _one(op: str, x: Array, folder: Path, rtol: float = 0, version: int = 3, **attrs: Any) -> Graph:
    """The graph of one operator, whose results are ONNX Runtime's."""
    names = "label scores" if op.endswith("Classifier") else "y"
    proto = forests.node(op, "x", names, **attrs)
    model = forests.one(proto, x.shape, version, CODES[x.dtype.kind])
    return _compared(model, {"x": x}, folder, rtol)


def _data(seed: int, shape: tuple[int, ...] = (6, 4)) -> Array:
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


X = _data(1)
WHOLE = np.random.default_rng(2).integers(-3, 4, (6, 4)).astype(np.int64)
TINY = np.array([[0, 0, 0, 0], [1e-30, 0, 0, -1e-30], [0, -0.0, 3, -4]], np.float32)


@pytest.mark.parametrize("x", [X, X[0], WHOLE], ids=["rows", "vector", "integers"])
@pytest.mark.parametrize("count", [1, 4])
def test_scaler(x: Array, count: int, tmp_path: Path) -> None:
    offset, scale = (_data(seed, (count,)).tolist() for seed in (3, 4))
    _one("Scaler", x, tmp_path, offset=offset, scale=scale)


@pytest.mark.parametrize("x", [X, X[0], TINY, WHOLE], ids=["rows", "vector", "tiny", "integers"])
@pytest.mark.parametrize("norm", ["MAX", "L1", "L2"])
def test_normalizer(x: Array, norm: str, tmp_path: Path) -> None:
    _one("Normalizer", x, tmp_path, 1e-6, norm=norm)


@pytest.mark.parametrize("count", [1, 4])
def test_imputer(count: int, tmp_path: Path) -> None:
    values = [9.0, 8.0, 7.0, 6.0][:count]
    missing = np.where(X > 0.5, np.float32(np.nan), X)
    nan = float("nan")
    _one("Imputer", missing, tmp_path, imputed_value_floats=values, replaced_value_float=nan)
    _one("Imputer", TINY, tmp_path, imputed_value_floats=values, replaced_value_float=0.0)
    whole = [int(value) for value in values]
    _one("Imputer", WHOLE, tmp_path, imputed_value_int64s=whole, replaced_value_int64=2)


def test_binarizer(tmp_path: Path) -> None:
    _one("Binarizer", np.append(X, np.float32([[0.5, 0.25, 0, 1]]), 0), tmp_path, threshold=0.25)


@pytest.mark.parametrize("targets", [1, 3])
@pytest.mark.parametrize("transform", ["NONE", "SOFTMAX", "LOGISTIC"])
def test_linear_regressor(targets: int, transform: str, tmp_path: Path) -> None:
    _one(
        "LinearRegressor",
        X,
        tmp_path,
        1e-6,
        coefficients=_data(3, (4 * targets,)).tolist(),
        intercepts=_data(4, (targets,)).tolist(),
        targets=targets,
        post_transform=transform,
    )


@pytest.mark.parametrize("classes", [1, 2, 3])
@pytest.mark.parametrize("transform", ["NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO"])
def test_linear_classifier(classes: int, transform: str, tmp_path: Path) -> None:
    _one(
        "LinearClassifier",
        X,
        tmp_path,
        1e-5,
        coefficients=_data(3, (4 * classes,)).tolist(),
        intercepts=_data(4, (classes,)).tolist(),
        classlabels_ints=[5, 3, 4][: max(2, classes)],
        post_transform=transform,
    )


KERNELS = [("LINEAR", 0.0), ("POLY", 2.0), ("POLY", 3.0), ("RBF", 0.0), ("SIGMOID", 0.0)]


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("one_class", [0, 1])
def test_svm_regressor(kernel: tuple[str, float], one_class: int, tmp_path: Path) -> None:
    _one(
        "SVMRegressor",
        X,
        tmp_path,
        2e-5,
        kernel_type=kernel[0],
        kernel_params=[0.3, 0.5, kernel[1]],
        n_supports=5,
        support_vectors=_data(3, (20,)).tolist(),
        coefficients=_data(4, (5,)).tolist(),
        rho=[0.25],
        one_class=one_class,
    )


def test_svm_regressor_without_vectors(tmp_path: Path) -> None:
    coefficients = _data(4, (4,)).tolist()
    _one("SVMRegressor", X, tmp_path, 1e-6, coefficients=coefficients, rho=[0.25], n_supports=0,
         kernel_params=[0.0, 0.0, 0.0])  # fmt: skip


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("classes", [2, 3, 4])
@pytest.mark.parametrize("transform", ["NONE", "LOGISTIC"])
def test_svm_classifier(
    kernel: tuple[str, float], classes: int, transform: str, tmp_path: Path
) -> None:
    pairs = classes * (classes - 1) // 2
    counts = [2, 3, 1, 2][:classes]
    _one(
        "SVMClassifier",
        _data(7, (20, 4)),
        tmp_path,
        2e-5,
        kernel_type=kernel[0],
        kernel_params=[0.3, 0.5, kernel[1]],
        vectors_per_class=counts,
        support_vectors=_data(3, (4 * sum(counts),)).tolist(),
        coefficients=_data(4, ((classes - 1) * sum(counts),)).tolist(),
        rho=_data(5, (pairs,)).tolist(),
        classlabels_ints=[4, 2, 8, 1][:classes],
        post_transform=transform,
    )


def test_svm_classifier_without_vectors(tmp_path: Path) -> None:
    _one(
        "SVMClassifier",
        X,
        tmp_path,
        1e-6,
        kernel_params=[0.0, 0.0, 0.0],
        coefficients=_data(4, (12,)).tolist(),
        rho=[0.5],
        classlabels_ints=[3, 4, 5],
    )


@pytest.mark.parametrize("x", [WHOLE, WHOLE[0], (X * 3).astype(np.float32)])
def test_one_hot_encoder(x: Array, tmp_path: Path) -> None:
    _one("OneHotEncoder", x, tmp_path, cats_int64s=[-2, 0, 3, 1, 0], zeros=1)


@pytest.mark.parametrize(
    ("x", "attrs"),
    [
        (WHOLE, {"keys_int64s": [2, 0, 2, -1], "values_int64s": [5, 6, 7, 8], "default_int64": -9}),
        (WHOLE, {"keys_int64s": [2, 0], "values_floats": [0.5, 1.5], "default_float": 9.0}),
        (TINY, {"keys_floats": [0.0, 3.0], "values_floats": [0.5, 1.5], "default_float": 9.0}),
        (TINY, {"keys_floats": [-4.0], "values_int64s": [3], "default_int64": 1}),
    ],
)
def test_label_encoder(x: Array, attrs: dict[str, Any], tmp_path: Path) -> None:
    _one("LabelEncoder", x, tmp_path, version=2, **attrs)


def test_label_encoder_of_tensors(tmp_path: Path) -> None:
    x = np.array([[np.nan, 1, 2]], np.float32)
    stored = (np.array(each, np.float32) for each in ([np.nan, 2], [5, 6], [7]))
    keys, values, default = (numpy_helper.from_array(each) for each in stored)
    attrs = {"keys_tensor": keys, "values_tensor": values, "default_tensor": default}
    _one("LabelEncoder", x, tmp_path, version=4, **attrs)


def _two(nodes: list[Any], given: dict[str, Array], constants: dict[str, Array]) -> ModelProto:
    inputs = [info(name, each.shape, CODES[each.dtype.kind]) for name, each in given.items()]
    outputs = [helper.make_empty_tensor_value_info(name) for name in nodes[-1].output]
    stored = [numpy_helper.from_array(value, name) for name, value in constants.items()]
    graph = helper.make_graph(nodes, "g", inputs, outputs, stored)
    imports = [helper.make_opsetid("", 18), helper.make_opsetid(forests.DOMAIN, 3)]
    return helper.make_model(graph, opset_imports=imports, ir_version=8)


def test_feature_vectorizer(tmp_path: Path) -> None:
    given = {"a": X[:, :3], "b": X, "c": X[:, :1]}
    node = forests.node("FeatureVectorizer", "a b c", "y", inputdimensions=[3, 2, 2])
    _compared(_two([node], given, {}), given, tmp_path)


@pytest.mark.parametrize("x", [X, X[0], X.reshape(2, 3, 4), WHOLE])
def test_array_feature_extractor(x: Array, tmp_path: Path) -> None:
    node = forests.node("ArrayFeatureExtractor", "x i", "y")
    places = np.array([[2, 0], [0, 3]], np.int64)
    _compared(_two([node], {"x": x}, {"i": places}), {"x": x}, tmp_path)
    _compared(_two([node], {"x": x, "i": places}, {}), {"x": x, "i": places}, tmp_path)


def test_texts_are_indices_of_labels(tmp_path: Path) -> None:
    names = ["setosa", "*/", 'a"??/\\', "größer"]
    nodes = [
        helper.make_node("ArgMax", ["x"], ["best"], axis=1, keepdims=0),
        forests.node("ArrayFeatureExtractor", "names best", "taken"),
        helper.make_node("Reshape", ["taken", "shape"], ["y"]),
    ]
    constants = {"names": np.array(names), "shape": np.array([-1], np.int64)}
    model = _two(nodes, {"x": X}, constants)
    graph = loaded(model, tmp_path)
    assert graph.labels["y"] == tuple(names)
    (found,), (expected,) = by_graph(graph, {"x": X}), by_runtime(model, {"x": X})
    assert [names[k] for k in found] == expected.tolist()


def test_texts_are_encoded(tmp_path: Path) -> None:
    labels = ["b", "a", "c"]
    coefficients = _data(3, (12,)).tolist()
    classes = forests.node("LinearClassifier", "x", "label scores", coefficients=coefficients,
                           intercepts=[0.0] * 3, classlabels_strings=labels)  # fmt: skip
    coded = forests.node("LabelEncoder", "label", "y", keys_strings=["a", "b"],
                         values_int64s=[7, 8], default_int64=9)  # fmt: skip
    _compared(_two([classes, coded], {"x": X}, {}), {"x": X}, tmp_path)
    hot = forests.node("OneHotEncoder", "label", "y", cats_strings=["c", "b", "z"], zeros=1)
    _compared(_two([classes, hot], {"x": X}, {}), {"x": X}, tmp_path)
    back = forests.node("LabelEncoder", "k", "y", keys_int64s=[0, 2], values_strings=["n", "m"],
                        default_string="none")  # fmt: skip
    model = _two([back], {"k": WHOLE}, {})
    graph = loaded(model, tmp_path)
    texts = graph.labels["y"]
    (found,), (expected,) = by_graph(graph, {"k": WHOLE}), by_runtime(model, {"k": WHOLE})
    assert np.array(texts, object)[found].tolist() == expected.tolist()


def test_other_operators_refuse_texts(tmp_path: Path) -> None:
    nodes = [
        forests.node("ArrayFeatureExtractor", "names k", "taken"),
        helper.make_node("Equal", ["taken", "taken"], ["y"]),
    ]
    model = _two(nodes, {"k": WHOLE[0]}, {"names": np.array(["a", "b"])})
    with pytest.raises(UnsupportedError, match="reads texts, those of input 0"):
        loaded(model, tmp_path)


@pytest.mark.parametrize("op", ["Sub", "Add"])
def test_a_scan_of_distances_is_one_op(op: str, tmp_path: Path) -> None:
    body = helper.make_graph(
        [
            helper.make_node("Identity", ["rows"], ["kept"]),
            helper.make_node(op, ["rows", "vector"], ["apart"]),
            helper.make_node("ReduceSumSquare", ["apart", "axes"], ["sum"], keepdims=0),
            helper.make_node("Identity", ["sum"], ["total"]),
        ],
        "body",
        [info("rows", None), info("vector", None)],
        [info("kept", None), info("total", None)],
        [numpy_helper.from_array(np.array([1], np.int64), "axes")],
    )
    scan = helper.make_node("Scan", ["x", "v"], ["z", "y"], body=body, num_scan_inputs=1)
    model = _two([scan], {"x": X}, {"v": _data(9, (5, 4))})
    graph = _compared(model, {"x": X}, tmp_path, 1e-6)
    assert ("squared_distances" in {node.op for node in graph.nodes}) == (op == "Sub")


@pytest.mark.parametrize("is_cast", [False, True])
def test_another_declared_shape_is_a_note(is_cast: bool, tmp_path: Path) -> None:
    """ONNX infers the shape of a Cast from its input's, which it does not know."""
    attrs = {"coefficients": _data(3, (8,)).tolist(), "targets": 2}
    name = "sums" if is_cast else "y"
    model = forests.one(forests.node("LinearRegressor", "x", name, **attrs), X.shape)
    if is_cast:
        model.graph.node.append(helper.make_node("Cast", ["sums"], ["y"], to=TensorProto.FLOAT))
    model.graph.output[0].CopyFrom(info("y", (6, 1)))
    graph = loaded(model, tmp_path)
    assert graph.notes == ('"y" is declared [6,1], and computed as float32[6,2]',)


SVM = {"kernel_params": [0.3, 0.5, 3.0], "n_supports": 2, "rho": [0.0]}


@pytest.mark.parametrize(
    ("op", "attrs", "sentence"),
    [
        ("Scaler", {"offset": [1.0], "scale": [1.0, 2.0]}, "1 offsets and 2 scales"),
        ("Scaler", {}, "0 offsets and 0 scales"),
        ("Normalizer", {"norm": "L3"}, "has the norm 'L3'"),
        ("Imputer", {}, "0 imputed values"),
        ("LinearRegressor", {"coefficients": [1.0]}, "has 1 coefficients; 4 are expected"),
        ("LinearRegressor", {"coefficients": [1.0] * 4, "targets": 0}, "has 0 targets"),
        ("LinearClassifier", {"coefficients": [1.0] * 4}, "0 labels that are texts and 0 numbers"),
        (
            "LinearClassifier",
            {"coefficients": [1.0] * 4, "intercepts": [1.0], "classlabels_ints": [1, 2, 3]},
            "1 intercepts for 3 classes",
        ),
        ("SVMRegressor", {**SVM, "coefficients": [1.0]}, "has 1 coefficients; 2 are expected"),
        (
            "SVMRegressor",
            {**SVM, "coefficients": [1.0] * 2, "support_vectors": [1.0] * 7},
            "has 7 numbers in support_vectors; 8 are expected",
        ),
        ("SVMClassifier", {"classlabels_ints": [1, 2], "vectors_per_class": [1]}, "1 vectors_per"),
        (
            "SVMClassifier",
            {"classlabels_ints": [1, 2], "vectors_per_class": [1, 1], "prob_a": [0.5]},
            "has probabilities, which ONNX Runtime finds by iteration",
        ),
        ("ZipMap", {"classlabels_int64s": [1, 2]}, "has 2 labels; 4 are expected"),
        ("LabelEncoder", {"keys_floats": [1.0]}, "0 lists of values"),
        ("OneHotEncoder", {"cats_strings": ["a"]}, "0 categories of integers"),
    ],
)
def test_contradictions_are_refused(
    op: str, attrs: dict[str, Any], sentence: str, tmp_path: Path
) -> None:
    names = "label scores" if op.endswith("Classifier") else "y"
    model = forests.one(forests.node(op, "x", names, **attrs), X.shape, 2)
    with pytest.raises((ModelError, UnsupportedError), match=sentence):
        loaded(model, tmp_path)
