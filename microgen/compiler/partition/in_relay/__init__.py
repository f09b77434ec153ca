"""Expresses nodes of the kernel graph in Relay: the inverse of frontends/relay.

float32 nodes have a form in Relay, and so do int32 nodes without quantization, because both compute
the same numbers. Quantized nodes have none, because TFLite does not round as Relay's qnn does.
"""

from __future__ import annotations

from microgen import relay
from microgen.compiler.partition.in_relay.forms import FORMS, NoFormError, Said
from microgen.graph.ir.graph import ArrayType, DType, Graph, Node
from microgen.relay.infer_type import infer_type

__all__ = ["NoFormError", "module", "supported", "tensor_type"]

_DTYPES = (DType.FLOAT32, DType.INT32)  # Relay computes the same numbers as the model's format


def supported() -> tuple[str, ...]:
    """Names of the ops that have a form, sorted."""
    return tuple(sorted(FORMS))


def tensor_type(tensor: ArrayType) -> relay.TensorType:
    """Relay's type of a tensor."""
    return relay.TensorType(tensor.shape, tensor.dtype.value)


def module(node: Node, graph: Graph) -> relay.IRModule:
    """A module whose @main is the node, with its types. The parameters are the inputs that are not
    constant, each once, with the tensors' names. Raises NoFormError with the reason."""
    types = graph.type_of((*node.inputs, *node.outputs))
    for tensor in types:
        _check(tensor)
    form = FORMS.get(node.op)
    if form is None:
        raise NoFormError(f"{node.op} has no form in Relay")
    operands = {name: _operand(name, graph) for name in node.inputs}
    inputs = graph.type_of(node.inputs)
    said = Said(node.op, node.attrs, inputs, types[-1], tuple(operands[n] for n in node.inputs))
    params = [value for value in operands.values() if isinstance(value, relay.Var)]
    return infer_type(relay.IRModule.from_expr(relay.Function(params, form(said))))


def _check(tensor: ArrayType) -> None:
    if tensor.quant is not None:
        raise NoFormError("it is quantized, and TFLite's rounding has no form in Relay")
    if tensor.dtype not in _DTYPES:
        raise NoFormError(f"{tensor} is neither float32 nor plain int32")
    if tensor.size == 0:
        raise NoFormError(f"{tensor} is empty")


def _operand(name: str, graph: Graph) -> relay.Expr:
    if name in graph.constants:
        return relay.Constant(graph.constants[name])
    return relay.Var(name, tensor_type(graph.types[name]))
