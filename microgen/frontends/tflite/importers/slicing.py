"""Operators that return regular parts of a tensor, or parts at indices."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from tflite.DynamicUpdateSliceOptions import DynamicUpdateSliceOptions
from tflite.GatherNdOptions import GatherNdOptions
from tflite.ReverseV2Options import ReverseV2Options
from tflite.SplitOptions import SplitOptions
from tflite.SplitVOptions import SplitVOptions
from tflite.StridedSliceOptions import StridedSliceOptions
from tflite.UnpackOptions import UnpackOptions

from microgen.frontends.tflite.importers.arguments import (
    Importer,
    cut,
    integers,
    one_axis,
    resolved_axis,
)
from microgen.frontends.tflite.layers import FileLayer
from microgen.graph.builder import BuiltTensor, Value
from microgen.graph.ir.graph import DType
from microgen.graph.ops.base import Shape
from microgen.graph.ops.moves.indexed import GatherNdAttrs, TakeAttrs
from microgen.graph.ops.moves.slices import DynamicUpdateSliceAttrs, StridedSliceAttrs
from microgen.graph.ops.moves.views import ReinterpretAttrs, ReshapeAttrs
from microgen.graph.ops.quantization.conversions import DequantizeAttrs
from microgen.graph.ops.weight_only.weight_only import EmbeddingAttrs


def _slice(layer: FileLayer) -> BuiltTensor:
    data, begin, sizes = layer.data(0), integers(layer, 1), integers(layer, 2)
    shape = data.type.shape
    if not len(begin) == len(sizes) == len(shape):
        raise layer.invalid(f"slices {data.type} from {cut(begin)} with the sizes {cut(sizes)}")
    counts = tuple(
        # -1 means up to the end of the axis.
        size - start if count == -1 else count
        for size, start, count in zip(shape, begin, sizes, strict=True)
    )
    attrs = StridedSliceAttrs(begin, (1,) * len(shape), counts)
    return layer.emit("strided_slice", attrs, (data,), layer.output())


def _reverse_v2(layer: FileLayer) -> BuiltTensor:
    """A slice of everything, with a step of -1 along the axes."""
    data, stated = layer.data(0), integers(layer, 1)
    shape = data.type.shape
    axes = {resolved_axis(layer, axis, len(shape)) for axis in stated}
    if len(axes) < len(stated):
        raise layer.invalid(f"has the axes {cut(stated)}; each may be there once")
    begin = tuple(size - 1 if axis in axes else 0 for axis, size in enumerate(shape))
    strides = tuple(-1 if axis in axes else 1 for axis in range(len(shape)))
    attrs, output = StridedSliceAttrs(begin, strides, shape), layer.output()
    if data.type.quant and data.type.quant != output.type.quant:
        # LiteRT moves stored values and ignores their scales.
        view = ReinterpretAttrs(shape)
        data = layer.emit("qnn.reinterpret", view, (data,), quant=output.type.quant)
    return layer.emit("strided_slice", attrs, (data,), output)


def _update_slice(layer: FileLayer) -> BuiltTensor:
    data, update, index = layer.data(0), layer.data(1), layer.plain(2)
    if index.value is not None:
        limits = np.iinfo(np.int32)
        # The op moves indices outside of the data to its ends, so it is enough to keep their side.
        places = layer.integers(2).clip(limits.min, limits.max).astype(np.int32)
        index = layer.constant(places, f"{layer.output().name}/index")
    layer.expect(index, DType.INT32)
    attrs = DynamicUpdateSliceAttrs()
    return layer.emit("dynamic_update_slice", attrs, (data, update, index), layer.output())


# STRIDED_SLICE


@dataclass(frozen=True, slots=True)
class _Spec:
    """The constants of a STRIDED_SLICE: begin, end and stride of each entry, and the masks. Bit k
    of a mask belongs to entry k."""

    entries: tuple[tuple[int, int, int], ...]
    layer: FileLayer

    def masks(self, name: str, entry: int) -> bool:
        """Whether the entry's bit is set in the mask called ``name``."""
        return bool(self.layer.option(name) >> entry & 1)


def _strided_slice(layer: FileLayer) -> BuiltTensor:
    data = layer.data(0)
    vectors = [integers(layer, position) for position in (1, 2, 3)]
    if len({len(vector) for vector in vectors}) != 1:
        raise layer.invalid("has begin, end and strides of different lengths")
    if layer.option("Offset"):
        raise layer.unsupported(
            "counts its ends from its begins (offset)", supported="ends counted from the front"
        )
    spec = _Spec(tuple(zip(*vectors, strict=True)), layer)
    # LiteRT adds these axes, too, and then slices other axes than the entries say.
    if layer.option("NewAxisMask") >> len(vectors[0]):
        raise layer.invalid(f"adds axes for more than its {len(vectors[0])} entries")
    axes, shape = _axes(layer, spec, data.type.shape)
    begin, strides, counts = zip(*axes, strict=True) if axes else ((), (), ())
    attrs = StridedSliceAttrs(begin, strides, counts)
    return _reshaped_slice(layer, data, attrs, layer.output(), tuple(shape))


