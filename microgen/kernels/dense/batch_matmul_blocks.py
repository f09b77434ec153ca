"""Kernels for nn.batch_matmul that compute four columns at a time, for the Arm DSP extension and
for MVE."""

from __future__ import annotations

import dataclasses
import math

import numpy as np

from microgen.graph.arithmetic.in_float32 import scale_of_sums
from microgen.graph.ir.graph import Graph, Node
from microgen.graph.ops.dense.batch_matmul import BatchMatmulAttrs, largest, matrices, scale
from microgen.kernels import base
from microgen.kernels.dense import batch_matmul
from microgen.kernels.elementwise import in_float32
from microgen.kernels.requantization.narrow import FLOAT_SHIFT, SUM_LIMIT
from microgen.kernels.work import Work, common
from microgen.target.cpu import Feature

OP_NAME = batch_matmul.OP_NAME
PRECEDENCE = 1
_COLUMNS = 4  # that are computed at a time
_QUAD = 32  # bytes: MG_MATMUL_QUAD words of four values of these
_BLOCKS, _MVE = "batch_matmul_s8_blocks", "batch_matmul_s8_mve"
_SCALED = 2**31 - 256  # limit of scaled sums: with a zero point they fit int32


def _sizes(node: Node, graph: Graph) -> tuple[int, int, int]:
    """Rows, depth and columns."""
    rows, depth, _, columns = matrices(
        base.attrs_of(node, BatchMatmulAttrs), *graph.type_of(node.inputs)
    )
    return rows, depth, columns


def _few_columns(node: Node, graph: Graph) -> str | None:
    columns = _sizes(node, graph)[2]
    if columns < _COLUMNS:
        return f"there are {columns} columns, the kernel computes {_COLUMNS} at a time"
    return None


def _largest(node: Node, graph: Graph) -> int:
    return largest(base.attrs_of(node, BatchMatmulAttrs), *graph.type_of(node.inputs))


def _narrow(node: Node, graph: Graph) -> str | None:
    """Refusal unless the requantization may be a narrow one."""
    attrs, tensors = base.attrs_of(node, BatchMatmulAttrs), (*node.inputs, *node.outputs)
    multiplier, shift = scale(attrs, *graph.type_of(tensors))
    if shift >= 0 and multiplier:
        return "its scale is 1/2 or more, the kernel takes less"
    # MG_ROUND_FLOAT_NARROW sees ties in the bits of a high word, which smaller scales leave.
    if attrs.in_float32 and shift < -FLOAT_SHIFT:
        return f"its scale is below 2**-{FLOAT_SHIFT}, the kernel takes no such scale"
    if (worst := _largest(node, graph)) > SUM_LIMIT:
        return f"sums may reach {worst}, the kernel takes {SUM_LIMIT}"
    return _few_columns(node, graph)


def _fpu(node: Node, graph: Graph) -> str | None:
    """Refusal unless scaled sums fit int32."""
    worst = _largest(node, graph) * _float_scale(node, graph)
    if worst < _SCALED:
        return None
    return f"scaled sums may reach {worst:g}, the kernel takes {_SCALED}"


def _float_scale(node: Node, graph: Graph) -> float:
    return float(scale_of_sums(*graph.type_of((*node.inputs, *node.outputs)))[0])


def _fpu_of_columns(node: Node, graph: Graph) -> str | None:
    return _few_columns(node, graph) or _fpu(node, graph)


def _narrow_params(node: Node, graph: Graph) -> base.Fields:
    """The parameters, with the rounding shift."""
    fields = dict(batch_matmul.params(node, graph))
    shift = fields["shift"]
    assert isinstance(shift, int)
    return (*(fields | {"shift": -1 - shift if fields["multiplier"] else 0}).items(),)


def _fpu_params(node: Node, graph: Graph) -> base.Fields:
    """The parameters, with the bits of the scale as float32."""
    bits = int(np.float32(_float_scale(node, graph)).view(np.int32))
    return (*(dict(batch_matmul.params(node, graph)) | {"multiplier": bits, "shift": 0}).items(),)


def _row(node: Node, graph: Graph) -> int:
    """Bytes of a row, if it is copied because its values are not contiguous."""
    return _sizes(node, graph)[1] * base.attrs_of(node, BatchMatmulAttrs).transpose_a


