"""Relay function -> graph, numbered and named as in TVM's JSONSerializer.

Source: TVM v0.14, ``src/relay/backend/contrib/codegen_json/codegen_json.h``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from microgen.base.errors import MicrogenError, ModelError, UnsupportedError
from microgen.graph.ir.graph import Array
from microgen.relay.expr import (
    Attrs,
    Call,
    Constant,
    Expr,
    Function,
    Let,
    Op,
    TensorType,
    Tuple,
    TupleGetItem,
    TupleType,
    Type,
    Var,
)
from microgen.relay.infer_type import place
from microgen.relay.visit import depth_first
from microgen.tvm.codegens.json_graph.node import RESERVED, Entry, JSONGraph, JSONNode, NodeAttrs


@dataclass(frozen=True, slots=True)
class Serialized:
    """A graph, and the arrays that its runtime gets: one per name, in order."""

    graph: JSONGraph
    const_names: tuple[str, ...]
    constants: tuple[Array, ...] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Kernel:
    """The node for a call: its name and attributes, and the operands in its order."""

    name: str
    args: tuple[Expr, ...]
    attrs: NodeAttrs


KernelOf = Callable[[Call], Kernel]


def serialize(
    symbol: str, function: Function, types: Mapping[Expr, Type], kernel: KernelOf | None = None
) -> Serialized:
    """The graph of a function. Constants are named ``<symbol>_const_<i>``, in the order of visits.

    ``types`` has the type of each of its expressions, from ``infer_type``. ``kernel`` makes the
    node for a call; the default is ``kernel_of``. Its ValueErrors become this function's errors.
    Raises UnsupportedError for things that the form cannot express, and ModelError for a variable
    that nothing defines; both name the place.
    """
    return _Serializer(symbol, types, kernel or kernel_of).serialized(function)


def kernel_of(call: Call) -> Kernel:
    """The node of an operator, or of a composite function, which is named by its ``Composite``."""
    if isinstance(call.op, Op):
        return Kernel(call.op.name, tuple(call.args), texts(call.attrs))
    name, pattern = (composite_attr(call, key) for key in ("Composite", "PartitionedFromPattern"))
    return Kernel(name, tuple(call.args), {"PartitionedFromPattern": (pattern,)})


def composite_attr(call: Call, key: str) -> str:
    """A text attribute of the called function; ValueError if there is none."""
    attrs = call.op.attrs if isinstance(call.op, Function) else {}
    if not isinstance(attrs.get(key), str):
        raise ValueError(f"calls a function without the attribute {key}")
    return str(attrs[key])


def texts(attrs: Attrs) -> NodeAttrs:
    """Attributes in the form of the JSON; ValueError for lists in lists.

    Attributes with the names of a node's common attributes only repeat its types, so they are left
    out.
    """
    return {name: _listed(name, v) for name, v in attrs.items() if name not in RESERVED}


def _listed(name: str, value: Any) -> tuple[str, ...]:
    items = value if isinstance(value, tuple) else (value,)
    return tuple(_text(name, item) for item in items)


def _text(name: str, value: Any) -> str:
    match value:
        case None:
            return ""
        case bool() | int():
            return str(int(value))
        case float():
            return format(value, ".17g")  # C++'s stream with the precision max_digits10
        case str():
            return value
    raise ValueError(f"has the attribute {name}, a list of lists, which JSON graphs cannot have")


@dataclass(eq=False)
class _Serializer:
    symbol: str
    types: Mapping[Expr, Type]
    kernel_of: KernelOf
    kernels: dict[Expr, Kernel] = field(default_factory=dict)
    bound: dict[Expr, Expr] = field(default_factory=dict)
    entries: dict[Expr, tuple[Entry, ...]] = field(default_factory=dict)
    nodes: list[JSONNode] = field(default_factory=list)
    constants: dict[str, Array] = field(default_factory=dict)

    def serialized(self, function: Function) -> Serialized:
        # Also parameters that nothing reads: the caller passes them.
        for param in function.params:
            self.entries[param] = self._added(param, "input", param.name_hint)
        heads = self._visit(function.body)
        graph = JSONGraph(self.symbol, tuple(self.nodes), heads)
        return Serialized(graph, tuple(self.constants), tuple(self.constants.values()))

    def _visit(self, root: Expr) -> tuple[Entry, ...]:
        for expr in depth_first(root, self._operands):
            if expr not in self.entries:
                self.entries[expr] = self._made(expr)
        return self.entries[root]

    def _operands(self, expr: Expr) -> Sequence[Expr]:
        if expr in self.entries:
            return ()
        match expr:
            case Call():
                self.kernels[expr] = self._kernel(expr)
                return self.kernels[expr].args
            case Tuple(fields):
                return fields
            case TupleGetItem(source):
                return (source,)
            case Let(var, value, body):
                # Before its body, in which the variable has an entry.
                self.bound[var] = value
                return (value, body)
            case Var(name):
                if expr not in self.bound:
                    raise self._error(ModelError, expr, f"%{name} is free")
                return (self.bound[expr],)
            case Constant():
                return ()
        what = f"JSON graphs have no form for {type(expr).__name__}"
        raise self._error(UnsupportedError, expr, what)

    def _kernel(self, call: Call) -> Kernel:
        try:
            kernel = self.kernel_of(call)
            if not kernel.args:
                raise ValueError("has no operands, and would be read as an input")
        except ValueError as error:
            name = call.op.name if isinstance(call.op, Op) else "the call"
            raise self._error(UnsupportedError, call, f"{name} {error}") from error
        return kernel

    def _made(self, expr: Expr) -> tuple[Entry, ...]:
        match expr:
            case Tuple(fields):
                return tuple(entry for part in fields for entry in self.entries[part])
            case TupleGetItem(source, index):
                self._tensors(source)  # one entry per field
                return (self.entries[source][index],)
            case Let():
                return self.entries[expr.body]
            case Var():
                return self.entries[self.bound[expr]]
            case Constant():
                name = f"{self.symbol}_const_{len(self.constants)}"
                self.constants[name] = expr.data
                return self._added(expr, "const", name)
        kernel = self.kernels[expr]
        inputs = tuple(entry for arg in kernel.args for entry in self.entries[arg])
        return self._added(expr, "kernel", kernel.name, inputs, kernel.attrs)

    def _added(
        self,
        expr: Expr,
        op: str,
        name: str,
        inputs: tuple[Entry, ...] = (),
        attrs: NodeAttrs | None = None,
    ) -> tuple[Entry, ...]:
        outputs = self._tensors(expr)
        shapes = tuple(tensor.shape for tensor in outputs)
        dtypes = tuple(_dtype(tensor) for tensor in outputs)
        node = len(self.nodes)
        self.nodes.append(JSONNode(op, name, shapes, dtypes, inputs, attrs or {}))
        return tuple((node, output, 0) for output in range(len(outputs)))

    def _tensors(self, expr: Expr) -> list[TensorType]:
        type_ = expr.type if isinstance(expr, Constant) else self.types[expr]
        fields = type_.fields if isinstance(type_, TupleType) else (type_,)
        tensors = [part for part in fields if isinstance(part, TensorType)]
        if len(tensors) != len(fields) or not tensors:
            what = f"JSON graphs have no form for a value of type {type_}"
            raise self._error(UnsupportedError, expr, what)
        return tensors

    def _error(self, kind: type[MicrogenError], expr: Expr, what: str) -> MicrogenError:
        return kind(what, where=place(getattr(expr, "span", None), f"@{self.symbol}"))


def _dtype(tensor: TensorType) -> str:
    return "uint1" if tensor.dtype == "bool" else tensor.dtype
