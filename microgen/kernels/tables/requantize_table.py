"""Kernels for qnn.requantize of int8 by a table of all results."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

import numpy as np

from microgen.graph.ir.graph import Array, ArrayType, DType, Graph, Node, Quant
from microgen.graph.ops.base import Operands
from microgen.graph.ops.quantization.rescale import REQUANTIZE, RequantizeAttrs
from microgen.kernels import base
from microgen.kernels.requantization import transforms
from microgen.kernels.unary import unary

OP_NAME = "qnn.requantize"
PRECEDENCE = 1

_KIND = "requantize_table"


def _table(sources: Sequence[Array], arguments: transforms.Arguments) -> Array:
    """The reference's result for each int8 value."""
    scales = [float(scale) for (scale,) in sources]
    zeros = [int(arguments[f"{name}_zero_point"]) for name in ("input", "output")]
    data, output = (
        ArrayType((256,), DType.INT8, Quant((s,), (z,))) for s, z in zip(scales, zeros, strict=True)
    )
    values = np.arange(-128, 128, dtype=np.int8)
    (results,) = REQUANTIZE.reference(RequantizeAttrs(), Operands((values,), (data,), (output,)))
    return results


def _constants(node: Node, graph: Graph) -> tuple[base.KernelConstant, ...]:
    (data,), output = base.types(node, graph)
    zeros = (("input_zero_point", data.zero_point), ("output_zero_point", output.zero_point))
    (name,), (result,) = node.inputs, node.outputs
    return (
        base.KernelConstant(
            "table", "int8_t", name, "scale", _KIND, zeros, more=((result, "scale"),)
        ),
    )


# The kernel of ``lookup``, mg_lookup_s8, with a table that the model does not have.
IMPLEMENTATIONS = (dataclasses.replace(unary.kernel("lookup", DType.INT8), constants=_constants),)

# requantize_table: the scales of the input and the output, float32 [1] each; ``input_zero_point``,
# ``output_zero_point``. int8 [256].
TRANSFORMS: Mapping[str, transforms.Function] = {_KIND: _table}
