"""Nodes of ONNX's layers: convolutions, pools, products, normalizations and reductions."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np

from microgen.graph.ir.graph import Array
from tests.frontends.onnx.one_node import OneNode

_RNG = np.random.default_rng(22)
_SPATIAL = {1: (9,), 2: (7, 6), 3: (5, 6, 4)}


def data(*shape: int) -> Array:
    """Floats of about 1."""
    return _RNG.normal(size=shape).astype(np.float32)


def integers(*values: int) -> Array:
    """A list of axes."""
    return np.array(values, np.int64)


def node(op: str, *inputs: Array | None, given: int = 1, outputs: int = 1, **attrs: Any) -> OneNode:
    """A node of opset 18."""
    return OneNode(op, inputs, attrs, given, outputs)


def _old(op: str, *inputs: Array | None, opset: int, **attrs: Any) -> OneNode:
    return OneNode(op, inputs, attrs, opset=opset)


def convolutions() -> Iterator[OneNode]:
    """Each number of axes with each attribute."""
    for rank, sizes in _SPATIAL.items():
        x, w, ones = data(2, 4, *sizes), data(6, 4, *(3, 2, 3)[:rank]), (1,) * rank
        yield node("Conv", x, w, data(6))
        yield node("Conv", x, w, data(6), given=3)
        yield node("Conv", x, w, pads=[*ones, *(2,) * rank], strides=[2] * rank)
        yield node("Conv", x, w, pads=[2] * rank * 2, dilations=[2] + [1] * (rank - 1))
        for kind in ("SAME_UPPER", "SAME_LOWER", "VALID"):
            yield node("Conv", x, w, auto_pad=kind, strides=[1, 2, 3][:rank])
        yield node("Conv", x, data(6, 2, *(2,) * rank), data(6), group=2)
        yield node("Conv", x, data(8, 1, *(2,) * rank), data(8), group=4)


def transposed_convolutions() -> Iterator[OneNode]:
    """Those that become a convolution, nn.conv2d_transpose, and one over zeros."""
    for rank, sizes in _SPATIAL.items():
        x, w, twos = data(1, 4, *sizes[:rank]), data(4, 3, *(3, 2, 2)[:rank]), [2] * rank
        yield node("ConvTranspose", x, w, data(3))
        yield node("ConvTranspose", x, w, strides=twos, pads=[1] * 2 * rank)
        yield node("ConvTranspose", x, w, strides=twos, output_padding=[1] * rank)
        yield node("ConvTranspose", x, w, strides=twos, dilations=[2] + [1] * (rank - 1))
        yield node("ConvTranspose", x, w, data(6), group=2, strides=twos)
        yield node("ConvTranspose", x, w, group=4, pads=[1] + [0] * (2 * rank - 1))
        for kind in ("SAME_UPPER", "SAME_LOWER", "NOTSET"):
            shape = [2 * n - (i == 0) for i, n in enumerate(sizes)]
            yield node("ConvTranspose", x, w, strides=twos, auto_pad=kind, output_shape=shape)


def pools() -> Iterator[OneNode]:
    """Each number of axes with each attribute."""
    for rank, sizes in _SPATIAL.items():
        x = data(2, 3, *sizes)
        kernel, twos, pads = [3, 2, 2][:rank], [2] * rank, [1] * 2 * rank
        for op in ("MaxPool", "AveragePool", "LpPool"):
            yield node(op, x, kernel_shape=kernel)
            yield node(op, x, kernel_shape=kernel, strides=twos, pads=pads)
            yield node(op, x, kernel_shape=kernel, strides=twos, auto_pad="SAME_LOWER")
        for op in ("MaxPool", "AveragePool"):
            yield node(op, x, kernel_shape=kernel, strides=twos, pads=pads, ceil_mode=1)
        yield node("AveragePool", x, kernel_shape=kernel, pads=pads, count_include_pad=1)
        yield node("MaxPool", x, kernel_shape=kernel, dilations=twos, strides=twos, pads=pads)
        for order in (0, 1):
            attrs = {"pads": pads, "dilations": [2] + [1] * (rank - 1), "storage_order": order}
            yield node("MaxPool", x, outputs=2, kernel_shape=kernel, **attrs)
        yield from (node(f"Global{op}Pool", x) for op in ("Average", "Max", "Lp"))
    for dtype in (np.int8, np.uint8):
        x = _RNG.integers(0, 100, (1, 2, 5, 5)).astype(dtype)
        yield node("MaxPool", x, kernel_shape=[2, 3], strides=[1, 2])
    yield node("LpPool", data(1, 2, 5, 5), kernel_shape=[2, 2], p=3)
    yield node("GlobalLpPool", data(1, 2, 5, 5), p=1)


def dilated_means() -> Iterator[OneNode]:
    """Average pools that onnxruntime 1.31 computes as its newest opset."""
    x = data(1, 2, 8, 7)
    for counts, ceil in itertools.product((0, 1), repeat=2):
        attrs = {"pads": [1, 0, 1, 1], "count_include_pad": counts, "ceil_mode": ceil}
        made = {"kernel_shape": [2, 3], "dilations": [2, 2], "strides": [2, 1], **attrs}
        yield OneNode("AveragePool", (x,), made, opset=19)


def products() -> Iterator[OneNode]:
    """Gemm and MatMul, with operands that are constant and computed."""
    for given in (1, 2, 3):
        for flips in itertools.product((0, 1), repeat=2):
            a = data(5, 4) if flips[0] else data(4, 5)
            b = data(6, 5) if flips[1] else data(5, 6)
            attrs = {"transA": flips[0], "transB": flips[1], "alpha": 0.5, "beta": 2.0}
            yield node("Gemm", a, b, data(6), given=given, **attrs)
    for shape in ((), (1,), (4, 1), (4, 6), (1, 6), (1, 1)):
        yield node("Gemm", data(4, 5), data(5, 6), data(*shape))
    yield node("Gemm", data(1, 5), data(5, 6))
    pairs = [((5,), (5,)), ((5,), (2, 5, 3)), ((2, 4, 5), (5,)), ((2, 4, 5), (5, 3))]
    pairs += [((2, 1, 4, 5), (3, 5, 2)), ((2, 3, 4, 5), (2, 3, 5, 2)), ((4, 5), (2, 5, 3))]
    for given, (one, other) in itertools.product((1, 2), pairs):
        yield node("MatMul", data(*one), data(*other), given=given)
    for dtype in (np.int32, np.int64):
        numbers = [_RNG.integers(-9, 9, shape).astype(dtype) for shape in ((2, 3, 4), (4, 5))]
        yield node("MatMul", *numbers, given=2)


EQUATIONS = {
    "ij->ji": ((3, 4),),
    "ij->": ((3, 4),),
    "...ii->...i": ((2, 4, 4),),
    "iij->j": ((3, 3, 2),),
    "bij,bjk->bik": ((2, 3, 4), (2, 4, 5)),
    "bhqd,bhkd->bhqk": ((1, 2, 3, 4), (1, 2, 5, 4)),
    "i,j->ij": ((3,), (4,)),
    "ij,ij->ij": ((3, 4), (3, 4)),
    "...ij,...jk": ((1, 3, 4), (6, 4, 5)),
    "a...b,b->...a": ((2, 3, 4, 5), (5,)),
    "bn,anm,bm->ba": ((2, 3), (4, 3, 5), (2, 5)),
    "ij,kl->": ((2, 3), (4, 5)),
    "ba": ((2, 3),),
}


def einsums() -> Iterator[OneNode]:
    """One node for each equation."""
    for equation, shapes in EQUATIONS.items():
        operands = [data(*shape) for shape in shapes]
        yield node("Einsum", *operands, given=len(operands), equation=equation)


def normalizations() -> Iterator[OneNode]:
    """Each normalization that onnxruntime has in opset 18."""
    x = data(2, 4, 3, 5)
    statistics = [data(4), data(4), data(4), np.abs(data(4))]
    yield node("BatchNormalization", x, *statistics)
    yield node("BatchNormalization", x, *statistics, given=5, epsilon=0.01)
    yield node("BatchNormalization", data(3, 4), *statistics)
    yield node("InstanceNormalization", x, data(4), data(4))
    for axis in (-1, 1, 2):
        shape = x.shape[axis:]
        attrs = {"axis": axis, "epsilon": 0.1}
        yield node("LayerNormalization", x, data(*shape), data(*shape), outputs=3, **attrs)
    yield node("LayerNormalization", x, data(5))
    for p, axis in ((1, 1), (2, -1), (2, 2)):
        yield node("LpNormalization", x, p=p, axis=axis)
    yield node("MeanVarianceNormalization", x)
    yield node("MeanVarianceNormalization", x, axes=[1, -1])
    for size in (1, 3):
        yield node("LRN", x, size=size, alpha=0.1, beta=0.6, bias=2.0)
    for op, axis in itertools.product(("Softmax", "LogSoftmax", "Hardmax"), (0, 1, -1)):
        yield node(op, x, axis=axis)
        yield _old(op, x, opset=11, axis=axis)
    yield _old("Softmax", x, opset=11)


def reductions() -> Iterator[OneNode]:
    """Each reduction with each form of its axes."""
    x = np.abs(data(2, 3, 4, 5)) + np.float32(0.5)
    kinds = ("L1", "L2", "LogSum", "LogSumExp", "Max", "Mean", "Min", "Prod", "Sum", "SumSquare")
    for kind in kinds:
        op = f"Reduce{kind}"
        yield node(op, x)
        yield node(op, x, integers(1, -1), keepdims=0)
        yield node(op, x, integers(2))
        yield node(op, x, noop_with_empty_axes=1)
        yield _old(op, x, opset=11, axes=[0, 2])
    for kind, dtype in itertools.product(("Sum", "Prod"), (np.int32, np.int64)):
        yield node(f"Reduce{kind}", _RNG.integers(-9, 9, (3, 4, 2)).astype(dtype), integers(0, 2))
    for kind, dtype in itertools.product(("Max", "Min"), (np.int8, np.uint8, np.int32)):
        yield node(f"Reduce{kind}", _RNG.integers(0, 99, (3, 4)).astype(dtype), integers(1))
    for op, last in itertools.product(("ArgMax", "ArgMin"), (0, 1)):
        ties = np.round(x)
        yield node(op, ties, axis=2, select_last_index=last)
        yield node(op, ties, axis=-1, keepdims=0, select_last_index=last)
        yield node(op, ties.astype(np.int8), select_last_index=last)
    for exclusive, reverse in itertools.product((0, 1), repeat=2):
        yield node("CumSum", x, np.array(1), exclusive=exclusive, reverse=reverse)
    yield from (node("Det", data(2, n, n)) for n in (1, 2, 3, 4))


CASES = (
    *convolutions(),
    *transposed_convolutions(),
    *pools(),
    *dilated_means(),
    *products(),
    *einsums(),
    *normalizations(),
    *reductions(),
)