def _axes(
    layer: FileLayer, spec: _Spec, shape: Shape
) -> tuple[list[tuple[int, int, int]], list[int]]:
    """(begin, stride, count) for each axis of the data, and the output's shape."""
    axes: list[tuple[int, int, int]] = []
    output: list[int] = []
    for entry, (begin, end, stride) in enumerate(spec.entries):
        if spec.masks("EllipsisMask", entry):
            spare = len(shape) - len(axes) - _axes_after(spec, entry)
            if spare < 1:
                raise layer.unsupported(
                    "has an ellipsis for no axis, which LiteRT reads as one axis",
                    supported="an ellipsis for one axis or more",
                )
            whole = shape[len(axes) : len(axes) + spare]
            axes += [(0, 1, size) for size in whole]
            output += whole
        elif spec.masks("NewAxisMask", entry):
            output.append(1)
        elif len(axes) == len(shape):
            raise layer.invalid(
                f"slices more than {len(shape)} axes, but its input has no more of them"
            )
        elif spec.masks("ShrinkAxisMask", entry):
            if stride < 1:
                raise layer.invalid(f"removes an axis with the stride {stride}; 1 is expected")
            # As in LiteRT, the begin mask applies here, too.
            index = 0 if spec.masks("BeginMask", entry) else begin
            axes.append((resolved_axis(layer, index, shape[len(axes)]), 1, 1))
        else:
            first = None if spec.masks("BeginMask", entry) else begin
            last = None if spec.masks("EndMask", entry) else end
            axes.append(_range(layer, slice(first, last, stride), shape[len(axes)]))
            output.append(axes[-1][2])
    # Axes without an entry are taken whole.
    others = shape[len(axes) :]
    return [*axes, *((0, 1, size) for size in others)], [*output, *others]


def _axes_after(spec: _Spec, entry: int) -> int:
    """The number of the data's axes that belong to the entries after an ellipsis."""
    later = range(entry + 1, len(spec.entries))
    return sum(not spec.masks("NewAxisMask", k) for k in later)


def _range(layer: FileLayer, part: slice, size: int) -> tuple[int, int, int]:
    """Begin, stride and count of a slice of an axis, limited to the axis as in Python."""
    if not part.step:
        raise layer.invalid("has a stride of 0")
    places = range(*part.indices(size))
    if not places:
        raise layer.invalid(f"takes nothing from an axis of {size} elements")
    return places.start, places.step, len(places)


def _reshaped_slice(
    layer: FileLayer, data: BuiltTensor, attrs: StridedSliceAttrs, output: BuiltTensor, shape: Shape
) -> BuiltTensor:
    """The slice, followed by a reshape if axes are added or removed."""
    if attrs.shape == shape:
        return layer.emit("strided_slice", attrs, (data,), output)
    part = layer.emit("strided_slice", attrs, (data,), hint=f"{output.name}/slice")
    return layer.emit("reshape", ReshapeAttrs(shape), (part,), output)


# Several outputs


