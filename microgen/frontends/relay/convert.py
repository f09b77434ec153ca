"""Converts the functions of a Relay module to one graph: in A-normal order, all calls inlined."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath

import numpy as np

from microgen.base.errors import ModelError, UnsupportedError
from microgen.frontends import importers
from microgen.frontends.relay import external
from microgen.frontends.relay.calls import RelayCall
from microgen.frontends.relay.importers import registry
from microgen.frontends.relay.scopes import Closure, RelayScope
from microgen.frontends.relay.types import NodePlace, default_target, target, type_of
from microgen.graph.builder import BuiltTensor, GraphBuilder, Value, fields
from microgen.graph.ir.graph import Array, Graph, Node, Origin
from microgen.graph.ops.external import ExternalAttrs
from microgen.relay.expr import (
    Call,
    Constant,
    Expr,
    Function,
    GlobalVar,
    Let,
    Op,
    TensorType,
    Tuple,
    TupleGetItem,
    TupleType,
    Type,
    Var,
)
from microgen.relay.infer_type import infer_type
from microgen.relay.module import IRModule
from microgen.relay.printer import temporaries
from microgen.relay.visit import children

# Python's stack has a frame of ours for each function inside another one.
_MAX_DEPTH = 100  # of functions that call functions
_MAX_CALLS = 20_000  # after functions are inlined


def convert(
    module: IRModule,
    *,
    file: str,
    targets: Mapping[int, str] | None = None,
    generators: Collection[str] = (),
) -> Graph:
    """The graph of @main of a module, with the functions that it calls inlined. ``file`` is its
    name in errors and in the origins of layers.

    ``targets``: device type (DLPack's number) -> kind of the target for ``on_device`` of that type.
    If there is a single entry, it is the target of all calls. ``generators``: the names of the code
    generators whose functions (``Compiler``) become one node each; all others are inlined. Raises
    ModelError or UnsupportedError, naming the place in the text.
    """
    module = infer_type(module)
    if "main" not in module.functions:
        raise ModelError("has no function @main", where=file)
    assert module.types is not None, "infer_type has made them"
    return _Conversion(module, module.types, file, targets or {}, generators).graph()


@dataclass
class _Conversion:
    _module: IRModule
    _types: Mapping[Expr, Type]
    _file: str
    _targets: Mapping[int, str]
    _generators: Collection[str]
    _builder: GraphBuilder = field(default_factory=GraphBuilder)
    _constants: dict[Expr, BuiltTensor] = field(default_factory=dict)
    _functions: list[str] = field(default_factory=list)
    _names: dict[Function, Mapping[Expr, str]] = field(default_factory=dict)
    _calls: int = 0

    def graph(self) -> Graph:
        main = self._module["main"]
        place = NodePlace(default_target(self._targets))
        scope = RelayScope(main, place, "", 0, self._names_in(main))
        inputs = [self._input(p.name_hint, self._types[p]) for p in main.params]
        if not any(map(fields, inputs)):
            raise UnsupportedError(
                "@main has no inputs",
                where=self._file,
                hint="supported: functions of one tensor or more",
            )
        scope.bind(inputs)
        outputs = fields(self._first_order(self._value_of(main.body, scope), main))
        if not outputs:
            raise ModelError("@main returns nothing", where=self._file)
        # A convolution that a later call has changed, such as by its bias, is not read any more.
        self._builder.drop_dead(outputs)
        graph = self._builder.graph(
            PurePath(self._file).stem,
            [tensor for value in inputs for tensor in fields(value)],
            outputs,
            output_names=self._output_names(main, len(outputs)),
        )
        self._check_numbers(graph.constants)
        return graph

    def _output_names(self, main: Function, count: int) -> tuple[str, ...]:
        """The names of the outputs in ``output_tensor_names``, which TVM's frontends give @main."""
        names = main.attrs.get("output_tensor_names", ())
        if not isinstance(names, tuple) or not all(isinstance(name, str) for name in names):
            raise ModelError(
                "output_tensor_names is not a list of strings", where=self._where(main)
            )
        if names and len(names) != count:
            what = f"output_tensor_names has {len(names)} names, @main has {count} outputs"
            raise ModelError(what, where=self._where(main))
        return names

    def _check_numbers(self, constants: Mapping[str, Array]) -> None:
        for name, array in constants.items():
            if array.dtype.kind == "f" and np.isnan(array).any():
                raise UnsupportedError(
                    f'the constant "{name}" has NaN among its values',
                    where=self._file,
                    hint="C has no literal for it",
                )

    def _input(self, name: str, declared: Type) -> Value:
        if isinstance(declared, TupleType):
            return tuple(self._input(f"{name}.{i}", part) for i, part in enumerate(declared.fields))
        if not isinstance(declared, TensorType):
            raise UnsupportedError(
                f"the parameter %{name} of @main is a function",
                where=self._file,
                hint="supported: tensors, and tuples of them",
            )
        return self._builder.declare(name, type_of(declared, f"{self._file}: %{name}"))

    def _value_of(self, root: Expr, scope: RelayScope) -> Value | Closure:
        # A stack of its own, because expressions are nested deeper than Python recurses.
        stack: list[tuple[Expr, bool]] = [(root, False)]
        while stack:
            expr, ready = stack.pop()
            if expr in scope:
                continue
            if ready:
                scope.values[expr] = self._value(expr, scope)
            else:
                stack.append((expr, True))
                stack.extend((child, False) for child in reversed(_operands(expr)))
        return scope[root]

    def _value(self, expr: Expr, scope: RelayScope) -> Value | Closure:
        match expr:
            case Var() if expr in scope.bound:
                return scope[scope.bound[expr]]
            case Var():
                raise ModelError(
                    f"%{expr.name_hint} is read outside of the function that it belongs to",
                    where=self._where(expr),
                    hint="pass it to the function that reads it",
                )
            case Constant():
                return self._constant(expr)
            case Tuple(parts):
                return tuple(self._first_order(scope[part], expr) for part in parts)
            case TupleGetItem(source, index):
                value = scope[source]
                assert isinstance(value, tuple), "infer_type has checked it"
                return value[index]
            case Let():
                return scope[expr.body]
            case Function():
                return Closure(expr, scope)
            case Call(op=Op()):
                return self._operator(expr, scope)
            case Call():
                return self._inlined(expr, scope)
        raise ModelError(f"{type(expr).__name__} has no meaning here", where=self._where(expr))

    def _constant(self, expr: Constant) -> BuiltTensor:
        # One constant may be read in many places.
        if expr not in self._constants:
            where = self._where(expr)
            kind = type_of(expr.type, where)
            name = f"constant{len(self._constants)}"
            self._constants[expr] = self._builder.constant(
                name, expr.data.astype(kind.dtype.numpy), kind
            )
        return self._constants[expr]

    def _operator(self, call: Call, scope: RelayScope) -> Value:
        self._count()
        args = [self._first_order(scope[arg], call) for arg in call.args]
        result, place = self._types[call], self._place(call, scope)
        context = RelayCall(call, args, result, scope, place, file=self._file, graph=self._builder)
        importer = importers.of(context, registry())
        return context.finished(importer(context))

    def _count(self) -> None:
        self._calls += 1
        if self._calls > _MAX_CALLS:
            raise UnsupportedError(
                f"makes more than {_MAX_CALLS} calls, counting a function's calls each time",
                where=self._file,
            )

    def _names_in(self, function: Function) -> Mapping[Expr, str]:
        if function not in self._names:
            self._names[function] = temporaries(function)
        return self._names[function]

    def _place(self, call: Call, scope: RelayScope) -> NodePlace:
        annotation = scope.devices.get(call)
        if annotation is None or scope.place.function:
            return scope.place
        return NodePlace(target(annotation, self._targets, self._where(annotation)))

    def _inlined(self, call: Call, scope: RelayScope) -> Value | Closure:
        """The value of a call of a global function or of a closure."""
        self._count()
        if isinstance(call.op, GlobalVar):
            name = call.op.name_hint
            function, parent = self._module[name], None
        else:
            closure = scope[call.op]
            assert isinstance(closure, Closure), "infer_type has checked it"
            name, function, parent = "", closure.function, closure.scope
        if scope.depth >= _MAX_DEPTH:
            raise UnsupportedError(
                f"nests functions more than {_MAX_DEPTH} deep", where=self._where(call)
            )
        place = self._place_of(function, name, scope.place)
        if place.target in self._generators and place != scope.place:
            args = [self._first_order(scope[arg], call) for arg in call.args]
            if any(part.value is None for value in args for part in fields(value)):
                return self._external(call, function, place.function, scope)
            place = scope.place  # its result is a constant, which is computed now
        prefix = f"{scope.prefix}{scope.names[call]}:"
        names = parent.names if parent else self._names_in(function)
        inner = RelayScope(function, place, prefix, scope.depth + 1, names, parent)
        inner.bind([scope[arg] for arg in call.args])
        return self._value_of(function.body, inner)

    def _external(self, call: Call, function: Function, symbol: str, scope: RelayScope) -> Value:
        """The results of a function that an external code generator compiles: one node. Constant
        arguments become constants of the function."""
        line = f" (line {call.span.line})" if call.span else ""
        origin = Origin(self._file, f"{scope.name(call)} @{symbol}{line}")
        args = [self._first_order(scope[arg], call) for arg in call.args]
        own = external.alone(function, args, self._types)
        inside = convert(own, file=self._file)
        read = [part.name for value in args for part in fields(value) if part.value is None]
        result = self._types[function.body]
        outputs = [
            self._builder.declare(name, type_of(kind, str(origin)))
            for name, kind in external.leaves(scope.name(call), result)
        ]
        made = tuple(tensor.name for tensor in outputs)
        codegen = str(function.attrs["Compiler"])
        attrs = ExternalAttrs(symbol, codegen, inside, own["main"], own.types or {})
        node = Node("external", tuple(read), made, attrs, origin, codegen, symbol)
        self._builder.nodes.append(node)
        return external.nested(result, iter(outputs))

    def _place_of(self, function: Function, name: str, around: NodePlace) -> NodePlace:
        kind = function.attrs.get("Compiler")
        if not kind or around.function:
            return around
        symbol = str(function.attrs.get("global_symbol") or name or f"{kind}_0")
        unique, count = symbol, 0
        while unique in self._functions:
            count += 1
            unique = f"{symbol}_{count}"
        self._functions.append(unique)
        return NodePlace(str(kind), unique)

    def _first_order(self, value: Value | Closure, user: Expr) -> Value:
        if isinstance(value, Closure):
            raise UnsupportedError("uses a function as a value", where=self._where(user))
        return value

    def _where(self, expr: Expr) -> str:
        span = getattr(expr, "span", None)
        return str(span) if span else self._file


def _operands(expr: Expr) -> Sequence[Expr]:
    """The expressions that must have a value before this expression. A function's body is not among
    them, because it is evaluated only in a call.
    """
    return () if isinstance(expr, Function) else children(expr)
