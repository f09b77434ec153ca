"""Functions of single integers, whose results fit a table, and clamps of stored integers."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass

import numpy as np

from microgen.graph.arithmetic import in_float32
from microgen.graph.arithmetic.int8 import activation_range, float_range
from microgen.graph.arithmetic.terms import Activation
from microgen.graph.ir.graph import Array, ArrayType, DType, Graph, Node
from microgen.graph.ops import budget, registry
from microgen.graph.ops.base import Operands, StatusError
from microgen.graph.ops.tables.tables import LookupAttrs
from microgen.graph.ops.unary.activations import ClipAttrs
from microgen.graph.ops.unary.real_function import RealFunctionAttrs
from microgen.graph.ops.unary.unary import EVERY_INT8
from microgen.graph.qdq.rewriting import Rewriting

ELEMENTWISE = frozenset(
    {
        *("abs", "cast", "ceil", "clip", "cos", "exp", "floor", "log", "logical_not", "negative"),
        *("real_function", "round", "rsqrt", "sigmoid", "sin", "sqrt", "tanh"),
        *("nn.elu", "nn.hard_swish", "nn.leaky_relu", "nn.prelu"),
        *("add", "divide", "floor_divide", "floor_mod", "fmod", "maximum", "minimum", "multiply"),
        *("power", "squared_difference", "subtract"),
        *("equal", "greater", "greater_equal", "less", "less_equal", "not_equal"),
        *("logical_and", "logical_or", "where"),
    }
)
_MOST_NODES = 64  # of one function


def follow(rewriting: Rewriting, node: Node) -> None:
    """Note the integers from which the node computes its output, element by element."""
    if node.op not in ELEMENTWISE:
        return
    shape = rewriting.graph.types[node.outputs[0]].shape
    sources: set[str | None] = set()
    for name in node.inputs:
        if not is_number(rewriting, name):
            sources.add(rewriting.source.get(name))
    # A table is of one argument: nothing else may vary.
    (source, *others) = sources or {None}
    if source is not None and not others and rewriting.types[source].shape == shape:
        rewriting.source[node.outputs[0]] = source


def is_number(rewriting: Rewriting, name: str) -> bool:
    """Whether a tensor is a constant of one element."""
    return name in rewriting.graph.constants and rewriting.graph.types[name].size == 1


def table(rewriting: Rewriting, tensor: str, output: ArrayType) -> Array | None:
    """The stored value of ``tensor``, as an output of that type, for each of its integers from -128
    on: int8[256]. None if the function has too many steps, or no result for a value.

    Source: ONNX's operators DequantizeLinear and QuantizeLinear, in float32.
    """
    integers = rewriting.types[rewriting.source[tensor]]
    if integers.dtype is not DType.INT8 or output.dtype is not DType.INT8:
        return None
    results = evaluated(rewriting, tensor, in_float32.real(EVERY_INT8, integers))
    if results is None:
        return None
    return np.asarray(np.clip(in_float32.stored(results, output), -128, 127).astype(np.int8))


def evaluated(rewriting: Rewriting, tensor: str, numbers: Array) -> Array | None:
    """The results of the function that computes ``tensor`` from integers, for arguments that are
    ``numbers``, float32 [n]. None if the function has too many steps, or no result for a number."""
    steps = between(rewriting, tensor)
    if steps is None:
        return None
    values = {tensor: numbers} | dict.fromkeys(_beginnings(rewriting, steps), numbers)
    try:
        for node in steps:
            values[node.outputs[0]] = _result(rewriting, node, values, numbers.shape)
    except StatusError:
        return None
    return values[tensor]


def between(rewriting: Rewriting, tensor: str) -> list[Node] | None:
    """The nodes between integers and the tensor that is computed from them, in order; None if there
    are too many."""
    nodes: dict[str, Node] = {}
    pending = [tensor]
    while pending:
        name = pending.pop()
        if name in rewriting.meaning or name in nodes or is_number(rewriting, name):
            continue
        nodes[name] = rewriting.producers[name]
        pending.extend(nodes[name].inputs)
        if len(nodes) > _MOST_NODES:
            return None
    return [nodes[name] for name in sorted(nodes, key=rewriting.order.__getitem__)]


def _beginnings(rewriting: Rewriting, steps: list[Node]) -> list[str]:
    return [name for node in steps for name in node.inputs if name in rewriting.meaning]


def _result(
    rewriting: Rewriting, node: Node, values: dict[str, Array], shape: tuple[int, ...]
) -> Array:
    types, arrays = [], []
    for name in node.inputs:
        is_one = is_number(rewriting, name)
        constant = rewriting.graph.constants[name].reshape(1) if is_one else values[name]
        arrays.append(constant)
        types.append(dataclasses.replace(rewriting.graph.types[name], shape=constant.shape))
    output = dataclasses.replace(rewriting.graph.types[node.outputs[0]], shape=shape)
    cost = registry()[node.op].cost(node.attrs, types, [output])
    # A file may have any number of functions, and each computes its results with numpy.
    budget.spend(cost, str(node.origin))
    operands = Operands(tuple(arrays), tuple(types), (output,))
    (value,) = registry()[node.op].reference(node.attrs, operands)
    return np.asarray(value)


def name_of(rewriting: Rewriting, tensor: str) -> LookupAttrs:
    """The attributes of the lookup: the name of the last step."""
    if tensor in rewriting.meaning:
        return LookupAttrs("qnn.requantize")
    node = rewriting.producers[tensor]
    if isinstance(node.attrs, RealFunctionAttrs):
        return LookupAttrs(node.attrs.function)
    return LookupAttrs(node.op)


# Clamps between a layer and QuantizeLinear: they limit the stored integers instead.
#
# Quantization is monotonic, so both ways give the same integers.


@dataclass(frozen=True, slots=True)
class Clamp:
    """Numbers below ``low`` become ``low``, then numbers above ``high`` become ``high``."""

    low: float = -math.inf
    high: float = math.inf

    def after(self, first: Clamp) -> Clamp:
        """The clamp that applies ``first`` and then this clamp."""
        return Clamp(self(first.low), self(first.high))

    def __call__(self, value: float) -> float:
        """The clamped value."""
        return min(max(value, self.low), self.high)

    def stored(self, kind: ArrayType) -> tuple[int, int]:
        """The least and the greatest integer of that type that the clamp leaves."""
        limits = np.iinfo(kind.dtype.numpy)
        ends = np.array([self.low, self.high], np.float32)
        low, high = np.clip(in_float32.stored(ends, kind), limits.min, limits.max)
        return int(low), int(high)


def of(graph: Graph, node: Node) -> Clamp | None:
    """The clamp that the node computes; None if the node is not a clamp."""
    if isinstance(node.attrs, ClipAttrs):
        return Clamp(*float_range(node.attrs.activation))
    if isinstance(node.attrs, RealFunctionAttrs):
        bounds = node.attrs.numbers[:2]
        return Clamp(*map(float, bounds)) if node.attrs.function == "bounded" else None
    if node.op not in ("maximum", "minimum"):
        return None
    numbers = [n for n in node.inputs if n in graph.constants and graph.types[n].size == 1]
    shape = graph.types[node.outputs[0]].shape
    if len(numbers) != 1 or graph.types[data(graph, node)].shape != shape:
        return None
    bound = float(graph.constants[numbers[0]].reshape(-1)[0])
    # A NaN bound makes all results NaN, so the node does not clamp.
    if math.isnan(bound):
        return None
    return Clamp(low=bound) if node.op == "maximum" else Clamp(high=bound)


def data(graph: Graph, node: Node) -> str:
    """The operand of a clamp that is clamped."""
    return next(name for name in node.inputs if name not in graph.constants)


def activation(bounds: tuple[int, int], kind: ArrayType) -> Activation | None:
    """The activation that limits integers of that type to these bounds, if there is one."""
    assert kind.quant is not None
    return next(
        (each for each in Activation if activation_range(each, kind.quant, kind.dtype) == bounds),
        None,
    )
