"""The layers whose costs are measured: by op, shapes like those of small networks."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from microgen.graph.arithmetic.terms import Activation, Rounding
from microgen.graph.ir.graph import ArrayType, Attrs, DType, Node, Quant
from microgen.graph.ops.base import Padding, Pair
from microgen.graph.ops.convolution.conv2d import Conv2DAttrs, Conv2DHybridAttrs
from microgen.graph.ops.convolution.conv2d_transpose import Conv2DTransposeAttrs
from microgen.graph.ops.dense.batch_matmul import BatchMatmulAttrs
from microgen.graph.ops.dense.dense import DenseAttrs, DenseHybridAttrs
from microgen.graph.ops.depthwise.depthwise_conv2d import DepthwiseConv2DAttrs
from microgen.graph.ops.elementwise.addition import AddAttrs
from microgen.graph.ops.elementwise.product import MultiplyAttrs
from microgen.graph.ops.geometry import output_size, resolve
from microgen.graph.ops.moves.layouts import ConcatenateAttrs, TransposeAttrs
from microgen.graph.ops.moves.pads import PadAttrs
from microgen.graph.ops.moves.views import CopyAttrs
from microgen.graph.ops.pooling.pooling import AvgPool2DAttrs, MaxPool2DAttrs
from microgen.graph.ops.quantization.conversions import DequantizeAttrs, QuantizeAttrs
from microgen.graph.ops.quantization.rescale import RequantizeAttrs
from microgen.graph.ops.recurrent.lstm import LstmAttrs
from microgen.graph.ops.recurrent.recurrent import ActivationFormula, RecurrentAttrs
from microgen.graph.ops.recurrent.recurrent_hybrid import RecurrentHybridAttrs
from microgen.graph.ops.recurrent.recurrent_steps import GATES
from microgen.graph.ops.recurrent.svdf import SvdfAttrs
from microgen.graph.ops.reductions.reduction import MeanAttrs
from microgen.graph.ops.reductions.softmax import SoftmaxAttrs
from microgen.graph.ops.tables.tables import LookupAttrs
from scripts.measuring.builder import DATA, Builder

INT8, FLOAT = DType.INT8, DType.FLOAT32
Layer = Callable[[Builder, DType, int], Node]  # dtype of the data, bits of the weights
_ONE: Pair = (1, 1)


def conv2d(
    b: Builder,
    dtype: DType,
    bits: int,
    *,
    data: Sequence[int],
    filters: int,
    kernel: Pair = (3, 3),
    strides: Pair = _ONE,
    padding: Padding = "SAME",
    activation: Activation = Activation.NONE,
    rounding: Rounding = Rounding.DOUBLE,
    zero: int = 0,
    groups: int = 1,
    dilation: Pair = _ONE,
) -> Node:
    """nn.conv2d. With ``zero`` as their zero point, weights have one scale."""
    axis = None if zero else 0
    shape = (filters, *kernel, data[-1] // groups)
    weight = b.weight(_stored(dtype), shape, axis, bits, zero)
    pads = resolve(padding, (data[0], data[1]), kernel, strides, dilation)
    attrs = Conv2DAttrs(strides, dilation, pads, activation, _rounding(dtype, rounding))
    inputs = (b.data(dtype, 1, *data), weight, b.bias(dtype, filters))
    return b.node("nn.conv2d", attrs, *inputs, dtype=dtype)


def conv2d_hybrid(
    b: Builder,
    dtype: DType,
    bits: int,
    *,
    data: Sequence[int],
    filters: int,
    kernel: Pair = (3, 3),
    strides: Pair = _ONE,
    padding: Padding = "SAME",
) -> Node:
    """nn.conv2d_hybrid."""
    weight = b.weight(INT8, (filters, *kernel, data[-1]), 0, bits)
    pads = resolve(padding, (data[0], data[1]), kernel, strides, _ONE)
    attrs = Conv2DHybridAttrs(strides, _ONE, pads, Activation.RELU)
    inputs = (b.data(dtype, 1, *data), weight, b.bias(dtype, filters))
    return b.node("nn.conv2d_hybrid", attrs, *inputs, dtype=dtype)


def depthwise(
    b: Builder,
    dtype: DType,
    bits: int,
    *,
    data: Sequence[int],
    kernel: Pair = (3, 3),
    strides: Pair = _ONE,
    padding: Padding = "SAME",
    multiplier: int = 1,
    activation: Activation = Activation.NONE,
    rounding: Rounding = Rounding.DOUBLE,
) -> Node:
    """nn.depthwise_conv2d."""
    channels = data[-1] * multiplier
    weight = b.weight(_stored(dtype), (1, *kernel, channels), 3, bits)
    pads = resolve(padding, (data[0], data[1]), kernel, strides, _ONE)
    attrs = DepthwiseConv2DAttrs(
        strides, _ONE, pads, multiplier, activation, _rounding(dtype, rounding)
    )
    inputs = (b.data(dtype, 1, *data), weight, b.bias(dtype, channels))
    return b.node("nn.depthwise_conv2d", attrs, *inputs, dtype=dtype)


def transposed(
    b: Builder,
    dtype: DType,
    bits: int,
    *,
    data: Sequence[int],
    filters: int,
    kernel: Pair = (3, 3),
    strides: Pair = (2, 2),
    padding: Padding = "SAME",
    activation: Activation = Activation.NONE,
    rounding: Rounding = Rounding.DOUBLE,
) -> Node:
    """nn.conv2d_transpose."""
    weight = b.weight(_stored(dtype), (filters, *kernel, data[-1]), 0, bits)
    height, width = (n * s for n, s in zip(data, strides, strict=False))
    size = (height, width)
    if padding == "VALID":
        size = ((data[0] - 1) * strides[0] + kernel[0], (data[1] - 1) * strides[1] + kernel[1])
    pads = resolve(padding, size, kernel, strides, _ONE)
    assert output_size(pads, size, kernel, strides, _ONE) == tuple(data[:2])
    attrs = Conv2DTransposeAttrs(strides, pads, size, activation, rounding)
    inputs = (b.data(dtype, 1, *data), weight, b.bias(dtype, filters))
    return b.node("nn.conv2d_transpose", attrs, *inputs, dtype=dtype)


def dense(
    b: Builder,
    dtype: DType,
    bits: int,
    *,
    depth: int,
    filters: int,
    rows: int = 1,
    rounding: Rounding = Rounding.SINGLE,
    activation: Activation = Activation.NONE,
    of_int16: Rounding = Rounding.REAL,
    by_channel: bool = False,
) -> Node:
    """nn.dense, with one scale for all filters or one for each."""
    weight = b.weight(_stored(dtype), (filters, depth), 0 if by_channel else None, bits)
    if dtype is DType.INT16:
        rounding = of_int16
    attrs = DenseAttrs(activation, rounding, keep_num_dims=False)
    inputs = (b.data(dtype, rows, depth), weight, b.bias(dtype, filters))
    return b.node("nn.dense", attrs, *inputs, dtype=dtype)


def dense_hybrid(
    b: Builder, dtype: DType, bits: int, *, depth: int, filters: int, rows: int = 1
) -> Node:
    """nn.dense_hybrid."""
    weight = b.weight(INT8, (filters, depth), 0, bits)
    attrs = DenseHybridAttrs(Activation.RELU, asymmetric=False, keep_num_dims=False)
    inputs = (b.data(dtype, rows, depth), weight, b.bias(dtype, filters))
    return b.node("nn.dense_hybrid", attrs, *inputs, dtype=dtype)


def batch_matmul(
    b: Builder,
    dtype: DType,
    _bits: int,
    *,
    batches: int,
    rows: int,
    depth: int,
    columns: int,
    in_float32: bool = False,
    rounds_once: bool = False,
    transposed: str = "",
) -> Node:
    """nn.batch_matmul of two tensors. The operands that are ``transposed`` are named a and b."""
    is_a, is_b = ("a" in transposed, "b" in transposed)
    lhs, rhs = (
        (depth, rows) if is_a else (rows, depth),
        (columns, depth) if is_b else (depth, columns),
    )
    inputs = (b.data(dtype, batches, *lhs), b.data(dtype, batches, *rhs))
    attrs = BatchMatmulAttrs(is_a, is_b, in_float32, rounds_once)
    return b.node("nn.batch_matmul", attrs, *inputs, dtype=dtype)


def pool(
    b: Builder,
    dtype: DType,
    _bits: int,
    *,
    kind: str,
    data: Sequence[int],
    size: Pair,
    strides: Pair,
    padding: Padding = "VALID",
    activation: Activation = Activation.NONE,
    **further: bool,
) -> Node:
    """nn.avg_pool2d, which may have ``further`` attributes, or nn.max_pool2d."""
    pads = resolve(padding, (data[0], data[1]), size, strides, _ONE)
    attrs: Attrs = MaxPool2DAttrs(size, strides, pads, activation)
    if kind == "avg":
        attrs = AvgPool2DAttrs(size, strides, pads, activation, **further)
    return b.node(f"nn.{kind}_pool2d", attrs, b.data(dtype, 1, *data), dtype=dtype, quant=DATA)


def lstm(
    b: Builder,
    dtype: DType,
    _bits: int,
    *,
    steps: int,
    features: int,
    cells: int,
    by_tables: bool = False,
) -> Node:
    """nn.lstm with four gates."""
    # 1/128, with which int8 has the range of tanh. A cell's scale has to be a power of two in
    # TFLite: int16 from -16 to 16.
    state = Quant((0.0078125,), (0,))
    of_cells = None if dtype is FLOAT else Quant((2.0**-11,), (0,))
    kinds = (
        ArrayType((1, cells), dtype, None if dtype is FLOAT else state),
        ArrayType((1, cells), FLOAT if dtype is FLOAT else DType.INT16, of_cells),
    )
    weights = [b.weight(_stored(dtype), (4, cells, n), 0) for n in (features, cells)]
    hidden = None if dtype is FLOAT or by_tables else state
    attrs = LstmAttrs(False, 0, 0, hidden=hidden, by_tables=by_tables)
    inputs = (b.data(dtype, 1, steps, features), *weights, b.bias(dtype, 4, cells))
    states = [b.variable(kind) for kind in kinds]
    return b.node("nn.lstm", attrs, *inputs, *states, dtype=dtype, quant=state)


def recurrent(
    b: Builder,
    dtype: DType,
    _bits: int,
    *,
    kind: str,
    functions: Sequence[str],
    steps: int,
    features: int,
    cells: int,
    batches: int = 1,
    is_special: bool = False,
) -> Node:
    """nn.recurrent. A special LSTM has peepholes and states before the first step; the reset gate
    of a special GRU applies to a product."""
    numbers = [ActivationFormula(name, 0.2, 0.5) for name in functions]
    attrs = RecurrentAttrs(kind, tuple(numbers), resets_after=kind == "gru" and is_special)
    gates = GATES[kind]
    weights = [b.weight(dtype, (gates, cells, n), None) for n in (features, cells)]
    bias = b.bias(dtype, gates + attrs.resets_after, cells)
    lengths = b.constant(np.full(batches, steps, np.int32), None, f"lengths_{batches}_{steps}")
    is_whole = kind == "lstm" and is_special
    states = [b.data(dtype, batches, cells)] * 2 if is_whole else []
    peephole = [b.weight(dtype, (3, cells), None)] if is_whole else []
    inputs = (b.data(dtype, steps, batches, features), *weights, bias, lengths, *states, *peephole)
    return b.node("nn.recurrent", attrs, *inputs, dtype=dtype)


def recurrent_hybrid(
    b: Builder,
    dtype: DType,
    _bits: int,
    *,
    kind: str,
    functions: Sequence[str],
    steps: int,
    features: int,
    cells: int,
    batches: int = 1,
    is_special: bool = False,
) -> Node:
    """nn.recurrent_hybrid with int8 weights; of a special one the weights of the input are floats.
    The reset gate of a special GRU applies to a product."""
    numbers = tuple(ActivationFormula(name, 0.2, 0.5) for name in functions)
    attrs = RecurrentHybridAttrs(kind, numbers, resets_after=kind == "gru" and is_special)
    gates = GATES[kind]
    weights = [
        b.weight(stored, (gates * cells, n), None if stored is FLOAT else 0)
        for n, stored in ((features, FLOAT if is_special else INT8), (cells, INT8))
    ]
    bias = b.bias(dtype, gates + attrs.resets_after, cells)
    inputs = (b.data(dtype, steps, batches, features), *weights, bias)
    return b.node("nn.recurrent_hybrid", attrs, *inputs, dtype=dtype)


def svdf(
    b: Builder, dtype: DType, _bits: int, *, features: int, filters: int, memory: int, rank: int
) -> Node:
    """nn.svdf."""
    is_float = dtype is FLOAT
    kept = ArrayType(
        (1, memory * filters),
        FLOAT if is_float else DType.INT16,
        None if is_float else Quant((0.0005,), (0,)),
    )
    values = np.random.default_rng(memory).integers(-9000, 9000, (filters, memory))
    time = b.constant(values.astype(np.int16), Quant((1e-4,), (0,)), f"time_{filters}_{memory}")
    if is_float:
        time = b.weight(FLOAT, (filters, memory), None)
    feature = b.weight(_stored(dtype), (filters, features), None)
    inputs = (b.data(dtype, 1, features), feature, time, b.variable(kept))
    bias = b.bias(dtype, filters // rank)
    return b.node("nn.svdf", SvdfAttrs(rank, Activation.RELU), *inputs, bias, dtype=dtype)


def add(
    b: Builder,
    dtype: DType,
    _bits: int,
    *,
    data: Sequence[int],
    activation: Activation = Activation.NONE,
) -> Node:
    """An addition of two tensors of one shape, with different scales. Their ratios are not ratios
    of small numbers, because such ratios have ties, for which no affine form is exact."""
    inputs = (b.data(dtype, 1, *data), b.rescaled(b.data(dtype, 1, *data)))
    quant = Quant((0.8713,), (-4,))
    return b.node("add", AddAttrs(activation), *inputs, dtype=dtype, quant=quant)


def multiply(
    b: Builder,
    dtype: DType,
    _bits: int,
    *,
    data: Sequence[int],
    activation: Activation = Activation.NONE,
) -> Node:
    """A product of two tensors of one shape."""
    inputs = (b.data(dtype, 1, *data), b.data(dtype, 1, *data))
    quant = Quant((0.1713,), (-4,))
    return b.node("multiply", MultiplyAttrs(activation), *inputs, dtype=dtype, quant=quant)


def softmax(b: Builder, dtype: DType, _bits: int, *, rows: int, width: int) -> Node:
    """nn.softmax."""
    # TFLite's quantization specification fixes the scale of softmax.
    quant = Quant((1 / 256,), (-128,))
    return b.node(
        "nn.softmax", SoftmaxAttrs(1.0), b.data(dtype, rows, width), dtype=dtype, quant=quant
    )


def mean(
    b: Builder,
    dtype: DType,
    _bits: int,
    *,
    data: Sequence[int],
    in_float32: bool = False,
    in_rows: bool = False,
) -> Node:
    """The mean over height and width. If it is ``in_rows``, kernels may add it up row by row."""
    attrs = MeanAttrs((1, 2), False, in_float32, data[0] if in_rows else 0)
    return b.node("mean", attrs, b.data(dtype, 1, *data), dtype=dtype)


def pad(b: Builder, dtype: DType, _bits: int, *, data: Sequence[int], by: int) -> Node:
    """nn.pad around height and width."""
    attrs = PadAttrs(((0, 0), (by, by), (by, by), (0, 0)), 1)
    return b.node("nn.pad", attrs, b.data(dtype, 1, *data), dtype=dtype, quant=DATA)


def transpose(b: Builder, dtype: DType, _bits: int, *, data: Sequence[int]) -> Node:
    """NHWC to NCHW."""
    return b.node(
        "transpose", TransposeAttrs((0, 3, 1, 2)), b.data(dtype, 1, *data), dtype=dtype, quant=DATA
    )


def concatenate(b: Builder, dtype: DType, _bits: int, *, data: Sequence[int], parts: int) -> Node:
    """Some tensors of one shape, joined at their last axis."""
    inputs = [b.data(dtype, 1, *data) for _ in range(parts)]
    return b.node("concatenate", ConcatenateAttrs(3), *inputs, dtype=dtype, quant=DATA)


def lookup(b: Builder, dtype: DType, _bits: int, *, size: int) -> Node:
    """A function by its table."""
    values = np.arange(-128, 128).astype(np.int8)
    table = b.constant(values, DATA, "table")
    return b.node("lookup", LookupAttrs("sigmoid"), b.data(dtype, 1, size), table, dtype=dtype)


def requantize(b: Builder, dtype: DType, _bits: int, *, size: int) -> Node:
    """Another scale."""
    return b.node("qnn.requantize", RequantizeAttrs(), b.data(dtype, 1, size), dtype=dtype)


def copy(b: Builder, dtype: DType, _bits: int, *, size: int) -> Node:
    """A copy."""
    return b.node("copy", CopyAttrs(), b.data(dtype, 1, size), dtype=dtype, quant=DATA)


def quantize(b: Builder, dtype: DType, _bits: int, *, size: int) -> Node:
    """float32 to int8."""
    return b.node("qnn.quantize", QuantizeAttrs(), b.data(dtype, 1, size), dtype=INT8)


def dequantize(b: Builder, dtype: DType, _bits: int, *, size: int) -> Node:
    """int8 to float32."""
    return b.node(
        "qnn.dequantize", DequantizeAttrs(), b.data(dtype, 1, size), dtype=FLOAT, quant=None
    )


def _rounding(dtype: DType, of_int8: Rounding) -> Rounding:
    """The rounding of sums of products to a dtype."""
    return Rounding.REDUCED if dtype is DType.INT16 else of_int8


def _stored(dtype: DType) -> DType:
    """The dtype of weights."""
    return FLOAT if dtype is FLOAT else INT8
