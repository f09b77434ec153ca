"""The float network: what it computes, and its gradients. Plain numpy, float64, NHWC.

    image[8,8,1] - conv1 3x3, relu ----------------+- add, relu - average pool 2x2 - dense - softmax
                     \\- depthwise 3x3, relu - pointwise 1x1 -/

Weights have the layouts of a .tflite file: convolutions OHWI, depthwise 1HWC, dense [out,in].
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Weights = Mapping[str, Array]

CHANNELS = 16
CLASSES = 10
POOLED = 4 * 4 * CHANNELS


def initial_weights(random: np.random.RandomState) -> dict[str, Array]:
    """He-normal weights (He et al. 2015), zero biases."""

    def he(shape: tuple[int, ...], fan_in: int) -> Array:
        return random.normal(0.0, np.sqrt(2.0 / fan_in), shape)

    return {
        "conv1/weight": he((CHANNELS, 3, 3, 1), 9),
        "conv1/bias": np.zeros(CHANNELS),
        "depthwise/weight": he((1, 3, 3, CHANNELS), 9),
        "depthwise/bias": np.zeros(CHANNELS),
        "pointwise/weight": he((CHANNELS, 1, 1, CHANNELS), CHANNELS),
        "pointwise/bias": np.zeros(CHANNELS),
        "dense/weight": he((CLASSES, POOLED), POOLED),
        "dense/bias": np.zeros(CLASSES),
    }


def forward(weights: Weights, images: Array) -> dict[str, Array]:
    """Every activation by name, from ``image`` to ``dense`` (logits) and ``softmax``."""
    conv1 = _relu(_windows(images)[..., 0] @ _conv1_matrix(weights) + weights["conv1/bias"])
    depthwise = _relu(_depthwise(conv1, weights["depthwise/weight"]) + weights["depthwise/bias"])
    pointwise = depthwise @ _pointwise_matrix(weights) + weights["pointwise/bias"]
    add = _relu(conv1 + pointwise)
    pool = add.reshape(-1, 4, 2, 4, 2, CHANNELS).mean(axis=(2, 4))
    dense = pool.reshape(-1, POOLED) @ weights["dense/weight"].T + weights["dense/bias"]
    return {
        "image": images,
        "conv1": conv1,
        "depthwise": depthwise,
        "pointwise": pointwise,
        "add": add,
        "pool": pool,
        "dense": dense,
        "softmax": _softmax(dense),
    }


def gradients(
    weights: Weights, activations: Mapping[str, Array], labels: npt.NDArray[np.int64]
) -> dict[str, Array]:
    """Gradients of the mean cross-entropy with respect to every weight."""
    dense = (activations["softmax"] - np.eye(CLASSES)[labels]) / labels.size
    pool = (dense @ weights["dense/weight"]).reshape(activations["pool"].shape)
    add = np.repeat(np.repeat(pool / 4, 2, axis=1), 2, axis=2) * (activations["add"] > 0)
    depthwise = (add @ _pointwise_matrix(weights).T) * (activations["depthwise"] > 0)
    through_depthwise = _depthwise(depthwise, weights["depthwise/weight"][:, ::-1, ::-1])
    conv1 = (add + through_depthwise) * (activations["conv1"] > 0)
    return {
        "conv1/weight": np.einsum("nhwk,nhwo->ok", _windows(activations["image"])[..., 0], conv1),
        "conv1/bias": conv1.sum(axis=(0, 1, 2)),
        "depthwise/weight": np.einsum("nhwkc,nhwc->kc", _windows(activations["conv1"]), depthwise),
        "depthwise/bias": depthwise.sum(axis=(0, 1, 2)),
        "pointwise/weight": np.tensordot(add, activations["depthwise"], ((0, 1, 2), (0, 1, 2))),
        "pointwise/bias": add.sum(axis=(0, 1, 2)),
        "dense/weight": dense.T @ activations["pool"].reshape(-1, POOLED),
        "dense/bias": dense.sum(axis=0),
    }


def accuracy(weights: Weights, images: Array, labels: npt.NDArray[np.int64]) -> float:
    """Fraction of the images whose largest logit is the label's."""
    return float(np.mean(forward(weights, images)["dense"].argmax(axis=1) == labels))


def _windows(x: Array) -> Array:
    """The 3x3 neighbourhoods of [N,H,W,C] under SAME padding: [N,H,W,9,C]."""
    padded = np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))
    view = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(1, 2))
    return view.reshape(*x.shape, 9).swapaxes(-1, -2)


def _depthwise(x: Array, weight: Array) -> Array:
    return np.einsum("nhwkc,kc->nhwc", _windows(x), weight.reshape(9, CHANNELS))


def _conv1_matrix(weights: Weights) -> Array:
    return weights["conv1/weight"].reshape(CHANNELS, 9).T


def _pointwise_matrix(weights: Weights) -> Array:
    return weights["pointwise/weight"].reshape(CHANNELS, CHANNELS).T


def _relu(x: Array) -> Array:
    return np.maximum(x, 0.0)


def _softmax(logits: Array) -> Array:
    exponentials = np.exp(logits - logits.max(axis=1, keepdims=True))
    return exponentials / exponentials.sum(axis=1, keepdims=True)
