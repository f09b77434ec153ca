"""What kernels with state share."""

from __future__ import annotations

from microgen.ir.graph import DType, Graph, Node
from microgen.kernels import base
from microgen.ops import registry as ops

_C_TYPES = {
    DType.INT8: "int8_t",
    DType.INT16: "int16_t",
    DType.INT32: "int32_t",
    DType.FLOAT32: "float",
}


def constants_but_variables(dtype: DType) -> base.Refuse:
    """Refusal unless the data is of that dtype, and all else that is no variable a constant."""

    def refusal(node: Node, graph: Graph) -> str | None:
        variables = ops()[node.op].writes(node.attrs, len(node.inputs))
        for position, name in enumerate(node.inputs):
            if position and position not in variables and name not in graph.constants:
                return f"{name!r} is computed at run time, the kernel needs a constant"
        return base.only(dtype)(node, graph)

    return refusal


def constant(name: str, tensor: str, graph: Graph) -> base.KernelConstant:
    """The data of a constant of the graph; ``tensor`` is empty where the kernel takes NULL."""
    ctype = _C_TYPES[graph.types[tensor].dtype] if tensor else ""
    return base.KernelConstant(name, ctype, tensor)


def scale_fields(name: str, scale: tuple[int, int]) -> base.Fields:
    """A (multiplier, shift) as two fields."""
    multiplier, shift = scale
    return ((f"{name}_multiplier", multiplier), (f"{name}_shift", shift))
