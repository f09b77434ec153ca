"""Attention as ONNX Runtime's optimizations for transformers write it (domain com.microsoft).

Source: docs/ContribOperators.md of ONNX Runtime.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from onnx import TensorProto

from microgen.frontends.onnx.importers.quantization import Group
from microgen.frontends.onnx.nodes import OnnxNode
from microgen.graph.builder import Value
from microgen.graph.ir.graph import Array

_OPSET = 20
_RESULT = "result"
_MASKS = "masks of [batch], [batch, keys] or [batch, queries, keys]"
_FILTER = -10000.0  # the default of what a masked score gets
_ROPE = ("do_rotary", "rotary_embedding_dim")


@dataclass(slots=True)
class _Heads:
    """The scores and the sum of values of all heads. ``size`` is the number of batches, ``queries``
    and ``keys`` those of rows."""

    group: Group
    size: int
    queries: int
    keys: int
    count: int = field(init=False)  # of heads

    def __post_init__(self) -> None:
        self.count = int(self.group.node.attr("num_heads"))
        if self.count < 1:
            raise self.group.node.invalid(f"has {self.count} heads; 1 or more are expected")

    def shape(self, values: Sequence[int], name: str) -> str:
        """A constant of integers."""
        return self.group.constant(np.array(values, np.int64), name)

    def split(self, data: str, rows: int, width: int, name: str, perm: Sequence[int]) -> str:
        """Rows [batch, rows, width] as heads, [batch, heads, rows, width / heads] in the order of
        ``perm``. ModelError if the width is no multiple of the heads."""
        if width % self.count or width < self.count:
            raise self.group.node.invalid(f"has {self.count} heads for rows of {width}")
        shape = self.shape((self.size, rows, self.count, width // self.count), f"{name}_shape")
        apart = self.group.add("Reshape", (data, shape), f"{name}_heads")
        return self.group.add("Transpose", (apart,), f"{name}_turned", perm=list(perm))

    def result(self, names: Sequence[str], widths: Sequence[int], mask: int, bias: int) -> Value:
        """The outputs from queries, keys and values [batch, rows, width]. ``mask`` and ``bias`` are
        the positions of the operands that are added to the scores."""
        group, node = self.group, self.group.node
        query = self.split(names[0], self.queries, widths[0], "q", (0, 2, 1, 3))
        key = self.split(names[1], self.keys, widths[1], "k", (0, 2, 3, 1))
        value = self.split(names[2], self.keys, widths[2], "v", (0, 2, 1, 3))
        scale = float(node.attr("scale", 0.0)) or 1 / math.sqrt(widths[0] // self.count)
        number = group.constant(np.array(scale, np.float32), "scale")
        scores = group.add("Mul", (group.add("MatMul", (query, key), "products"), number), "scores")
        for added in (self._mask(mask), self._causal(), group.operand_name(bias)):
            if added:
                scores = group.add("Add", (scores, added), f"{scores}+")
        shares = group.add("Softmax", (scores,), "shares", axis=-1)
        sums = group.add("MatMul", (shares, value), "sums")
        rows = group.add("Transpose", (sums,), "rows", perm=[0, 2, 1, 3])
        shape = self.shape((self.size, self.queries, widths[2]), "shape")
        group.add("Reshape", (rows, shape), _RESULT)
        return group.value()

    def _mask(self, position: int) -> str:
        """What is added to the scores of keys that a mask hides; empty without a mask."""
        group, node = self.group, self.group.node
        mask = node.optional(position)
        if mask is None:
            return ""
        shapes: dict[tuple[int, ...], tuple[int, ...]] = {
            (self.size, self.keys): (self.size, 1, 1, self.keys),
            (self.size, self.queries, self.keys): (self.size, 1, self.queries, self.keys),
        }
        if mask.shape in shapes:
            shape = self.shape(shapes[mask.shape], "mask_shape")
            whole = group.add("Reshape", (f"x{position}", shape), "whole_mask")
            seen = group.add("Greater", (whole, self._number(0)), "seen")
        elif mask.shape == (self.size,):
            # The number of keys that each batch has.
            lengths = self.shape((self.size, 1, 1, 1), "length_shape")
            length = group.add("Reshape", (f"x{position}", lengths), "lengths")
            every = np.arange(self.keys, dtype=np.int32).reshape(1, 1, 1, -1)
            seen = group.add("Greater", (length, group.constant(every, "places")), "seen")
        else:
            raise node.unsupported(f"has the mask {mask.type}", supported=_MASKS)
        least = np.array(float(node.attr("mask_filter_value", _FILTER)), np.float32)
        nothing = group.constant(np.zeros((), np.float32), "nothing")
        hidden = group.constant(least, "hidden")
        return group.add("Where", (seen, nothing, hidden), "mask")

    def _number(self, value: int) -> str:
        return self.group.constant(np.array(value, np.int32), f"number{value}")

    def _causal(self) -> str:
        """What is added to the scores of later keys if the attention is causal."""
        if not self.group.node.attr("unidirectional", 0):
            return ""
        later = np.triu(np.ones((self.queries, self.keys), np.bool_), 1)
        hidden: Array = np.where(later, np.finfo(np.float32).min, np.float32(0))
        return self.group.constant(hidden.astype(np.float32), "causal")


def _refuse(node: OnnxNode, positions: Sequence[int], what: str) -> None:
    """Raise UnsupportedError for operands, attributes or outputs that no form here has."""
    if any(node.optional(i) is not None for i in positions) or any(node.outputs[1:]):
        raise node.unsupported(f"has {what}", supported="attention over the rows of one call")
    if any(node.attr(name, 0) for name in _ROPE):
        raise node.unsupported("rotates its rows", supported="rows as they are")


def _rows(node: OnnxNode, position: int) -> tuple[int, int, int]:
    data = node.tensor(position)
    if len(data.shape) != 3:
        raise node.unsupported(f"has the input {data.type}", supported="[batch, rows, width]")
    return data.shape[0], data.shape[1], data.shape[2]


def _attention(node: OnnxNode) -> Value:
    """Attention: one product gives queries, keys and values."""
    _refuse(node, (4, 6), "keys of earlier calls")
    group = Group(node, opset=_OPSET)
    product = group.add("MatMul", ("x0", "x1"), "product")
    return _of_product(group, product, 2, 3, 5)


def _quantized_attention(node: OnnxNode) -> Value:
    """QAttention: as Attention, with a product of integers."""
    _refuse(node, (8,), "keys of earlier calls")
    group = Group(node, opset=_OPSET)
    names = ["x0", "x1", group.operand_name(6), group.operand_name(7)]
    while not names[-1]:
        names.pop()
    sums = group.add("MatMulInteger", names, "sums_of_integers")
    floats = group.add("Cast", (sums,), "floats", to=TensorProto.FLOAT)
    scale = group.add("Mul", ("x3", "x4"), "scale_of_sums")
    return _of_product(group, group.add("Mul", (floats, scale), "product"), 2, 5, 9)


def _of_product(group: Group, product: str, bias: int, mask: int, added: int) -> Value:
    """The outputs from the product [batch, rows, widths of queries, keys and values]."""
    node = group.node
    size, rows, _ = _rows(node, 0)
    whole = node.tensor(1).shape[-1]
    widths = node.ints("qkv_hidden_sizes", (whole // 3,) * 3)
    if len(widths) != 3 or sum(widths) != whole or widths[0] != widths[1] or min(widths) < 1:
        raise node.invalid(f"has the widths {list(widths)} for weights of {whole}")
    if group.operand_name(bias):
        product = group.add("Add", (product, f"x{bias}"), "biased")
    heads, names, first = _Heads(group, size, rows, rows), list[str](), 0
    for name, width in zip("qkv", widths, strict=True):
        ends = [
            heads.shape((n,), f"{name}{n}_end{k}") for k, n in enumerate((first, first + width))
        ]
        axis = heads.shape((2,), f"{name}_axis")
        names.append(group.add("Slice", (product, *ends, axis), name))
        first += width
    return heads.result(names, widths, mask, added)


def _multi_head(node: OnnxNode) -> Value:
    """MultiHeadAttention of queries, keys and values, to which a bias may be added."""
    _refuse(node, (6, 7, 8, 9), "keys of earlier calls")
    group = Group(node, opset=_OPSET)
    (size, queries, width), (_, keys, other) = _rows(node, 0), _rows(node, 1)
    last = _rows(node, 2)[2]
    if {_rows(node, i)[0] for i in range(3)} != {size} or _rows(node, 2)[1] != keys:
        raise node.invalid("has queries, keys and values of different numbers of rows")
    names, first = ["x0", "x1", "x2"], 0
    if group.operand_name(3):
        bias = node.constant_of(3, "biases")
        if bias.shape != (width + other + last,):
            raise node.invalid(
                f"has a bias of {list(bias.shape)} for {width + other + last} columns"
            )
        for k, own in enumerate((width, other, last)):
            part = group.constant(bias[first : first + own], f"bias{k}")
            names[k] = group.add("Add", (names[k], part), f"biased{k}")
            first += own
    if width != other:
        raise node.invalid(f"has queries of {width} and keys of {other} columns")
    return _Heads(group, size, queries, keys).result(names, (width, other, last), 4, 5)


def _embedding(node: OnnxNode) -> Value:
    """EmbedLayerNormalization: the sum of rows of up to three tables, normalized."""
    group = Group(node, opset=_OPSET)
    ids = node.tensor(0)
    if len(ids.shape) != 2 or (any(node.outputs[1:2]) and group.operand_name(7)):
        what = f"has the input {ids.type}, or counts the elements of a mask"
        raise node.unsupported(what, supported="[batch, rows]")
    total = group.add("Gather", ("x2", "x0"), "words")
    places = group.operand_name(8)
    if not places:
        places = group.constant(np.arange(ids.shape[1], dtype=np.int64).reshape(1, -1), "places")
    total = group.add("Add", (total, group.add("Gather", ("x3", places), "at_places")), "placed")
    if group.operand_name(1) and group.operand_name(4):
        segments = group.add("Gather", ("x4", "x1"), "segments")
        total = group.add("Add", (total, segments), "summed")
    epsilon = float(node.attr("epsilon", 1e-12))
    inputs = (total, "x5", "x6")
    group.add("LayerNormalization", inputs, _RESULT, axis=-1, epsilon=epsilon)
    none = group.constant(np.zeros(ids.shape[0], np.int32), "none")
    return group.value(none, total)


def _where(node: OnnxNode) -> Value:
    """QLinearWhere."""
    group = Group(node)
    chosen = group.add("Where", ("x0", group.dequantized(1), group.dequantized(4)), "chosen")
    return group.quantized(chosen, 7, like=1)


IMPORTERS = {
    "com.microsoft.Attention": _attention,
    "com.microsoft.EmbedLayerNormalization": _embedding,
    "com.microsoft.MultiHeadAttention": _multi_head,
    "com.microsoft.QAttention": _quantized_attention,
    "com.microsoft.QLinearWhere": _where,
}
