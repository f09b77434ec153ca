"""Operators of features: Scaler, Normalizer, Imputer, Binarizer, FeatureVectorizer and
ArrayFeatureExtractor."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from microgen.frontends.onnx import ml_nodes, move_nodes
from microgen.frontends.onnx.composing import binary, cast, chosen, compared, number, total
from microgen.frontends.onnx.ml_nodes import DOMAIN, NUMBERS
from microgen.frontends.onnx.nodes import OnnxNode
from microgen.graph.builder import BuiltTensor
from microgen.graph.ir.graph import DType
from microgen.graph.ops.moves.indexed import TakeAttrs
from microgen.graph.ops.reductions.extremes import MaxAttrs
from microgen.graph.ops.unary.functions import AbsAttrs, NegativeAttrs
from microgen.graph.ops.unary.roots import SqrtAttrs


def _scaler(node: OnnxNode) -> BuiltTensor:
    """(data - offset) * scale."""
    data = _features(node)
    offset, scale = ml_nodes.numbers(node, "offset"), ml_nodes.numbers(node, "scale")
    if offset.size != scale.size or scale.size not in (1, data.shape[-1]):
        raise node.invalid(
            f"has {offset.size} offsets and {scale.size} scales for {data.shape[-1]} features"
        )
    moved = binary(node, "subtract", data, node.constant(offset, "offset"))
    return binary(node, "multiply", moved, node.constant(scale, "scale"))


def _features(node: OnnxNode) -> BuiltTensor:
    """The input as float32 numbers, a vector or rows."""
    data = ml_nodes.floats_of(node)
    if not 1 <= len(data.shape) <= 2:
        raise node.invalid(f"has the input {data.type}; [rows, features] are expected")
    return data


def _normalizer(node: OnnxNode) -> BuiltTensor:
    """Rows divided by a norm; a norm of 0 divides nothing. Source: ONNX Runtime, normalizer.cc."""
    data = _features(node)
    kind = ml_nodes.one_of(node, "norm", "MAX", ("MAX", "L1", "L2"))
    last = (len(data.shape) - 1,)
    if kind == "MAX":
        norm = node.emit("max", MaxAttrs(last, True, from_infinity=True), (data,))
        return binary(node, "divide", data, _or_one(node, norm))
    if kind == "L1":
        norm = total(node, node.emit("abs", AbsAttrs(), (data,)), last, True)
        return binary(node, "divide", data, _or_one(node, norm))
    squares = binary(node, "multiply", data, data)
    norm = total(node, squares, last, True)
    root = node.emit("sqrt", SqrtAttrs(), (binary(node, "divide", squares, _or_one(node, norm)),))
    opposite = node.emit("negative", NegativeAttrs(), (root,))
    signed = chosen(node, compared(node, "less", data, 0.0), opposite, root)
    # Squares of tiny numbers are 0, and the numbers remain.
    return chosen(node, compared(node, "equal", norm, 0.0), data, signed)


def _or_one(node: OnnxNode, norm: BuiltTensor) -> BuiltTensor:
    ones = move_nodes.broadcast(node, number(node, 1.0, DType.FLOAT32), norm.shape)
    return chosen(node, compared(node, "equal", norm, 0.0), ones, norm)


def _imputer(node: OnnxNode) -> BuiltTensor:
    """The data with other values in place of one value. Source: ONNX Runtime, imputer.cc."""
    data = node.tensor(0, DType.FLOAT32, DType.INT64)
    kind = "float" if data.dtype is DType.FLOAT32 else "int64"
    values = np.asarray(node.attr(f"imputed_value_{kind}s", ()), data.dtype.numpy)
    if not data.shape or values.size not in (1, data.shape[-1]):
        raise node.invalid(f"has {values.size} imputed values for the input {data.type}")
    replaced = node.attr(f"replaced_value_{kind}", 0)
    if kind == "float" and np.isnan(replaced):
        is_missing = compared(node, "not_equal", data, data)  # only NaN differs from itself
    else:
        is_missing = compared(node, "equal", data, replaced)
    return chosen(node, is_missing, node.constant(values, "imputed"), data)


def _binarizer(node: OnnxNode) -> BuiltTensor:
    """1 for values greater than the threshold, otherwise 0."""
    data, limit = node.tensor(0, *NUMBERS), float(node.attr("threshold", 0.0))
    is_more = compared(node, "greater", cast(node, data, DType.FLOAT32), limit)
    return cast(node, is_more, data.dtype)


def _vectorizer(node: OnnxNode) -> BuiltTensor:
    """The inputs as parts of one row each, cut or filled with zeros to the stated sizes."""
    sizes = node.ints("inputdimensions", ())
    ml_nodes.expect_count(node, "inputdimensions", len(sizes), len(node.operands))
    parts = []
    for position, size in enumerate(sizes):
        data = ml_nodes.floats_of(node, position)
        rows = data.shape[0] if len(data.shape) > 1 else 1
        flat = node.reshaped(data, (rows, data.type.size // max(rows, 1)))
        if size < 1:
            raise node.invalid(f"has the size {size} for an input; 1 or more are expected")
        if flat.shape[1] > size:
            flat = move_nodes.cut(node, flat, 1, 0, size)
        if flat.shape[1] < size:
            zeros = node.constant(np.zeros((rows, size - flat.shape[1]), np.float32), "zeros")
            flat = move_nodes.joined(node, (flat, zeros), 1)
        parts.append(flat)
    if len({part.shape[0] for part in parts}) != 1:
        raise node.invalid("has inputs of different numbers of rows")
    return parts[0] if len(parts) == 1 else move_nodes.joined(node, parts, 1)


def _extractor(node: OnnxNode) -> BuiltTensor:
    """The features at some indices. Source: ONNX Runtime, array_feature_extractor.cc."""
    data, indices = node.texts(0), node.tensor(1, DType.INT64, DType.INT32)
    node.expect(data, *NUMBERS)
    if not data.shape or not indices.type.size:
        raise node.invalid(f"takes {indices.type} of {data.type}; features are expected")
    flat = node.reshaped(indices, (indices.type.size,))
    rows = data if len(data.shape) > 1 else node.reshaped(data, (1, *data.shape))
    last = len(rows.shape) - 1
    if flat.value is None:
        found = node.emit("take", TakeAttrs(last), (rows, flat))
    else:
        outside = [i for i in flat.value.tolist() if not 0 <= i < rows.shape[last]]
        if outside:
            raise node.invalid(f"takes feature {outside[0]} of {data.type}")
        found = move_nodes.picked(node, rows, last, flat.value)
    return replace(found, labels=data.labels)


IMPORTERS = {
    f"{DOMAIN}.ArrayFeatureExtractor": _extractor,
    f"{DOMAIN}.Binarizer": _binarizer,
    f"{DOMAIN}.FeatureVectorizer": _vectorizer,
    f"{DOMAIN}.Imputer": _imputer,
    f"{DOMAIN}.Normalizer": _normalizer,
    f"{DOMAIN}.Scaler": _scaler,
}
