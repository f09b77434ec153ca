"""Layers of the sizes that networks have, for every op with kernels.

Small layers do not show what compilers make of constant extents, and of loops that then have
nothing to do.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np

from microgen import kernels
from microgen.graph import ops
from microgen.graph.arithmetic.terms import Activation, Rounding
from microgen.graph.ir.graph import ArrayType, DType, Quant
from microgen.graph.ops.base import Padding
from microgen.graph.ops.elementwise.bitwise import BitFunction
from microgen.graph.ops.reductions.reduction import MeanAttrs
from microgen.graph.ops.reductions.softmax import SoftmaxAttrs
from microgen.graph.ops.tables.tables import LOOKUP_ENTRIES
from microgen.graph.ops.trees.tree_ensemble import TreeEnsembleAttrs
from microgen.graph.ops.unary import real_function
from tests.crt import real_movements
from tests.kernels.conformance import conformance as c
from tests.kernels.recurrent import recurrent_cases, recurrent_hybrid_cases
from tests.kernels.trees import tree_cases

Shape = tuple[int, ...]

I8, I16, I32, I64, F32 = DType.INT8, DType.INT16, DType.INT32, DType.INT64, DType.FLOAT32
U8 = DType.UINT8
IMAGE = (1, 25, 5, 64)
CELLS = 128
# Input and output features: many to few and the reverse, and numbers that are not multiples of
# four.
FEATURES = ((640, 128), (128, 640), (128, 8), (8, 128), (129, 130), (4096, 1), (1000, 3))
# Image, filters, stride and padding.
CONVOLUTIONS: tuple[tuple[Shape, Shape, int, Padding], ...] = (
    ((1, 1, 1, 640), (128, 1, 1, 640), 1, "VALID"),
    ((1, 6, 6, 256), (129, 3, 3, 256), 1, "SAME"),
    ((1, 3, 3, 128), (640, 3, 3, 128), 1, "VALID"),
    ((1, 96, 96, 3), (8, 3, 3, 3), 2, "SAME"),
    (IMAGE, (64, 1, 1, 64), 1, "VALID"),
    ((1, 49, 10, 1), (64, 10, 4, 1), 2, "SAME"),
    ((1, 1, 1024, 16), (18, 1, 15, 16), 4, (0, 7, 0, 7)),
    (IMAGE, (128, 3, 3, 16), 1, "SAME"),
    ((1, 1, 1, 128), (256, 1, 1, 32), 1, "VALID"),
    ((1, 32, 32, 16), (16, 3, 3, 16), 1, "SAME"),
)
DEPTHWISE: tuple[tuple[Shape, Shape, int, Padding], ...] = (
    ((1, 25, 5, 640), (1, 25, 5, 640), 1, "VALID"),
    (IMAGE, (1, 3, 3, 64), 1, "SAME"),
    ((1, 96, 96, 8), (1, 3, 3, 8), 2, "SAME"),
    ((1, 49, 10, 1), (1, 10, 8, 8), 2, "SAME"),
    ((1, 3, 3, 255), (1, 3, 3, 510), 1, "VALID"),
    ((1, 1, 1, 640), (1, 1, 1, 640), 1, "VALID"),
    (IMAGE, (1, 3, 3, 64), 1, "VALID"),
)
TRANSPOSED: tuple[tuple[Shape, int, int], ...] = (  # image, stride and filters
    ((1, 1, 1, 640), 2, 128),
    (IMAGE, 2, 128),
    (IMAGE, 1, 128),
    ((1, 1, 1, 640), 1, 128),
    ((1, 36, 36, 14), 2, 1),
)
POOLS: tuple[tuple[Shape, Shape, Padding], ...] = (
    ((1, 8, 8, 640), (8, 8), "VALID"),
    ((1, 1, 1, 640), (1, 1), "VALID"),
    ((1, 112, 112, 64), (3, 3), "SAME"),
    ((2, 1, 4096, 3), (1, 4), "VALID"),
)
CHOICES: Mapping[str, Sequence[object]] = {  # for an attribute of that name in any op
    "activation": (Activation.RELU,),
    "rounding": tuple(Rounding),
    "axis": (3, 1),
    "axes": ((1, 2), (3,)),
    "keep_dims": (True,),
    "alpha": (0.25,),
    "beta": (1.0,),
    "function": ("tanh",),
    "shape": ((25, 25, 5, 64),),
    "size": ((50, 10),),
    "half_pixel_centers": (False, True),
    "in_floats": (False, True),
    "ties_upward": (False, True),
    **dict.fromkeys(("in_float32", "ties_even", "keeps_nan", "rounds_once"), (False, True)),
    "pads": (((0, 0), (1, 2), (3, 4), (0, 0)),),
    "value": (0.0,),
    "src_layout": ("NHWC",),
    "dst_layout": ("NCHW",),
    **dict.fromkeys(("lhs_scale", "rhs_scale", "input_scale", "output_scale"), (0.5,)),
}
OWN: Mapping[str, Mapping[str, Sequence[object]]] = {  # for attributes of one op only
    "bitwise": {"function": tuple(BitFunction)},
    "divide": {"activation": tuple(Activation)[:2]},
    "real_function": {"function": tuple(real_function.FORMULAS)},
    "strided_slice": {
        "begin": ((0, 24, 0, 0),),
        "strides": ((1, -2, 2, 1),),
        "shape": ((1, 13, 3, 64),),
    },
    "transpose": {"axes": ((0, 3, 1, 2),)},
    **{op: {"activation": tuple(Activation)[:2]} for op in ("add", "subtract", "multiply")},
    "slide": {"axis": (1,)},
    "qnn.mul": {"output_scale": (4.0,)},
    "vision.multiclass_suppression": {
        "most": (10,),
        "each": (3,),
        "per_class": (0, 100),
        "overlap": (0.5,),
    },
    "vision.non_max_suppression": {"most": (10,), "overlap": (0.5,)},
}
# the output's quantization, if an op asks for a certain one
OUTPUTS: Mapping[tuple[str, DType], Quant] = {
    ("qnn.quantize", U8): c.quant(0.5, 128),
    ("qnn.requantize", U8): c.quant(0.5, 128),
    ("divide", I8): c.quant(2.0**-7),
    ("divide", I16): c.quant(2.0**-14),
    ("multiply", I8): c.quant(4.0),
    ("nn.batch_matmul", I8): c.quant(4.0),
    ("qnn.mul", I8): c.quant(4.0),
    ("mean", I8): c.quant(3.0),
    ("qnn.quantize", I32): c.quant(0.5),
    ("nn.softmax", I8): c.quant(2.0**-8, -128),
    ("nn.softmax", I16): c.quant(2.0**-15),
    ("nn.log_softmax", I8): c.quant(2.0**-4, 127),
    ("nn.l2_normalize", I8): c.quant(2.0**-7),
    ("sigmoid", I16): c.quant(2.0**-15),
    ("tanh", I16): c.quant(2.0**-15),
}


def cases() -> Iterator[c.Case]:
    """At least one case for each kernel of ``microgen.kernels``."""
    recurrent = [*_svdfs(), *_lstms(), *recurrent_cases.real(), *recurrent_hybrid_cases.real()]
    own = [*_products(), *_pools(), *recurrent, _trees(), _equal_limits(), *real_movements.cases()]
    wider = (_tensor(IMAGE, I8),)
    yield c.Case("to int16", "nn.softmax", SoftmaxAttrs(1.0), wider, c.quant(2.0**-16, -32768), I16)
    for in_float32 in (False, True):
        of_rows = MeanAttrs((1, 2), keep_dims=True, in_float32=in_float32, rows=2 * IMAGE[1])
        yield c.Case(f"of rows, {in_float32}", "mean", of_rows, wider, c.quant(0.25))
    yield from _odd_sums()
    yield from own
    alone = set(kernels.registry()) & set(ops.registry())  # not patterns of several
    for op in sorted(alone - {case.op for case in own}):
        yield from _of_images(op)


def _odd_sums() -> Iterator[c.Case]:
    """Sums whose scales have no affine function that is exact."""
    kinds = [ArrayType(IMAGE, I8, c.quant(scale, -3)) for scale in (0.0125, 0.0778)]
    pair = tuple(c.Tensor(kind, np.zeros(IMAGE, np.int8)) for kind in kinds)
    for op in ("add", "subtract"):
        attrs = ops.registry()[op].attrs(Activation.NONE)  # type: ignore[call-arg]
        yield c.Case(f"{op} of odd scales", op, attrs, pair, c.quant(0.0584, 5))


def _trees() -> c.Case:
    """A hundred trees of one split on 30 features, for one target."""
    kinds = {"used": "uint16", "key": "uint32", "split": "uint8", "child": "uint16"}
    sizes = {"used": (30,), "key": (300,), "split": (300,), "child": (300,)}
    arrays = {name: np.zeros(sizes[name], kind) for name, kind in kinds.items()}
    arrays["child"][:] = np.arange(300)
    arrays["tree"] = np.zeros((100, 2), np.uint16)
    constants = (
        c.Tensor(ArrayType(array.shape, DType(array.dtype.name)), array, True)
        for array in arrays.values()
    )
    inputs = (_tensor((1, 30), F32), *constants)
    return c.Case("trees", "tree_ensemble", TreeEnsembleAttrs(1, 0), inputs, None, F32)


def _equal_limits() -> c.Case:
    """Forty trees with few limits, so that ranks take fewer bytes."""
    return tree_cases.wide_case(30, 6, 40, digits=1)


def _tensor(
    shape: Shape, dtype: DType, *, scale: float = 0.5, is_constant: bool = False
) -> c.Tensor:
    """A tensor of zeros, because only the type matters."""
    quant = c.quant(scale, 128 * (dtype is U8)) if dtype in (I8, U8, I16) else None
    return c.Tensor(ArrayType(shape, dtype, quant), np.zeros(shape, dtype.numpy), is_constant)


def _plain(tensor: c.Tensor) -> c.Tensor:
    """The tensor without a scale."""
    return dataclasses.replace(tensor, type=dataclasses.replace(tensor.type, quant=None))


def _accepted(op: str, inputs: Sequence[c.Tensor], dtype: DType, **given: Any) -> Iterator[c.Case]:
    """The case with every choice of the attributes that are not given, without refused ones."""
    kind = ops.registry()[op].attrs
    names = [field.name for field in dataclasses.fields(kind)]
    own = OWN.get(op, {})
    choices = [(given[n],) if n in given else own.get(n, CHOICES.get(n, (0,))) for n in names]
    output = OUTPUTS.get((op, dtype), _tensor((), dtype).type.quant)
    if inputs[0].type.dtype in (I8, U8, I16) and inputs[0].type.quant is None:
        output = None  # integers without a scale
    for values in product(*choices):
        attrs = kind(**dict(zip(names, values, strict=True)))
        with contextlib.suppress(ValueError):
            yield c.Case(f"{op} {attrs}", op, attrs, tuple(inputs), output, dtype)


# Sums of products


def _products() -> Iterator[c.Case]:
    for features, units in FEATURES:
        shapes = (1, features), (units, features)
        yield from _weighted("nn.dense", *shapes, 0, keep_num_dims=False)
        yield from _weighted("nn.dense", (20, features), shapes[1], 0, keep_num_dims=False)
        yield from _weighted("nn.dense_hybrid", *shapes, 0, asymmetric=True, keep_num_dims=False)
        yield from _weighted("nn.dense_weight_only", *shapes, 0, keep_num_dims=False)
        rows, vectors = (_tensor(shape, F32) for shape in ((3, features), (units, features)))
        yield from _accepted("squared_distances", (rows, vectors), F32)
        table = _with_scales(_tensor((units, features), I8, is_constant=True), 0)
        yield from _stored("nn.embedding", (_tensor((40,), I32), table))
        yield from _matmuls((2, 3, 4, features), (1, 3, features, units))
        yield from _matmuls((1, 1, 1, features), (1, 1, features, units))
    for image, filters, stride, padding in CONVOLUTIONS:
        window = {"strides": (stride, stride), "dilation": (1, 1), "padding": padding}
        yield from _weighted("nn.conv2d", image, filters, 0, **window)
        yield from _weighted("nn.conv2d_hybrid", image, filters, 0, **window)
        yield from _weighted("nn.conv2d_weight_only", image, filters, 0, **window)
    for image, filters, stride, padding in DEPTHWISE:
        window = {"strides": (stride, stride), "dilation": (1, 1), "padding": padding}
        window["depth_multiplier"] = filters[3] // image[3]
        yield from _weighted("nn.depthwise_conv2d", image, filters, 3, **window)
        yield from _weighted("nn.depthwise_conv2d_hybrid", image, filters, 3, **window)
        yield from _weighted("nn.depthwise_conv2d_weight_only", image, filters, 3, **window)
    for number in (1, 3, 4, 6):
        yield from _mixed("nn.conv2d", CONVOLUTIONS[number], 0)
    for number in (1, 2, 3):
        multiplier = DEPTHWISE[number][1][3] // DEPTHWISE[number][0][3]
        yield from _mixed("nn.depthwise_conv2d", DEPTHWISE[number], 3, depth_multiplier=multiplier)
    for image, stride, count in TRANSPOSED:
        size = (image[1] * stride, image[2] * stride)
        window = {"strides": (stride, stride), "padding": "SAME", "size": size}
        for op in ("", "_hybrid", "_weight_only"):
            filters = (count, 3, 3, image[3])
            yield from _weighted(f"nn.conv2d_transpose{op}", image, filters, 0, **window)


_TYPES = (  # of data, bias and output
    (I8, I32, I8),
    (I8, I32, I32),
    (I16, I32, I16),
    (I16, I64, I16),
    (F32, F32, F32),
)


def _weighted(op: str, data: Shape, weight: Shape, axis: int, **fields: Any) -> Iterator[c.Case]:
    """Cases of every dtype and rounding that the op takes."""
    if "hybrid" in op:
        yield from _accepted(op, _operands(data, weight, axis, F32, I8, F32), F32, **fields)
        return
    if "weight_only" in op:
        yield from _stored(op, _operands(data, weight, axis, F32, I8, F32), **fields)
        return
    for x, bias, y in _TYPES:
        operands = _operands(data, weight, axis, x, F32 if x is F32 else I8, bias)
        yield from _accepted(op, operands, y, **fields)
    data_, weight_, bias_ = _operands(data, weight, axis, I8, I8, I32)
    packed = dataclasses.replace(weight_, is_int4=True)
    yield from _accepted(op, (data_, packed, bias_), I8, **fields)
    kind = ArrayType(weight, I8, c.quant(2.0**-9, 3))
    offset = c.Tensor(kind, np.zeros(weight, np.int8), True)
    yield from _accepted(op, (data_, offset, bias_), I8, **fields)
    fields["activation"] = Activation.NONE
    yield from _accepted(op, (data_, weight_, bias_), I8, **fields)
    yield from _accepted(op, (data_, offset, bias_), I32, **fields)


def _mixed(
    op: str, layer: tuple[Shape, Shape, int, Padding], axis: int, **fields: Any
) -> Iterator[c.Case]:
    """Cases of large weights, of which every other channel has a scale that is no power of two, so
    that its sums may be no single product. A clamp at negative outputs leaves them so."""
    image, filters, stride, padding = layer
    data, weight, bias = _operands(image, filters, axis, I8, I8, I32)
    scales = tuple((2.0**-9, 1.23e-3)[channel % 2] for channel in range(filters[axis]))
    kind = dataclasses.replace(weight.type, quant=Quant(scales, (0,) * len(scales), axis))
    weight = c.Tensor(kind, np.full(filters, 127, np.int8), is_constant=True)
    window = {"strides": (stride, stride), "dilation": (1, 1), "padding": padding}
    for activation in (Activation.NONE, Activation.RELU_N1_TO_1):
        given = {**window, **fields, "activation": activation}
        yield from _accepted(op, (data, weight, bias), I8, **given)


def _stored(op: str, operands: Sequence[c.Tensor], **fields: Any) -> Iterator[c.Case]:
    """Cases of an op that dequantizes its second operand: int8, and int4."""
    first, weight, *rest = operands
    for is_int4 in (False, True):
        given = (first, dataclasses.replace(weight, is_int4=is_int4), *rest)
        yield from _accepted(op, given, F32, **fields)


def _operands(
    data: Shape, weight: Shape, axis: int, x: DType, w: DType, bias: DType
) -> tuple[c.Tensor, ...]:
    """Data, a weight with a scale for each index of ``axis``, and a bias."""
    return (
        _tensor(data, x),
        _with_scales(_tensor(weight, w, is_constant=True), axis),
        _tensor((weight[axis],), bias, is_constant=True),
    )


def _with_scales(weight: c.Tensor, axis: int) -> c.Tensor:
    """The weights with one scale for each index of the axis if they are int8."""
    count = weight.type.shape[axis]
    quant = Quant((2.0**-9,) * count, (0,) * count, axis) if count > 1 else c.quant(2.0**-9)
    kind = dataclasses.replace(weight.type, quant=quant if weight.type.dtype is I8 else None)
    return dataclasses.replace(weight, type=kind)


def _matmuls(lhs: Shape, rhs: Shape) -> Iterator[c.Case]:
    for dtype, transposed in product((I8, I16, F32), (False, True)):
        stored = (*rhs[:2], rhs[3], rhs[2]) if transposed else rhs
        operands = _tensor(lhs, dtype), _tensor(stored, dtype)
        yield from _accepted("nn.batch_matmul", operands, dtype, transpose_b=transposed)


def _pools() -> Iterator[c.Case]:
    for (image, size, padding), dtype in product(POOLS, (I8, I16, I32, F32)):
        window = {"pool_size": size, "strides": (2, 2), "padding": padding}
        for op in ("nn.avg_pool2d", "nn.max_pool2d"):
            yield from _accepted(op, (_tensor(image, dtype),), dtype, **window)


# Layers with a state


def _svdfs() -> Iterator[c.Case]:
    for (dtype, wide), features in product(((I8, I16), (I8, I8), (F32, F32)), (40, 129)):
        inputs = (
            _tensor((1, features), dtype),
            _tensor((256, features), dtype, is_constant=True),
            _tensor((256, 8), wide, is_constant=True),
            _tensor((1, 256 * 8), wide),
            _tensor((128,), F32 if dtype is F32 else I32, is_constant=True),
        )
        yield from _accepted("nn.svdf", inputs, dtype, rank=2)


def _lstms() -> Iterator[c.Case]:
    """By tables and, of dtypes that LiteRT has, without."""
    for (dtype, by_tables), features in product(
        ((I8, False), (I8, True), (I16, True), (F32, False)), (128, 27)
    ):
        weight, cell, bias = {F32: (F32, F32, F32), I8: (I8, I16, I32), I16: (I8, I16, I64)}[dtype]
        inputs = (
            _tensor((1, 28, features), dtype, scale=2.0**-7),
            _with_scales(_tensor((4, CELLS, features), weight, is_constant=True), 0),
            _with_scales(_tensor((4, CELLS, CELLS), weight, is_constant=True), 0),
            _tensor((4, CELLS), bias, is_constant=True),
            _tensor((1, CELLS), dtype, scale=2.0**-7),
            _tensor((1, CELLS), cell, scale=2.0**-11),
        )
        hidden = c.quant(0.5) if dtype is I8 and not by_tables else None
        yield from _accepted("nn.lstm", inputs, dtype, hidden=hidden, by_tables=by_tables)


# Everything else: one or more images


def _of_images(op: str) -> Iterator[c.Case]:
    """Cases from every dtype to every dtype with one to three inputs, if the op takes them."""
    for source, target in product(DType, repeat=2):
        for inputs in _images(op, source):
            yield from _accepted(op, inputs, target)


def _images(op: str, dtype: DType) -> Iterator[tuple[c.Tensor, ...]]:
    image, channel = _tensor(IMAGE, dtype), _tensor(IMAGE[3:], dtype)
    if op == "take":
        indices = _tensor((40,), I32)
        yield image, indices
        yield image, dataclasses.replace(indices, is_constant=True)
        yield image, _tensor((40,), I64)
    elif op == "gather_nd":
        yield image, _tensor((40, 3), I32)
    elif op == "dynamic_update_slice":
        yield image, _tensor((1, 5, 5, 8), dtype), _tensor((4,), I32)
    elif op == "slide":
        yield image, _tensor((1, 1, *IMAGE[2:]), dtype)
    elif op == "vision.multiclass_suppression":
        yield _tensor((100, 4), F32), _tensor((100, 20), F32)
    elif op == "vision.non_max_suppression":
        yield _tensor((100, 4), F32), _tensor((100,), F32), _tensor((100,), I32)
    elif op == "lookup":
        yield image, _tensor((LOOKUP_ENTRIES.get(dtype, 0),), dtype, is_constant=True)
    elif op == "where":
        yield _tensor(IMAGE, DType.BOOL), image, channel
    elif op == "nn.prelu":
        slope = F32 if dtype is F32 else I8
        yield image, _tensor((1, 1, 64), slope, is_constant=True)
    else:
        yield (image,)
        yield image, image
        yield image, channel
        yield _plain(image), _plain(channel)
