"""Graphs for tests of partitioning: handmade ones of float32, and random TFLite networks."""

from __future__ import annotations

import numpy as np

from microgen.compiler import passes
from microgen.frontends.numerics import profile
from microgen.frontends.relay.convert import convert as from_module
from microgen.frontends.tflite.convert import load
from microgen.graph.arithmetic.terms import Activation
from microgen.graph.ir import interpreter
from microgen.graph.ir.graph import Array, ArrayType, Attrs, DType, Graph, Node, Origin, frozen
from microgen.graph.ops import registry
from microgen.graph.ops.base import StatusError
from microgen.graph.ops.elementwise.addition import AddAttrs
from microgen.graph.ops.external import ExternalAttrs
from microgen.graph.ops.unary.functions import ExpAttrs
from microgen.graph.ops.unary.sigmoid import TanhAttrs
from microgen.relay.expr import Function
from microgen.relay.module import IRModule
from microgen.relay.op import registry as relay_ops
from microgen.relay.transform import OperatorCall, Support
from tests.differential import generator


class Builder:
    """Appends float32 nodes and returns tensor names."""

    def __init__(self, *, dtype: DType = DType.FLOAT32) -> None:
        self.dtype = dtype
        self.rng = np.random.default_rng(0)
        self.types: dict[str, ArrayType] = {}
        self.constants: dict[str, Array] = {}
        self.nodes: list[Node] = []
        self.inputs: list[str] = []

    def input(self, *shape: int) -> str:
        name = f"input{len(self.inputs)}"
        self.inputs.append(name)
        self.types[name] = ArrayType(shape, self.dtype)
        return name

    def constant(self, *shape: int) -> str:
        name = f"constant{len(self.constants)}"
        self.types[name] = ArrayType(shape, self.dtype)
        self.constants[name] = frozen(_values(self.rng, self.types[name]))
        return name

    def node(self, op: str, attrs: Attrs, *inputs: str) -> str:
        (shape,) = registry()[op].infer(attrs, [self.types[name] for name in inputs])
        name = f"layer{len(self.nodes)}"
        self.types[name] = ArrayType(shape, self.dtype)
        self.nodes.append(Node(op, inputs, (name,), attrs, Origin("test", name)))
        return name

    def add(self, lhs: str, rhs: str) -> str:
        return self.node("add", AddAttrs(Activation.NONE), lhs, rhs)

    def exp(self, data: str) -> str:
        return self.node("exp", ExpAttrs(), data)

    def tanh(self, data: str) -> str:
        return self.node("tanh", TanhAttrs(), data)

    def graph(self, *outputs: str) -> Graph:
        return Graph(
            "test", tuple(self.inputs), outputs, tuple(self.nodes), self.types, self.constants
        )


def random_network(seed: int) -> Graph:
    """A random TFLite network of every dtype, after the passes."""
    case = generator.generate(seed)
    data = case.net.model(case.outputs)
    return passes.run(load(data, file="x.tflite", numerics=profile("litert")))


def samples(graph: Graph, seed: int) -> dict[str, Array]:
    """A random value for each input."""
    rng = np.random.default_rng(seed)
    given = {name: _values(rng, graph.types[name]) for name in graph.inputs}
    fixed = {n: np.array(v, graph.types[n].dtype.numpy) for n, v in graph.fixed.items()}
    return {**given, **fixed}


def _values(rng: np.random.Generator, kind: ArrayType) -> Array:
    if kind.dtype is DType.FLOAT32:
        return (3 * rng.standard_normal(kind.shape)).astype(np.float32)
    if kind.dtype is DType.BOOL:
        return rng.integers(0, 2, kind.shape).astype(np.bool_)
    return rng.integers(-100, 100, kind.shape).astype(kind.dtype.numpy)


def outputs(graph: Graph, given: dict[str, Array]) -> list[Array] | None:
    """The graph's outputs, or None if, for example, a division by zero ends it."""
    try:
        values = interpreter.evaluate(graph, given, registry())
    except StatusError:
        return None
    return [values[name] for name in graph.outputs]


def of_relay(function: Function, inputs: list[Array]) -> list[Array]:
    """The outputs of a Relay function that the frontend has read."""
    bare = Function(function.params, function.body)
    graph = from_module(IRModule.from_expr(bare), file="x.relay")
    found = outputs(graph, dict(zip(graph.inputs, inputs, strict=True)))
    assert found is not None
    return found


def external_nodes(graph: Graph) -> list[tuple[Node, ExternalAttrs]]:
    """The nodes that generators took, with their attributes."""
    return [(n, n.attrs) for n in graph.nodes if isinstance(n.attrs, ExternalAttrs)]


def everything(name: str, *lacking: str) -> Support:
    """A generator of all Relay operators except the ones in ``lacking``."""

    def accept(_call: OperatorCall) -> str | None:
        return None

    return Support(name, {op: accept for op in relay_ops() if op not in lacking})
