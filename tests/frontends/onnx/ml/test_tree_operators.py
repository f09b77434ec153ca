"""Decision trees against ONNX Runtime."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import NodeProto, TensorProto

from microgen.base.errors import ModelError, UnsupportedError
from microgen.graph.ir.graph import Array
from tests.frontends.onnx.ml import forests
from tests.frontends.onnx.one_node import by_graph, by_runtime, loaded

ROWS, FEATURES = 24, 5
REGRESSOR, CLASSIFIER = "TreeEnsembleRegressor", "TreeEnsembleClassifier"


def _compared(
    proto: NodeProto, x: Array, folder: Path, *, version: int = 3, rtol: float = 0
) -> Any:
    """The results of ONNX Runtime, which the graph's equal."""
    kind = {"f": TensorProto.FLOAT, "i": TensorProto.INT64}[x.dtype.kind]
    model = forests.one(proto, x.shape, version, kind)
    expected = by_runtime(model, {"x": x})
    found = by_graph(loaded(model, folder), {"x": x})
    for own, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(own, other, rtol=rtol, atol=rtol)
    return found


def _trees(rng: np.random.Generator, count: int, **kinds: Any) -> list[forests.RandomTree]:
    return [forests.tree(rng, FEATURES, int(rng.integers(0, 6)), **kinds) for _ in range(count)]


@pytest.mark.parametrize("seed", range(40))
def test_regressors_equal_onnx_runtime(seed: int, tmp_path: Path) -> None:
    rng = np.random.default_rng(seed)
    modes = forests.MODES if seed % 2 else (str(rng.choice(forests.MODES)),)
    trees = _trees(rng, int(rng.integers(1, 7)), modes=modes)
    targets = int(rng.integers(1, 4))
    form = [list(range(targets)), [int(rng.integers(targets))]][seed % 3 == 0]
    of_trees = [form if seed % 5 else [int(rng.integers(targets))] for _ in trees]
    attributes: dict[str, Any] = {
        **forests.listed(trees, tracks_missing=seed % 4 != 0),
        **forests.weighted(rng, trees, "target", of_trees),
        "n_targets": targets,
        "aggregate_function": str(rng.choice(["SUM", "AVERAGE", "MIN", "MAX"])),
    }
    if seed % 3 == 1:
        attributes["base_values"] = rng.normal(size=targets).tolist()
    proto = forests.node(REGRESSOR, "x", "y", **attributes)
    _compared(proto, forests.data(rng, ROWS, FEATURES), tmp_path)


@pytest.mark.parametrize("transform", ["SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"])
@pytest.mark.parametrize("targets", [1, 3])
def test_functions_of_sums_are_onnx_runtimes(transform: str, targets: int, tmp_path: Path) -> None:
    rng = np.random.default_rng(targets)
    trees = _trees(rng, 2)
    attributes = {
        **forests.listed(trees),
        **forests.weighted(rng, trees, "target", [range(targets)] * 2, positive=True),
        "n_targets": targets,
        "post_transform": transform,
        "aggregate_function": "AVERAGE",
    }
    proto = forests.node(REGRESSOR, "x", "y", **attributes)
    x = forests.data(rng, ROWS, FEATURES)
    (found,) = _compared(proto, x, tmp_path, rtol=2e-5 if transform == "PROBIT" else 1e-6)
    assert np.isfinite(found).any()


# The number of classes, and those of the leaves of each of four trees.
CLASSES = {
    "all of three": (3, [[0, 1, 2]] * 4),
    "one of three": (3, [[0], [1], [2], [0]]),
    "first of two": (2, [[0]] * 4),
    "second of two": (2, [[1]] * 4),
    "both of two": (2, [[0, 1]] * 4),
}


@pytest.mark.parametrize("kind", CLASSES)
@pytest.mark.parametrize("positive", [True, False])
@pytest.mark.parametrize("transform", ["NONE", "LOGISTIC", "SOFTMAX"])
@pytest.mark.parametrize("bases", [0, 1, 2])
def test_classifiers_equal_onnx_runtime(
    kind: str, positive: bool, transform: str, bases: int, tmp_path: Path
) -> None:
    count, classes = CLASSES[kind]
    rng = np.random.default_rng(len(kind) + positive)
    trees = _trees(rng, 4)
    attributes: dict[str, Any] = {
        **forests.listed(trees),
        **forests.weighted(rng, trees, "class", classes, positive=positive),
        "classlabels_int64s": [7, 3, 5][:count],
        "post_transform": transform,
    }
    if bases:
        attributes["base_values"] = [0.25, -0.5, 0.125][: count if bases == 2 else 1]
    if (count == 3 and bases == 1) or (kind in ("second of two", "both of two") and bases == 2):
        pytest.skip("refused")
    proto = forests.node(CLASSIFIER, "x", "label scores", **attributes)
    _compared(proto, forests.data(rng, ROWS, FEATURES), tmp_path, rtol=1e-6)


