"""Encoders of categories: LabelEncoder, OneHotEncoder, and ZipMap, which is left out."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from microgen.frontends.onnx import ml_nodes
from microgen.frontends.onnx.composing import binary, cast, chosen, compared
from microgen.frontends.onnx.ml_nodes import DOMAIN, NUMBERS
from microgen.frontends.onnx.nodes import OnnxNode
from microgen.graph.builder import BuiltTensor
from microgen.graph.ir.graph import Array, DType
from microgen.graph.ops.moves.indexed import TakeAttrs
from microgen.graph.ops.reductions.extremes import ArgMaxAttrs, MaxAttrs

_KINDS = ("strings", "int64s", "floats")


def _zip_map(node: OnnxNode) -> BuiltTensor:
    """The scores [rows, classes], whose columns the attributes label: no maps are made of them."""
    scores = ml_nodes.rows_of(node)
    labels = ml_nodes.labels_of(node, "classlabels_int64s")
    ml_nodes.expect_count(node, "labels", len(labels), scores.shape[1])
    return scores


def _one_hot(node: OnnxNode) -> BuiltTensor:
    """1 at the place of each value among the categories, otherwise 0, on a new last axis. Source:
    ONNX Runtime, onehotencoder.cc."""
    data = node.texts(0)
    names = ml_nodes.texts(node, "cats_strings")
    if data.labels is not None:
        return _of_texts(node, data, {name: k for k, name in enumerate(names)}, len(names))
    whole = node.ints("cats_int64s", ())
    if not whole or names:
        raise node.invalid(f"has the input {data.type}, and {len(whole)} categories of integers")
    # Floats are truncated, as ONNX Runtime converts them.
    values = cast(node, node.tensor(0, *NUMBERS), DType.INT64)
    column = node.reshaped(values, (*values.shape, 1))
    # If categories are equal, the last one counts, and the others match no input.
    places = {value: k for k, value in enumerate(whole)}
    table = np.array(whole, np.int64)
    is_last = np.array([places[value] == k for k, value in enumerate(whole)])
    is_equal = compared(node, "equal", column, node.constant(table, "categories"))
    result = cast(node, is_equal, DType.FLOAT32)
    if not is_last.all():
        result = binary(node, "multiply", result, node.constant(is_last.astype(np.float32), "last"))
    return result if node.attr("zeros", 1) else _known(node, result)


def _known(node: OnnxNode, result: BuiltTensor) -> BuiltTensor:
    """The result, for values that are among the categories; others make the firmware fail."""
    found = node.emit("max", MaxAttrs((len(result.shape) - 1,), True), (result,))
    missing = cast(node, compared(node, "equal", found, 0.0), DType.INT32)
    # Index 1 is outside of the table, and ends the inference with a status.
    one = node.constant(np.ones(1, np.float32), "one")
    return binary(node, "multiply", result, node.emit("take", TakeAttrs(0), (one, missing)))


def _of_texts(node: OnnxNode, data: BuiltTensor, places: dict[str, int], count: int) -> BuiltTensor:
    assert data.labels is not None
    table = np.zeros((len(data.labels), count), np.float32)
    for row, name in zip(table, data.labels, strict=True):
        if name in places:
            row[places[name]] = 1
        elif not node.attr("zeros", 1):
            raise node.unsupported(f"has no category {name[:32]!r}", supported="zeros=1")
    indices = replace(data, labels=None)
    return node.emit("take", TakeAttrs(0), (node.constant(table, "one_hot"), indices))


def _label_encoder(node: OnnxNode) -> BuiltTensor:
    """Values in place of keys. Source: ONNX Runtime, label_encoder.h."""
    data = node.texts(0)
    keys, values, default = _mapping(node)
    if len(keys) != len(values):
        raise node.invalid(f"has {len(keys)} keys and {len(values)} values")
    if (data.labels is not None) != (bool(keys) and isinstance(keys[0], str)):
        raise node.invalid(f"has keys of another kind than the input {data.type}")
    if data.labels is not None:
        first = dict(reversed(list(zip(keys, values, strict=True))))
        table = [first.get(name, default) for name in data.labels]
        return _picked(node, table, replace(data, labels=None))
    values, index = [*values, default], _index(node, data, keys)
    return _picked(node, values, index)


def _picked(node: OnnxNode, table: list[Any], index: BuiltTensor) -> BuiltTensor:
    """The values at some indices. Texts become their indices among the distinct texts."""
    texts = None
    if isinstance(table[0], str):
        texts = tuple(dict.fromkeys(table))
        table = [texts.index(each) for each in table]
    dtype = np.float32 if any(isinstance(each, float) for each in table) else np.int64
    values = node.constant(np.array(table, dtype), "values")
    return replace(node.emit("take", TakeAttrs(0), (values, index)), labels=texts)


def _index(node: OnnxNode, data: BuiltTensor, keys: list[Any]) -> BuiltTensor:
    """The int32 place of each value among the keys, the first of equal ones; the number of keys if
    it is not among them."""
    column = node.reshaped(data, (*data.shape, 1))
    table = node.constant(np.array(keys, data.dtype.numpy), "keys")
    is_equal = cast(node, compared(node, "equal", column, table), DType.FLOAT32)
    # The last column is less than 1, so it is the greatest only if no key matches.
    if data.dtype is DType.FLOAT32 and np.isnan(np.array(keys, np.float32)).any():
        is_nan = cast(node, compared(node, "not_equal", column, column), DType.FLOAT32)
        at_nan = node.constant(np.isnan(np.array(keys)).astype(np.float32), "nan")
        is_equal = binary(node, "add", is_equal, binary(node, "multiply", is_nan, at_nan))
    last = len(is_equal.shape) - 1
    place = node.emit("argmax", ArgMaxAttrs(last), (is_equal,), dtype=DType.INT32)
    found = node.emit("max", MaxAttrs((last,), False), (is_equal,))
    none = node.constant(np.full(place.shape, len(keys), np.int32), "none")
    return chosen(node, compared(node, "equal", found, 0.0), none, place)


def _mapping(node: OnnxNode) -> tuple[list[Any], list[Any], Any]:
    """The keys, the values, and the value of other keys."""
    if node.version < 2:
        names = list(ml_nodes.texts(node, "classes_strings"))
        if node.texts(0).labels is None:
            default = str(node.attr("default_string", "_Unused"))
            return list(range(len(names))), list(names), default
        return list(names), list(range(len(names))), int(node.attr("default_int64", -1))
    keys, _ = _list(node, "keys")
    values, kind = _list(node, "values")
    defaults = {"strings": "_Unused", "int64s": -1, "floats": -0.0}
    default = node.attr(f"default_{kind[:-1]}", defaults[kind])
    tensor = node.attr("default_tensor", None)
    if tensor is not None:
        default = np.ravel(tensor)[0].item()
    return keys, values, default


def _list(node: OnnxNode, name: str) -> tuple[list[Any], str]:
    """A list of keys or of values, and its kind."""
    given = {kind: node.attr(f"{name}_{kind}", ()) for kind in _KINDS}
    tensor = node.attr(f"{name}_tensor", None)
    if tensor is not None:
        array: Array = np.ravel(tensor)
        return array.tolist(), "floats" if array.dtype.kind == "f" else "int64s"
    found = [(list(values), kind) for kind, values in given.items() if values]
    if len(found) != 1:
        raise node.invalid(f"has {len(found)} lists of {name}; one is expected")
    return found[0]


IMPORTERS = {
    f"{DOMAIN}.LabelEncoder": _label_encoder,
    f"{DOMAIN}.OneHotEncoder": _one_hot,
    f"{DOMAIN}.ZipMap": _zip_map,
}
