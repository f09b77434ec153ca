"""Type inference: a type for every expression of a module, checked against declared types."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from types import MappingProxyType

from microgen.base.errors import MicrogenError, ModelError, UnsupportedError
from microgen.relay.expr import (
    Call,
    Constant,
    Expr,
    Function,
    FuncType,
    GlobalVar,
    Let,
    Op,
    Span,
    TensorType,
    Tuple,
    TupleGetItem,
    TupleType,
    Type,
    Var,
)
from microgen.relay.module import IRModule
from microgen.relay.op import registry
from microgen.relay.op.base import nearest
from microgen.relay.visit import children, depth_first, post_order

# The largest size of a tensor's axis: the generated C indexes with int32_t.
_MAX_DIM = 2**31 - 1
MAX_RANK = 32
# Characters of a message, because the type of a large tuple fills pages.
_MAX_MESSAGE = 400

# Limits of a tuple's fields, including nested ones, and of its levels, because shared tuples grow
# exponentially.
_MAX_FIELDS = 1024
_MAX_DEPTH = 64


def infer_type(module: IRModule) -> IRModule:
    """The module with ``types`` filled, and every function's ``ret_type``.

    Raises ModelError (UnsupportedError for unknown shapes) with the expression's place if a type is
    missing, or if arguments do not fit their operator.
    """
    inference = _Inference(module)
    for name in module.functions:
        inference.function(name)
    functions = {
        name: f if f.ret_type is not None else replace(f, ret_type=inference.types[f.body])
        for name, f in module.functions.items()
    }
    types = dict(inference.types)
    # Functions that got a result type are new objects.
    types.update({new: types[module[name]] for name, new in functions.items()})
    return IRModule(MappingProxyType(functions), MappingProxyType(types))


class InferType:
    """A pass that infers the module's types."""

    def __call__(self, module: IRModule) -> IRModule:
        """The module, with types. Raises ModelError if types do not fit."""
        return infer_type(module)


def check_type(checked: Type, where: str) -> None:
    """Raise unless tuples are of moderate size and tensors fit into memory."""
    # Counted on the way, because a tuple of shared tuples may have more parts than memory holds.
    stack, count = [(checked, 0)], 0
    while stack:
        part, depth = stack.pop()
        count += 1
        if count > _MAX_FIELDS or depth > _MAX_DEPTH:
            what = f"a tuple or function has more than {_MAX_FIELDS} values or {_MAX_DEPTH} levels"
            raise UnsupportedError(what, where=where)
        match part:
            case TensorType():
                _check_tensor(part, where)
            case TupleType(fields):
                stack.extend((f, depth + 1) for f in fields)
            case FuncType(params, result):
                stack.extend((f, depth + 1) for f in (*params, result))


def _check_tensor(tensor: TensorType, where: str) -> None:
    if len(tensor.shape) > MAX_RANK:
        raise UnsupportedError(f"a tensor has more than {MAX_RANK} axes", where=where)
    for dim in tensor.shape:
        if dim < 0:
            raise UnsupportedError(
                # TVM's sentence.
                f"Cannot allocate memory for tensor with negative shape {dim} in {tensor}",
                where=where,
            )
        if dim > _MAX_DIM:
            raise UnsupportedError(f"{tensor} has an axis longer than {_MAX_DIM}", where=where)


def place(span: Span | None, otherwise: str) -> str:
    """The place of an expression in its text, or ``otherwise`` if it has none."""
    return str(span) if span is not None else otherwise


