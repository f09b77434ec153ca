"""Post-training full-integer quantization, by TFLite's rules.

Weights: int8, symmetric, -127..127, per output channel (dense: per tensor). Activations: int8,
asymmetric, per tensor, ranges seen on the training samples. Biases: int32, scale input * weight.
Sources: TFLite's quantization specification
(https://ai.google.dev/edge/litert/models/quantization_spec) and its quantization_utils.cc for
how ranges and zero points are nudged.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import network
import numpy as np
import numpy.typing as npt

QMIN, QMAX = -128, 127
WEIGHT_MAX = 127


@dataclass(frozen=True)
class Scale:
    """``real = scale * (stored - zero_point)``; one float32 per tensor, or per index of ``axis``.

    The zero point is 0 if there are several scales.
    """

    scale: npt.NDArray[np.float32]
    zero_point: int = 0
    axis: int = 0


@dataclass(frozen=True)
class Quantized:
    """Stored integers, and their quantization."""

    values: npt.NDArray[Any]
    scale: Scale


@dataclass(frozen=True)
class QuantizedNetwork:
    """Scales of activations by name; constants are ``<layer>/weight`` and ``<layer>/bias``."""

    activations: Mapping[str, Scale]
    constants: Mapping[str, Quantized]


# The sources of the scales of a layer's bias and weight: its input activation, and the axis of its
# output channels (None: one scale for the whole weight).
LAYERS: tuple[tuple[str, str, int | None], ...] = (
    ("conv1", "image", 0),
    ("depthwise", "conv1", 3),
    ("pointwise", "depthwise", 0),
    ("dense", "pool", None),
)


def quantize(weights: network.Weights, calibration: network.Array) -> QuantizedNetwork:
    """Quantize the network with the activation ranges of the ``calibration`` images."""
    activations = _activation_scales(network.forward(weights, calibration))
    constants: dict[str, Quantized] = {}
    for layer, source, axis in LAYERS:
        weight = quantize_weight(weights[f"{layer}/weight"], axis)
        constants[f"{layer}/weight"] = weight
        constants[f"{layer}/bias"] = quantize_bias(
            weights[f"{layer}/bias"], activations[source].scale, weight.scale.scale
        )
    return QuantizedNetwork(activations, constants)


def quantize_images(images: network.Array, scale: Scale) -> npt.NDArray[np.int8]:
    """Images in 0..1 as the network's int8 input."""
    stored = round_away(images / np.float64(scale.scale[0])) + scale.zero_point
    return np.clip(stored, QMIN, QMAX).astype(np.int8)


def quantize_weight(weight: network.Array, axis: int | None) -> Quantized:
    """Symmetric int8; an all-zero channel gets scale 1."""
    others = tuple(i for i in range(weight.ndim) if i != axis)
    largest = np.abs(weight).max(axis=others, keepdims=True)
    scale = np.where(largest > 0, largest / WEIGHT_MAX, 1.0).astype(np.float32)
    stored = np.clip(round_away(weight / scale.astype(np.float64)), -WEIGHT_MAX, WEIGHT_MAX)
    return Quantized(stored.astype(np.int8), Scale(scale.ravel(), axis=axis or 0))


def quantize_bias(
    bias: network.Array,
    input_scale: npt.NDArray[np.float32],
    weight_scale: npt.NDArray[np.float32],
) -> Quantized:
    """int32 with scale input * weight, a float32 product as TFLite checks it."""
    scale = (input_scale * weight_scale).astype(np.float32)
    limits = np.iinfo(np.int32)
    stored = np.clip(round_away(bias / scale.astype(np.float64)), limits.min, limits.max)
    return Quantized(stored.astype(np.int32), Scale(scale))


def asymmetric_scale(low: float, high: float) -> Scale:
    """The scale of a range: widened to hold 0, its zero point nudged to an integer.

    The zero point is computed from the end that loses less precision
    (GetAsymmetricQuantizationParams in TFLite's quantization_utils.cc).
    """
    low, high = min(low, 0.0), max(high, 0.0)
    scale = np.float32((high - low) / (QMAX - QMIN)) if high > low else np.float32(1.0)
    from_low = QMIN - low / float(scale)
    from_high = QMAX - high / float(scale)
    low_is_better = abs(QMIN) + abs(low / float(scale)) < abs(QMAX) + abs(high / float(scale))
    nudged = round_away(np.array(from_low if low_is_better else from_high))
    return Scale(np.array([scale]), int(np.clip(nudged, QMIN, QMAX)))


def round_away(x: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Round half away from zero, as C's round() does."""
    rounded: npt.NDArray[np.float64] = np.copysign(np.floor(np.abs(x) + 0.5), x)
    return rounded


def _activation_scales(calibrated: Mapping[str, network.Array]) -> dict[str, Scale]:
    scales = {
        name: asymmetric_scale(float(values.min()), float(values.max()))
        for name, values in calibrated.items()
    }
    # TFLite's kernels want average pooling to keep its input's scale, and softmax 1/256, -128.
    scales["pool"] = scales["add"]
    scales["softmax"] = Scale(np.array([1 / 256], dtype=np.float32), QMIN)
    return scales
