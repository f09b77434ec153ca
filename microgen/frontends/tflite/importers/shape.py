"""Operators that change the shape only, or add a border."""

from __future__ import annotations

import math

import numpy as np
from tflite.BitcastOptions import BitcastOptions
from tflite.FillOptions import FillOptions
from tflite.MirrorPadMode import MirrorPadMode
from tflite.MirrorPadOptions import MirrorPadOptions
from tflite.RankOptions import RankOptions
from tflite.ReshapeOptions import ReshapeOptions
from tflite.ShapeOptions import ShapeOptions
from tflite.SqueezeOptions import SqueezeOptions

from microgen.frontends.tflite.importers.arguments import (
    Importer,
    cut,
    integers,
    one_axis,
    resolved_axis,
)
from microgen.frontends.tflite.layers import FileLayer
from microgen.frontends.tflite.records import COMPOSITE
from microgen.graph.builder import BuiltTensor
from microgen.graph.ir.graph import DType
from microgen.graph.ops.base import Pair, Shape
from microgen.graph.ops.moves.layouts import BroadcastToAttrs
from microgen.graph.ops.moves.pads import MirrorPadAttrs, PadAttrs
from microgen.graph.ops.moves.views import BitcastAttrs, ReinterpretAttrs, ReshapeAttrs


def _reshape(layer: FileLayer) -> BuiltTensor:
    data = layer.data(0)
    # As in LiteRT, the second input overrides the option if both are present.
    stated = integers(layer, 1) if layer.has_input(1) else layer.option_integers("NewShape")
    # Source: TFLite kernels/reshape.cc. Old converters write [0] into the option for a scalar.
    if stated == (0,) and not layer.has_input(1):
        stated = ()
    known = math.prod(size for size in stated if size != -1)
    # Two unknown sizes would leave the shape open.
    if stated.count(-1) > 1 or min(stated, default=1) < -1 or known < 1 or data.type.size % known:
        raise layer.invalid(f"asks for the shape {cut(stated)} of {data.type}")
    size = data.type.size // known
    return _reshaped(layer, data, tuple(size if each == -1 else each for each in stated))


def _squeeze(layer: FileLayer) -> BuiltTensor:
    data = layer.data(0)
    shape, rank = data.type.shape, len(data.type.shape)
    stated = layer.option_integers("SqueezeDims")
    axes = {resolved_axis(layer, axis, rank) for axis in stated}
    if not stated:
        # Without stated axes TFLite removes all of size 1.
        axes = {axis for axis, size in enumerate(shape) if size == 1}
    if any(shape[axis] != 1 for axis in axes):
        raise layer.invalid(
            f"removes the axes {sorted(axes)} of {data.type}; only axes of size 1 can be removed"
        )
    return _reshaped(layer, data, tuple(n for axis, n in enumerate(shape) if axis not in axes))


def _expand_dims(layer: FileLayer) -> BuiltTensor:
    data = layer.data(0)
    axis = one_axis(layer, 1, len(data.type.shape) + 1)
    return _reshaped(layer, data, (*data.type.shape[:axis], 1, *data.type.shape[axis:]))


def _broadcast_to(layer: FileLayer) -> BuiltTensor:
    return _broadcast(layer, layer.data(0), integers(layer, 1))


def _fill(layer: FileLayer) -> BuiltTensor:
    value = layer.data(1)
    layer.expect_rank(value, 0)
    return _broadcast(layer, value, integers(layer, 0))


def _broadcast(layer: FileLayer, data: BuiltTensor, shape: Shape) -> BuiltTensor:
    return layer.emit("broadcast_to", BroadcastToAttrs(shape), (data,), layer.output())


def _shape(layer: FileLayer) -> BuiltTensor:
    output = layer.plain_output()
    if output.type.dtype not in (DType.INT32, DType.INT64):
        raise layer.invalid(f"has an output {output.type}; int32 or int64 is expected")
    # Shapes are fixed, so this one needs no node.
    return layer.define(np.array(layer.plain(0).type.shape, output.type.dtype.numpy))


