"""Operators that only change the shape of a tensor, or that are known from shapes."""

from __future__ import annotations

import math

import numpy as np

from microgen.frontends.onnx.nodes import OnnxNode
from microgen.frontends.tensors import Tensor


def _constant(node: OnnxNode) -> Tensor:
    for name in ("value", "value_float", "value_int", "value_floats", "value_ints"):
        found = node.attr(name, None)
        if found is not None:
            dtype = {"value_float": np.float32, "value_floats": np.float32}.get(name, np.int64)
            value = found if name == "value" else np.asarray(found, dtype)
            return node.constant(value, "value")
    raise node.unsupported("has no value", supported="numbers and tensors")


def _shape(node: OnnxNode) -> Tensor:
    shape = node.tensor(0).shape
    start, end = node.attr("start", 0), node.attr("end", len(shape))
    return node.constant(np.asarray(shape[start:end], np.int64), "shape")


def _reshape(node: OnnxNode) -> Tensor:
    data, wanted = node.tensor(0), node.ints_of("shape", 1) or ()
    keeps = not node.attr("allowzero", 0)
    if any(w == 0 and i >= len(data.shape) for i, w in enumerate(wanted)) and keeps:
        raise node.invalid(f"has the shape {list(wanted)} for {data.type}")
    shape = [data.shape[i] if w == 0 and keeps else w for i, w in enumerate(wanted)]
    if shape.count(-1) > 1 or min(shape, default=0) < -1:
        raise node.invalid(f"has the shape {list(wanted)}; at most one -1 is expected")
    rest = math.prod(w for w in shape if w != -1)
    if -1 in shape:
        if rest < 1 or data.type.size % rest:
            raise node.invalid(f"has the shape {list(wanted)} for {data.type}")
        shape[shape.index(-1)] = data.type.size // rest
    return node.reshaped(data, shape)


IMPORTERS = {"Constant": _constant, "Shape": _shape, "Reshape": _reshape}