class _Inference:
    """The types found so far. ``_bound`` maps a variable to the value that a Let binds it to."""

    def __init__(self, module: IRModule) -> None:
        self._module = module
        self.types: dict[Expr, Type] = {}
        self._bound: dict[Expr, Expr] = {}
        self._params: set[Expr] = set()
        self._place = ""

    def function(self, name: str) -> None:
        """Infer ``name`` after the functions that it calls."""
        for each in depth_first(name, self._callees):
            self._place = f"@{each}"
            root: Expr = self._module[each]
            for expr in depth_first(root, self._below):
                if expr not in self.types:
                    type_ = self._type(expr)
                    check_type(type_, self._where(expr))
                    self.types[expr] = type_

    def _callees(self, name: str) -> list[str]:
        """The functions of the module that an untyped function calls, the last one first."""
        function = self._module[name]
        if function in self.types:
            return []
        calls = (e for e in post_order(function) if isinstance(e, Call))
        names = dict.fromkeys(c.op.name_hint for c in calls if isinstance(c.op, GlobalVar))
        return [name for name in reversed(names) if name in self._module.functions]

    def _below(self, expr: Expr) -> Sequence[Expr]:
        """The expressions that must get their types before ``expr``, some of them defined by it."""
        if expr in self.types:
            return ()
        if isinstance(expr, Let):
            # A let is entered before its variable is reached, which needs the value's type.
            self._bound[expr.var] = expr.value
        elif isinstance(expr, Function):
            self._params.update(expr.params)
        return children(expr)

    def _where(self, expr: Expr) -> str:
        return place(getattr(expr, "span", None), self._place)

    def _error(self, expr: Expr, what: str, hint: str = "") -> MicrogenError:
        short = what if len(what) <= _MAX_MESSAGE else f"{what[:_MAX_MESSAGE]}..."
        return ModelError(short, where=self._where(expr), hint=hint)

    def _type(self, expr: Expr) -> Type:
        match expr:
            case Var():
                return self._var(expr)
            case Constant():
                return expr.type
            case Tuple():
                return TupleType(tuple(self._value(expr, f) for f in expr.fields))
            case TupleGetItem():
                return self._projection(expr)
            case Let():
                return self._value(expr, expr.body)
            case Function():
                return self._function(expr)
            case Call():
                return self._call(expr)
            case _:
                raise self._error(expr, "found an operator or a global name as a value")

    def _value(self, user: Expr, expr: Expr) -> Type:
        if expr not in self.types:  # it contains itself, which only a hand-built graph can
            raise self._error(user, "an expression is used inside itself")
        return self.types[expr]

    def _var(self, var: Var) -> Type:
        name = f"%{var.name_hint}"
        if var in self._params:
            if var.type_annotation is None:
                raise self._error(var, f"parameter {name} has no type", f"write {name}: Tensor[..]")
            return var.type_annotation
        if var not in self._bound:
            raise self._error(var, f"{name} is free: no parameter and no let defines it")
        type_ = self._value(var, self._bound[var])
        if var.type_annotation not in (None, type_):
            raise self._error(var, f"{name} is {type_}, but declared as {var.type_annotation}")
        return type_

    def _projection(self, expr: TupleGetItem) -> Type:
        type_ = self._value(expr, expr.tuple_value)
        if not isinstance(type_, TupleType):
            raise self._error(expr, f"found .{expr.index} of {type_}, which is not a tuple")
        if not 0 <= expr.index < len(type_.fields):
            count = len(type_.fields)
            raise self._error(expr, f"found .{expr.index} of a tuple of {count} fields")
        return type_.fields[expr.index]

    def _function(self, expr: Function) -> FuncType:
        result = self._value(expr, expr.body)
        if expr.ret_type not in (None, result):
            raise self._error(expr, f"the function returns {result}, but declares {expr.ret_type}")
        return FuncType(tuple(self.types[p] for p in expr.params), result)

    def _call(self, call: Call) -> Type:
        types = [self._value(call, arg) for arg in call.args]
        if isinstance(call.op, Op):
            return self._operator(call, call.op.name, types)
        callee = self._callee(call)
        # Types are compared exactly: a call converts and broadcasts nothing.
        if tuple(types) != callee.params:
            arguments = ", ".join(map(str, types))
            wanted = ", ".join(map(str, callee.params))
            raise self._error(call, f"the call's arguments are ({arguments}), expected ({wanted})")
        return callee.result

    def _operator(self, call: Call, name: str, types: list[Type]) -> Type:
        op = registry().get(name)
        if op is None:
            raise self._error(call, f"no operator is named {name!r}", nearest(name, registry()))
        try:
            return op.infer(call.attrs, types)
        except ValueError as error:
            raise self._error(call, f"{name} {error}") from error

    def _callee(self, call: Call) -> FuncType:
        if isinstance(call.op, GlobalVar):
            return self._global(call, call.op.name_hint)
        type_ = self._value(call, call.op)
        if not isinstance(type_, FuncType):
            raise self._error(call, f"found a call of {type_}, which is not a function")
        return type_

    def _global(self, call: Call, name: str) -> FuncType:
        if name not in self._module.functions:
            hint = nearest(name, self._module.functions)
            raise self._error(call, f"the module has no function @{name}", hint)
        function = self._module[name]
        known = self.types.get(function)
        if isinstance(known, FuncType):
            return known
        # Callees are inferred first, so only a function that is being inferred has no type.
        raise self._error(call, f"@{name} calls itself, which needs a stack at run time")