def _rank(layer: FileLayer) -> BuiltTensor:
    return layer.define(np.array(len(layer.plain(0).type.shape), np.int32))


def _bitcast(layer: FileLayer) -> BuiltTensor:
    return layer.emit("bitcast", BitcastAttrs(), (layer.plain(0),), layer.plain_output())


def _reshaped(layer: FileLayer, data: BuiltTensor, shape: Shape) -> BuiltTensor:
    return layer.emit("reshape", ReshapeAttrs(shape), (data,), layer.output())


def _pad(layer: FileLayer) -> BuiltTensor:
    data, output = layer.data(0), layer.output()
    # TFLite pads with the stored value that means 0.
    attrs = PadAttrs(_pads(layer, data), output.type.zero)
    return layer.emit("nn.pad", attrs, (data,), output)


def _padv2(layer: FileLayer) -> BuiltTensor:
    data, output, filler = layer.data(0), layer.output(), layer.data(2)
    if filler.value is None:
        raise layer.unsupported(
            "pads with a value that is computed", supported="a constant value to pad with"
        )
    expected = (output.type.dtype, output.type.quant)
    if filler.value.size != 1 or (filler.type.dtype, filler.type.quant) != expected:
        raise layer.invalid(
            f"pads with {filler.type}; one value of the output's dtype and quantization is expected"
        )
    attrs = PadAttrs(_pads(layer, data), filler.value.item())
    return layer.emit("nn.pad", attrs, (data,), output)


def _mirror_pad(layer: FileLayer) -> BuiltTensor:
    data = layer.data(0)
    mode = layer.option("Mode")
    if mode not in (MirrorPadMode.REFLECT, MirrorPadMode.SYMMETRIC):
        raise layer.invalid(f"has the mode {mode}; REFLECT (0) or SYMMETRIC (1) is expected")
    attrs = MirrorPadAttrs(_pads(layer, data), mode == MirrorPadMode.SYMMETRIC)
    return layer.emit("nn.mirror_pad", attrs, (data,), layer.output())


def _pads(layer: FileLayer, data: BuiltTensor) -> tuple[Pair, ...]:
    amounts, rank = layer.integers(1), len(data.type.shape)
    if amounts.shape != (rank, 2):
        raise layer.invalid(
            f"has paddings of shape {list(amounts.shape)}; [{rank}, 2] is expected for {data.type}"
        )
    if amounts.size and amounts.min() < 0:
        raise layer.invalid(f"has the negative padding {amounts.min()}")
    return tuple((int(before), int(after)) for before, after in amounts)


def _passed_on(layer: FileLayer) -> BuiltTensor:
    """The input's stored values under another name and type."""
    layer.expect_inputs(1, outputs=1)
    data = layer.plain(0)
    attrs = ReinterpretAttrs(data.shape)
    return layer.emit("qnn.reinterpret", attrs, (data,), layer.plain_output())


IMPORTERS = {
    "BROADCAST_TO": Importer(_broadcast_to, (2,)),
    "EXPAND_DIMS": Importer(_expand_dims, (2,)),
    "FILL": Importer(_fill, (2,), optional=FillOptions),
    "BITCAST": Importer(_bitcast, (1,), optional=BitcastOptions),
    "RANK": Importer(_rank, (1,), optional=RankOptions),
    "RESHAPE": Importer(_reshape, (1, 2), optional=ReshapeOptions),
    "SHAPE": Importer(_shape, (1,), optional=ShapeOptions),
    "SQUEEZE": Importer(_squeeze, (1,), optional=SqueezeOptions),
    "MIRROR_PAD": Importer(_mirror_pad, (2,), MirrorPadOptions),
    "PAD": Importer(_pad, (2,)),
    "PADV2": Importer(_padv2, (3,)),
    COMPOSITE: _passed_on,
}
