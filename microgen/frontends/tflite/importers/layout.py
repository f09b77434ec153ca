"""Operators that reorder elements, or that join tensors."""

from __future__ import annotations

import math

from tflite.ConcatenationOptions import ConcatenationOptions
from tflite.DepthToSpaceOptions import DepthToSpaceOptions
from tflite.PackOptions import PackOptions
from tflite.SpaceToDepthOptions import SpaceToDepthOptions

from microgen.frontends.tflite.importers.arguments import Importer, cut, integers, resolved_axis
from microgen.frontends.tflite.layers import FileLayer
from microgen.frontends.tflite.quantization import rescaling
from microgen.graph.arithmetic.terms import Activation
from microgen.graph.builder import BuiltTensor
from microgen.graph.ir.graph import ArrayType, Attrs
from microgen.graph.ops.base import Pair, Shape
from microgen.graph.ops.moves.layouts import ConcatenateAttrs, TransposeAttrs
from microgen.graph.ops.moves.pads import PadAttrs
from microgen.graph.ops.moves.slices import StridedSliceAttrs
from microgen.graph.ops.moves.views import ReshapeAttrs
from microgen.graph.ops.tables.tables import LookupAttrs


def _concatenation(layer: FileLayer) -> BuiltTensor:
    inputs = layer.operands()
    if layer.activation() is not Activation.NONE:
        raise layer.unsupported(
            "has a fused activation, which LiteRT refuses, too",
            supported="concatenations without an activation",
        )
    axis = resolved_axis(layer, layer.option("Axis"), len(inputs[0].type.shape))
    output = layer.output()
    if layer.makes_unsigned():
        inputs = tuple(_rescaled(layer, tensor, output.type) for tensor in inputs)
    return layer.emit("concatenate", ConcatenateAttrs(axis), inputs, output)


def _rescaled(layer: FileLayer, data: BuiltTensor, output: ArrayType) -> BuiltTensor:
    if data.type.quant == output.quant:
        return data
    hint = f"{layer.output().name}/rescaled"
    # LiteRT changes the quantization for uint8 only.
    table = layer.constant(rescaling(data.type, output), f"{hint}/table", output.quant)
    attrs = LookupAttrs("qnn.requantize")
    return layer.emit("lookup", attrs, (data, table), quant=output.quant, hint=hint)


def _pack(layer: FileLayer) -> BuiltTensor:
    inputs = layer.operands()
    output, shape = layer.output(), inputs[0].type.shape
    axis = resolved_axis(layer, layer.option("Axis"), len(shape) + 1)
    one = ReshapeAttrs((*shape[:axis], 1, *shape[axis:]))
    if any(tensor.type.shape != shape for tensor in inputs):
        raise layer.invalid("packs tensors of different shapes")
    # A single tensor needs no concatenation.
    if len(inputs) == 1:
        return layer.emit("reshape", one, inputs, output)
    rows = [_inner(layer, "reshape", one, tensor) for tensor in inputs]
    return layer.emit("concatenate", ConcatenateAttrs(axis), rows, output)


def _transpose(layer: FileLayer) -> BuiltTensor:
    data, order = layer.data(0), integers(layer, 1)
    rank = len(data.type.shape)
    axes = tuple(resolved_axis(layer, axis, rank) for axis in order)
    return layer.emit("transpose", TransposeAttrs(axes), (data,), layer.output())


# A block operator is three nodes: a reshape that gives the positions inside a block axes of their
# own, a transposition, and a reshape that merges these axes with others. Sources: TFLite
# reference/space_to_depth.h, depth_to_space.h, space_to_batch_nd.h, batch_to_space_nd.h.