def _split(layer: FileLayer) -> Value:
    count = layer.option("NumSplits")
    layer.expect_inputs(2, outputs=count)
    data, outputs = layer.data(1), layer.outputs()
    axis = one_axis(layer, 0, len(data.type.shape))
    size = data.type.shape[axis]
    if size % count:
        raise layer.invalid(f"splits {size} elements of axis {axis} into {count} equal parts")
    return _parts(layer, data, axis, [size // count] * count, outputs)


def _split_v(layer: FileLayer) -> Value:
    layer.expect_inputs(3, outputs=layer.option("NumSplits"))
    data, sizes, outputs = layer.data(0), integers(layer, 1), layer.outputs()
    axis = one_axis(layer, 2, len(data.type.shape))
    whole = data.type.shape[axis]
    # One part may be -1 and gets what the others leave.
    remaining = whole - sum(size for size in sizes if size != -1)
    resolved = [remaining if size == -1 else size for size in sizes]
    if len(sizes) != len(outputs) or sizes.count(-1) > 1 or sum(resolved) != whole:
        raise layer.invalid(f"splits {whole} elements of axis {axis} into parts of {cut(sizes)}")
    return _parts(layer, data, axis, resolved, outputs)


def _unpack(layer: FileLayer) -> Value:
    count = layer.option("Num")
    layer.expect_inputs(1, outputs=count)
    data, outputs = layer.data(0), layer.outputs()
    axis = resolved_axis(layer, layer.option("Axis"), len(data.type.shape))
    if data.type.shape[axis] != count:
        raise layer.invalid(f"unpacks {count} tensors from axis {axis} of {data.type}")
    return _parts(layer, data, axis, [1] * count, outputs, keep_axis=False)


def _parts(
    layer: FileLayer,
    data: BuiltTensor,
    axis: int,
    sizes: Sequence[int],
    outputs: Sequence[BuiltTensor],
    *,
    keep_axis: bool = True,
) -> Value:
    """One slice for each output. The slices follow each other along the axis."""
    shape = data.type.shape
    parts: list[BuiltTensor] = []
    for i, (size, output) in enumerate(zip(sizes, outputs, strict=True)):
        begin = tuple(sum(sizes[:i]) if k == axis else 0 for k in range(len(shape)))
        part = (*shape[:axis], size, *shape[axis + 1 :])
        attrs = StridedSliceAttrs(begin, (1,) * len(shape), part)
        final = part if keep_axis else (*shape[:axis], *shape[axis + 1 :])
        parts.append(_reshaped_slice(layer, data, attrs, output, final))
    return tuple(parts)


def _embedding_lookup(layer: FileLayer) -> BuiltTensor:
    """Rows of a table."""
    ids, output = layer.plain(0), layer.output()
    layer.expect(ids, DType.INT32)
    layer.expect_rank(ids, 1)
    # Hybrid tables have rows of int8, and an output of float32.
    table = layer.plain(1)
    if table.dtype is not DType.INT8 or output.dtype is not DType.FLOAT32:
        return layer.emit("take", TakeAttrs(0), (layer.data(1), ids), output)
    quant = table.type.quant
    if quant is not None and any(quant.zero_point):
        raise layer.unsupported(
            f"has rows with the zero point {max(quant.zero_point, key=abs)}, which LiteRT refuses, "
            "too",
            supported="rows with the zero point 0",
        )
    if table.is_int4 and math.prod(table.shape[1:]) % 2:
        raise layer.unsupported(
            f"has int4 rows of {math.prod(table.shape[1:])} numbers, which LiteRT mixes up",
            supported="int4 rows of an even number of numbers",
        )
    if table.value is not None and quant is not None:
        return layer.emit("nn.embedding", EmbeddingAttrs(), (ids, table), output)
    # The rows are chosen before they are dequantized, because the table has many more of them.
    rows = layer.data(1)
    taken = layer.emit("take", TakeAttrs(0), (rows, ids), hint=f"{output.name}/rows")
    return layer.emit("qnn.dequantize", DequantizeAttrs(), (taken,), output)


def _gather_nd(layer: FileLayer) -> BuiltTensor:
    """A ``take`` from the data whose first axes are merged into one, if the indices are constants
    or of one axis."""
    data, indices, output = layer.data(0), layer.plain(1), layer.output()
    depth = indices.shape[-1] if indices.shape else 0
    if not 1 <= depth <= len(data.shape):
        raise layer.invalid(
            f"has indices {indices.type} of {data.type}; their last axis must have 1 to "
            f"{len(data.shape)} numbers, one for each axis"
        )
    if indices.value is not None:
        places = _constant_places(layer, data.shape[:depth])
    elif depth == 1:
        layer.expect(indices, DType.INT32, DType.INT64)
        flat = ReshapeAttrs(indices.shape[:-1])
        places = layer.emit("reshape", flat, (indices,), hint=f"{output.name}/places")
    else:
        return layer.emit("gather_nd", GatherNdAttrs(), (data, indices), output)
    merged = ReshapeAttrs((math.prod(data.shape[:depth]), *data.shape[depth:]))
    rows = layer.emit("reshape", merged, (data,), hint=f"{output.name}/merged")
    return layer.emit("take", TakeAttrs(0), (rows, places), output)


def _constant_places(layer: FileLayer, axes: Shape) -> BuiltTensor:
    """Constant indices as int32 positions along the merged axis."""
    indices = layer.integers(1)
    if (indices < 0).any() or (indices >= np.array(axes)).any():
        rows = indices.reshape(-1, len(axes))
        least, most = (tuple(corner.tolist()) for corner in (rows.min(0), rows.max(0)))
        raise layer.invalid(
            f"has indices from {cut(least)} to {cut(most)}; {cut((0,) * len(axes))} to "
            f"{cut(tuple(size - 1 for size in axes))} are expected"
        )
    places = indices @ np.array([math.prod(axes[k + 1 :]) for k in range(len(axes))])
    return layer.constant(places.astype(np.int32), f"{layer.output().name}/places")


IMPORTERS = {
    "DYNAMIC_UPDATE_SLICE": Importer(_update_slice, (3,), optional=DynamicUpdateSliceOptions),
    "REVERSE_V2": Importer(_reverse_v2, (2,), optional=ReverseV2Options),
    "SLICE": Importer(_slice, (3,)),
    "SPLIT": Importer(_split, options=SplitOptions),
    "SPLIT_V": Importer(_split_v, options=SplitVOptions),
    "STRIDED_SLICE": Importer(_strided_slice, (4,), StridedSliceOptions),
    "UNPACK": Importer(_unpack, options=UnpackOptions),
    "EMBEDDING_LOOKUP": Importer(_embedding_lookup, (2,)),
    "GATHER_ND": Importer(_gather_nd, (2,), optional=GatherNdOptions),
}