@pytest.mark.parametrize("seed", range(24))
def test_ensembles_of_opset_5_equal_onnx_runtime(seed: int, tmp_path: Path) -> None:
    rng = np.random.default_rng(seed)
    trees = [forests.tree(rng, FEATURES, int(rng.integers(1, 6))) for _ in range(4)]
    targets = 1 + seed % 3
    attributes = forests.leaf_lists(rng, trees, targets)
    attributes["aggregate_function"] = seed % 4
    proto = forests.node("TreeEnsemble", "x", "y", **attributes)
    _compared(proto, forests.data(rng, ROWS, FEATURES), tmp_path, version=5)


@pytest.mark.parametrize("transform", [0, 3, 4])
def test_functions_of_opset_5(transform: int, tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    trees = [forests.tree(rng, FEATURES, 3) for _ in range(2)]
    attributes = forests.leaf_lists(rng, trees, 2)
    proto = forests.node("TreeEnsemble", "x", "y", post_transform=transform, **attributes)
    _compared(proto, forests.data(rng, ROWS, FEATURES), tmp_path, version=5, rtol=2e-5)


def test_integers(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    trees = _trees(rng, 3)
    weights = forests.weighted(rng, trees, "class", [[0, 1, 2]] * 3)
    attributes = {**forests.listed(trees), **weights, "classlabels_int64s": [0, 1, 2]}
    x = rng.integers(-3, 4, (ROWS, FEATURES)).astype(np.int64)
    _compared(forests.node(CLASSIFIER, "x", "label scores", **attributes), x, tmp_path)


# Damaged and extreme lists.

STUMP = forests.RandomTree((("LEQ", 0, 0.0, 1, 2, 0), ("", 0, 0, 0, 0, 0), ("", 0, 0, 0, 0, 0)))
LEAF = forests.RandomTree((("", 0, 0.0, 0, 0, 0),))
GOOD: dict[str, Any] = {
    **forests.listed([STUMP]),
    "target_ids": [0, 0],
    "target_nodeids": [1, 2],
    "target_treeids": [0, 0],
    "target_weights": [1.0, 2.0],
    "n_targets": 1,
}


def _refusal(folder: Path, op: str = REGRESSOR, version: int = 3, **attributes: Any) -> str:
    names = "label scores" if op == CLASSIFIER else "y"
    model = forests.one(forests.node(op, "x", names, **attributes), (1, FEATURES), version)
    with pytest.raises((ModelError, UnsupportedError)) as raised:
        loaded(model, folder)
    return str(raised.value)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"nodes_truenodeids": [0, 0, 0]}, "has a tree whose node 0 is below itself"),
        ({"nodes_truenodeids": [9, 0, 0]}, "with the child 9, which is none"),
        ({"nodes_truenodeids": [-1, 0, 0]}, "with the child -1, which is none"),
        ({"nodes_truenodeids": [1, 0]}, "has 2 nodes_truenodeids; 3 are expected"),
        ({"nodes_values": [1.0]}, "has 1 nodes_values; 3 are expected"),
        ({"nodes_featureids": [5, 0, 0]}, "has the feature 5, of 5"),
        ({"nodes_featureids": [-1, 0, 0]}, "has the feature -1, of 5"),
        ({"nodes_modes": ["BRANCH_MEMBER", "LEAF", "LEAF"]}, "of the mode 'BRANCH_MEMBER'"),
        ({"nodes_nodeids": [0, 1, 1]}, "lists a node of a tree twice"),
        ({"nodes_missing_value_tracks_true": [1]}, "has 1 nodes_missing_value_tracks_true"),
        ({"target_nodeids": [1, 7]}, "has a weight of node 7 of tree 0, which is none"),
        ({"target_nodeids": [1, 1]}, "has two weights of target 0 in a leaf"),
        ({"target_ids": [0, 1]}, "has the target 1, of 1"),
        ({"target_weights": [1.0]}, "has 1 target_weights; 2 are expected"),
        ({"target_weights": [1.0, float("inf")]}, "a leaf that is infinite or NaN"),
        ({"n_targets": 0}, "has 0 targets; 1 or more are expected"),
        ({"n_targets": 10**6}, "has 1000000 targets"),
        ({"base_values": [1.0, 2.0]}, "has 2 base_values for 1 targets"),
        ({"aggregate_function": "MEDIAN"}, "has the aggregate_function 'MEDIAN'"),
        ({"post_transform": "EXP"}, "has the post_transform 'EXP'"),
    ],
)
def test_damaged_lists_are_refused(change: dict[str, Any], sentence: str, tmp_path: Path) -> None:
    assert sentence in _refusal(tmp_path, **{**GOOD, **change})


def test_leaves_without_weights_are_refused(tmp_path: Path) -> None:
    names = [f"target_{name}" for name in ("ids", "nodeids", "treeids", "weights")]
    change = {name: GOOD[name][:1] for name in names}
    assert "has no weight for leaf 2 of tree 0" in _refusal(tmp_path, **{**GOOD, **change})