def _space_to_depth(layer: FileLayer) -> BuiltTensor:
    data, block = _image(layer), _block_size(layer)
    n, height, width, channels = data.type.shape
    if height % block or width % block:
        raise layer.invalid(f"has blocks of {block}, which do not divide {data.type}")
    parts = (n, height // block, block, width // block, block, channels)
    final = (n, height // block, width // block, block * block * channels)
    return _moved(layer, data, parts, (0, 1, 3, 2, 4, 5), final)


def _depth_to_space(layer: FileLayer) -> BuiltTensor:
    data, block = _image(layer), _block_size(layer)
    n, height, width, channels = data.type.shape
    if channels % (block * block):
        raise layer.invalid(f"has blocks of {block}, whose square does not divide {data.type}")
    depth = channels // (block * block)
    parts = (n, height, width, block, block, depth)
    final = (n, height * block, width * block, depth)
    return _moved(layer, data, parts, (0, 1, 3, 2, 4, 5), final)


def _space_to_batch_nd(layer: FileLayer) -> BuiltTensor:
    data, output = layer.data(0), layer.output()
    blocks, pads = _blocks(layer, data, "paddings")
    around = ((0, 0), *pads, *((0, 0),) * (len(data.type.shape) - 1 - len(pads)))
    is_padded = any(map(any, around))
    # TFLite pads with the stored value that means 0.
    padding = PadAttrs(around, output.type.zero)
    shape = layer.inferred("nn.pad", padding, (data,)) if is_padded else data.shape
    (n, *sizes), m = shape, len(blocks)
    if any(size % block for size, block in zip(sizes, blocks, strict=False)):
        padded = ArrayType(shape, data.dtype)
        raise layer.invalid(f"has blocks of {cut(blocks)}, which do not divide {padded}")
    inner = [size // block for size, block in zip(sizes, blocks, strict=False)]
    parts = (n, *(k for pair in zip(inner, blocks, strict=True) for k in pair), *sizes[m:])
    places, images = range(2, 2 * m + 1, 2), range(1, 2 * m + 1, 2)
    axes = (*places, 0, *images, *range(2 * m + 1, len(parts)))
    if is_padded:
        data = _inner(layer, "nn.pad", padding, data)
    return _moved(layer, data, parts, axes, (n * math.prod(blocks), *inner, *sizes[m:]))


def _batch_to_space_nd(layer: FileLayer) -> BuiltTensor:
    data, output = layer.data(0), layer.output()
    blocks, crops = _blocks(layer, data, "crops")
    batches, *sizes = data.type.shape
    m, count = len(blocks), math.prod(blocks)
    if batches % count:
        raise layer.invalid(f"has blocks of {cut(blocks)}, which do not divide {data.type}")
    n = batches // count
    whole = (n, *(a * b for a, b in zip(sizes, blocks, strict=False)), *sizes[m:])
    parts = (*blocks, n, *sizes)
    axes = (m, *(k for i in range(m) for k in (m + 1 + i, i)), *range(2 * m + 1, len(parts)))
    if not any(map(any, crops)):
        return _moved(layer, data, parts, axes, whole)
    # Only spatial axes are cut; the batch and the channels remain whole.
    begin = (0, *(before for before, _ in crops), *(0 for _ in sizes[m:]))
    after = (0, *(after for _, after in crops), *(0 for _ in sizes[m:]))
    shape = tuple(w - b - a for w, b, a in zip(whole, begin, after, strict=True))
    inside = StridedSliceAttrs(begin, (1,) * len(whole), shape)
    uncut = _moved(layer, data, parts, axes, whole, is_cut=True)
    return layer.emit("strided_slice", inside, (uncut,), output)


def _image(layer: FileLayer) -> BuiltTensor:
    data = layer.data(0)
    layer.expect_rank(data, 4)
    return data


def _block_size(layer: FileLayer) -> int:
    block = layer.option("BlockSize")
    if block < 1:
        raise layer.invalid(f"has the block size {block}; at least 1 is expected")
    return block


def _blocks(
    layer: FileLayer, data: BuiltTensor, what: str
) -> tuple[tuple[int, ...], tuple[Pair, ...]]:
    """The block sizes of the spatial axes, and the numbers of elements that are added or cut at
    both ends of each."""
    blocks, sides = integers(layer, 1), layer.integers(2)
    rank = len(data.type.shape)
    if rank not in (3, 4) or len(blocks) != rank - 2 or sides.shape != (rank - 2, 2):
        raise layer.invalid(
            f"has blocks {cut(blocks)} and {what} of shape {list(sides.shape)} for {data.type}"
        )
    if min(blocks) < 1 or sides.min() < 0:
        raise layer.invalid(f"has blocks {cut(blocks)} and {what} {sides.tolist()}")
    return blocks, tuple((int(before), int(after)) for before, after in sides)


def _moved(
    layer: FileLayer,
    data: BuiltTensor,
    parts: Shape,
    axes: tuple[int, ...],
    final: Shape,
    *,
    is_cut: bool = False,
) -> BuiltTensor:
    """The data in the shape ``parts``, with its axes reordered, in the shape ``final``. The result
    is the operator's output, unless ``is_cut``: then a slice follows."""
    output = layer.output()
    split = _inner(layer, "reshape", ReshapeAttrs(parts), data)
    moved = _inner(layer, "transpose", TransposeAttrs(axes), split)
    uncut = f"{output.name}/uncut"
    return layer.emit(
        "reshape", ReshapeAttrs(final), (moved,), None if is_cut else output, hint=uncut
    )


def _inner(layer: FileLayer, op: str, attrs: Attrs, data: BuiltTensor) -> BuiltTensor:
    """The output of an inner node of an operator, with the data's quantization."""
    return layer.emit(op, attrs, (data,), hint=f"{layer.output().name}/{op.removeprefix('nn.')}")


IMPORTERS = {
    "BATCH_TO_SPACE_ND": Importer(_batch_to_space_nd, (3,)),
    "CONCATENATION": Importer(_concatenation, options=ConcatenationOptions),
    "DEPTH_TO_SPACE": Importer(_depth_to_space, (1,), DepthToSpaceOptions),
    "PACK": Importer(_pack, options=PackOptions),
    "SPACE_TO_BATCH_ND": Importer(_space_to_batch_nd, (3,)),
    "SPACE_TO_DEPTH": Importer(_space_to_depth, (1,), SpaceToDepthOptions),
    "TRANSPOSE": Importer(_transpose, (2,)),
}