def _packed(node: Node, graph: Graph) -> int:
    """Bytes of four columns in words, and of a row."""
    depth = _sizes(node, graph)[1]
    return _QUAD * -(-depth // 4) + _row(node, graph)


def _copied(node: Node, graph: Graph) -> int:
    """Bytes of four columns, if their values are not contiguous, and of a row."""
    is_copied = not base.attrs_of(node, BatchMatmulAttrs).transpose_b
    # Not 0, because calls without scratch memory do not pass it.
    return max(_COLUMNS * _sizes(node, graph)[1] * is_copied + _row(node, graph), 4)


def _work(node: Node, graph: Graph) -> Work:
    """Blocks of four columns, and their values; their products with rows: values in groups of
    four, in vectors, and that are left; values of rows and of columns that are copied."""
    attrs = base.attrs_of(node, BatchMatmulAttrs)
    rows, depth, columns = _sizes(node, graph)
    # Columns are packed again for each matrix of the batch, even if rhs is broadcast.
    output = graph.types[node.outputs[0]]
    blocks = math.prod(output.shape[:-2]) * -(-columns // _COLUMNS)
    return {
        **common(node, graph),
        "matmul_block": blocks,
        "matmul_packed": blocks * depth,
        "matmul_copied": blocks * depth * (not attrs.transpose_b),
        "matmul_row": blocks * rows,
        "matmul_quad": blocks * rows * (depth // 4),
        "matmul_ragged": blocks * rows * (depth % 4 != 0),
        "matmul_left": blocks * rows * (depth % 4),
        "matmul_vector": blocks * rows * -(-depth // 16),
        "matmul_gathered": blocks * rows * depth * attrs.transpose_a,
    }


def _kernel(
    header: str,
    name: str,
    constant: str,
    refusal: base.Refuse = _narrow,
    params: base.Params = _narrow_params,
) -> base.Implementation:
    """A kernel of ``batch_matmul_s8_blocks.h`` or ``batch_matmul_s8_mve.h``."""
    is_mve = header == _MVE
    suffix = "mve" if is_mve else "dsp"
    return base.Implementation(
        symbol="_".join(filter(None, ("mg_batch_matmul_s8", name, suffix))),
        needs=base.MVE if is_mve else base.DSP,
        refusal=batch_matmul.of_int8(refusal),
        params=params,
        inputs=(0, 1),
        scratch=_copied if is_mve else _packed,
        family=header,
        variant=(constant,),
        loop=f"mg_batch_matmul_s8_{suffix}",
        work=_work,
    )


def _like(
    kernel: base.Implementation,
    of: base.Implementation,
    needs: frozenset[Feature] = base.REFERENCE,
    cores: tuple[str, ...] = (),
) -> base.Implementation:
    """The kernel, which has the costs ``of`` another one."""
    return dataclasses.replace(kernel, measured_as=of, needs=kernel.needs | needs, cores=cores)


_TWICE_MVE = _kernel(_MVE, "", "MG_ROUND_TWICE", base.any_node, batch_matmul.params)
_FLOAT_MVE = _kernel(_MVE, "fpu", "MG_ROUND_FLOAT_FPU", _fpu, _fpu_params)
_TWICE = _kernel(_BLOCKS, "", "MG_ROUND_TWICE_NARROW")
_NEAREST = _kernel(_BLOCKS, "nearest", "MG_ROUND_NEAREST", _few_columns, batch_matmul.params)
_FPU = _kernel(_BLOCKS, "fpu", "MG_ROUND_FLOAT_FPU", _fpu_of_columns, _fpu_params)
_FLOAT = _kernel(_BLOCKS, "float", "MG_ROUND_FLOAT_NARROW")

IMPLEMENTATIONS = (
    batch_matmul.rounding(_TWICE_MVE, once=False),
    in_float32.only(_like(_FLOAT_MVE, _TWICE_MVE, base.MVE_FLOAT)),
    batch_matmul.rounding(_TWICE, once=False),
    batch_matmul.rounding(_like(_NEAREST, _TWICE), once=True),
    in_float32.only(_like(_FPU, _TWICE, base.FPU)),
    in_float32.only(_like(_FLOAT, _TWICE, cores=base.FLOAT_CORES)),
)