def test_nodes_of_several_trees_in_turns_are_refused(tmp_path: Path) -> None:
    nodes = forests.listed([STUMP, STUMP])
    turns = {name: [values[k] for k in (0, 3, 1, 4, 2, 5)] for name, values in nodes.items()}
    weights = {
        "target_ids": [0] * 4,
        "target_nodeids": [1, 2] * 2,
        "target_treeids": [0, 0, 1, 1],
        "target_weights": [1.0] * 4,
    }
    found = _refusal(tmp_path, **{**turns, **weights, "n_targets": 1})
    assert "lists the nodes of several trees in turns" in found


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"classlabels_int64s": [4]}, "has 1 classes"),
        ({"class_ids": [0, 5]}, "has a leaf of the class 5, and labels of 3 classes"),
        ({"class_ids": [0, 1], "class_weights": [1.0, -1.0]}, "without a score of class 0"),
        ({"base_values": [1.0]}, "has 3 classes and 1 base_values"),
        ({"classlabels_int64s": [4, 5], "class_ids": [0, 1]}, "without a score of class 0"),
    ],
)
def test_classes_that_decide_nothing_are_refused(
    change: dict[str, Any], sentence: str, tmp_path: Path
) -> None:
    attributes = {name.replace("target_", "class_"): value for name, value in GOOD.items()}
    attributes.pop("n_targets")
    attributes["classlabels_int64s"] = [1, 2, 3]
    assert sentence in _refusal(tmp_path, CLASSIFIER, **{**attributes, **change})


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"tree_roots": [7]}, "has the root 7, of"),
        ({"nodes_truenodeids": [-3] * 7}, "has the child -3"),
        ({"nodes_truenodeids": [99] * 7}, "-100, -100, of 7"),
        ({"nodes_trueleafs": [0]}, "has 1 nodes_trueleafs; 7 are expected"),
        ({"aggregate_function": 4}, "has the choice 4; 0 to 3 are expected"),
        ({"post_transform": 2}, "LOGISTIC in ONNX and another function in ONNX Runtime"),
        ({"leaf_targetids": [0]}, "has 8 leaf_weights; 1 are expected"),
    ],
)
def test_damaged_ensembles_of_opset_5_are_refused(
    change: dict[str, Any], sentence: str, tmp_path: Path
) -> None:
    rng = np.random.default_rng(0)
    whole = forests.RandomTree(
        tuple(("LEQ", 0, float(k), 2 * k + 1, 2 * k + 2, 0) for k in range(7))
        + (("", 0, 0, 0, 0, 0),) * 8
    )
    good = forests.leaf_lists(rng, [whole], 2)
    assert sentence in _refusal(tmp_path, "TreeEnsemble", 5, **{**good, **change})


def _chain(depth: int) -> dict[str, Any]:
    """A tree of a chain of nodes, each with a leaf."""
    inner = list(range(depth))
    return {
        "nodes_treeids": [0] * (2 * depth + 1),
        "nodes_nodeids": list(range(2 * depth + 1)),
        "nodes_modes": ["BRANCH_LEQ"] * depth + ["LEAF"] * (depth + 1),
        "nodes_featureids": [0] * (2 * depth + 1),
        "nodes_values": [float(k) for k in inner] + [0.0] * (depth + 1),
        "nodes_truenodeids": [depth + k for k in inner] + [0] * (depth + 1),
        "nodes_falsenodeids": [k + 1 for k in inner[:-1]] + [2 * depth] + [0] * (depth + 1),
        "target_ids": [0] * (depth + 1),
        "target_nodeids": list(range(depth, 2 * depth + 1)),
        "target_treeids": [0] * (depth + 1),
        "target_weights": [float(k) for k in range(depth + 1)],
        "n_targets": 1,
    }


def test_deep_trees_are_walked(tmp_path: Path) -> None:
    x = np.array([[-1.0], [300.5], [1e9], [np.nan]], np.float32)
    _compared(forests.node(REGRESSOR, "x", "y", **_chain(2000)), x, tmp_path)


def test_too_many_nodes_are_refused(tmp_path: Path) -> None:
    assert "nodes" in _refusal(tmp_path, **_chain(2**17 + 1))


def test_a_tree_of_one_leaf(tmp_path: Path) -> None:
    attributes: dict[str, Any] = {
        **forests.listed([LEAF, STUMP]),
        "target_ids": [0] * 3,
        "target_nodeids": [0, 1, 2],
        "target_treeids": [0, 1, 1],
        "target_weights": [3.0, 1.0, 2.0],
        "n_targets": 1,
    }
    x = np.zeros((2, FEATURES), np.float32)
    _compared(forests.node(REGRESSOR, "x", "y", **attributes), x, tmp_path)
