"""How far ONNX Runtime's kernels are from the references of ops, in addition to the ops' bounds.

Integers: ONNX Runtime computes a quantized layer in floats, or in its own order, so it may round a
tie the other way: by 1. Floats: its functions are approximations whose errors are absolute where
the references' are relative. The limits are the largest errors that were measured on a million
arguments from -500 to 500 (onnxruntime 1.32), rounded up to a power of two.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from microgen.ir.graph import Array

_INTEGERS = frozenset(
    {
        *("add", "divide", "image.resize2d", "lookup", "mean", "multiply", "subtract", "sum"),
        *("nn.avg_pool2d", "nn.batch_matmul", "nn.conv2d", "nn.conv2d_transpose", "nn.dense"),
        *("nn.depthwise_conv2d", "nn.softmax", "qnn.quantize", "qnn.requantize"),
        "qnn.rescale",
    }
)
_FLOATS: Mapping[str, float] = {
    "atan": 2.0**-22,
    "nn.elu": 2.0**-23,
    "log": 2.0**-22,
    "nn.hard_swish": 2.0**-22,
    "nn.recurrent": 2.0**-21,
    "real_function": 2.0**-22,
    "sigmoid": 2.0**-22,
    "tanh": 2.0**-21,
}

# Of these the graph composes normalizations, which ONNX Runtime computes with other roundings.
_COMPOSED: Mapping[str, Callable[[Array, Array], Array]] = {
    "add": np.add,
    "divide": np.divide,
    "multiply": np.multiply,
    "subtract": np.add,
}
_ROUNDINGS = 8 * 2.0**-24  # of the magnitudes of the operands


# Of images: the axes along which they are interpolated, or may be.
_PLACED: Mapping[str, slice] = {"image.resize2d": slice(1, -1), "resample": slice(None)}


def of(op: str, inputs: Sequence[Array]) -> Array | float:
    """The slack of an op with these inputs: one number, or one for each element."""
    data = inputs[0]
    if data.dtype.kind == "f" and op in _COMPOSED:
        with np.errstate(all="ignore"):
            return np.nan_to_num(_ROUNDINGS * _COMPOSED[op](*map(np.abs, inputs)))
    if data.dtype.kind == "f" and op in _PLACED:
        return _of_places(data, _PLACED[op])
    if data.dtype.kind == "f":
        error = _FLOATS.get(op, 1.0 if op == "qnn.quantize" else 0.0)
        return error * _SIZES[op](data) if op in _SIZES else error
    return 1.0 if op in _INTEGERS and data.dtype.itemsize <= 2 else 0.0


def _of_places(data: Array, axes: slice) -> float:
    """Places between pixels are computed in float32, by another formula. The weights of the pixels
    are as far off as the places, which are as large as the image."""
    largest = np.abs(data, where=np.isfinite(data), out=np.zeros_like(data)).max(initial=0)
    return _ROUNDINGS * int(max(data.shape[axes])) * float(largest)


def _of_logarithms(data: Array) -> Array:
    """The magnitudes of the logarithms, but at least 1."""
    with np.errstate(all="ignore"):
        return _of_arguments(np.log(data.astype(np.float64)))


def _of_arguments(data: Array) -> Array:
    """The magnitudes of the arguments, but at least 1."""
    return np.nan_to_num(np.maximum(1.0, np.abs(data.astype(np.float64))), posinf=1.0)


# Of the results to which an error is relative, if they may be larger than 1.
_SIZES: Mapping[str, Callable[[Array], Array]] = {
    "log": _of_logarithms,
    "nn.hard_swish": _of_arguments,
    "real_function": _of_arguments,
}
