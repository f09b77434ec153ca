"""Rewrites a module's functions: makes new expressions, each with its type.

Passes see functions in graph normal form, without lets: each variable is replaced by its value.
Passes treat an inner function as one value and do not change its body. It must not use anything
outside except through its parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TypeVar

from microgen.base.errors import ModelError, UnsupportedError
from microgen.relay.expr import (
    Expr,
    Function,
    FuncType,
    Let,
    Tuple,
    TupleGetItem,
    TupleType,
    Type,
    Var,
)
from microgen.relay.infer_type import place
from microgen.relay.module import IRModule
from microgen.relay.visit import aliases, depth_first, operands, post_order, rebuilt

AnyExpr = TypeVar("AnyExpr", bound=Expr)

# (an expression of the original module, the same expression with its operands rewritten)
Rule = Callable[[Expr, Expr], Expr]


class Rewriter:
    """The types of a module's expressions, and of the expressions that a pass creates."""

    def __init__(self, module: IRModule) -> None:
        if module.types is None:
            raise ModelError(
                "the module's types are not known", where="partition", hint="run InferType first"
            )
        self.types: dict[Expr, Type] = dict(module.types)
        self._origins: dict[Expr, Expr] = {}

    def typed(self, expr: AnyExpr, type_: Type) -> AnyExpr:
        """Record the type of a new expression, and return the expression."""
        self.types[expr] = type_
        return expr

    def rebuilt(self, expr: Expr, known: Mapping[Expr, Expr]) -> Expr:
        """``expr`` with its ``known`` operands replaced by others of the same type."""
        new = rebuilt(expr, known)
        if new is not expr:
            # The origins are of the original module, because refusals name places in its text.
            self._origins[new] = self.origin(expr)
        return self.typed(new, self.types[expr])

    def origin(self, expr: Expr) -> Expr:
        """The expression of the original module from which ``expr`` was made."""
        return self._origins.get(expr, expr)

    def rewrite(
        self, root: Expr, rule: Rule, below: Callable[[Expr], Sequence[Expr]] = operands
    ) -> Expr:
        """``root`` with the rule applied to every expression, operands first."""
        known: dict[Expr, Expr] = {}
        for expr in depth_first(root, below):
            known[expr] = rule(expr, self.rebuilt(expr, known))
        return known[root]

    def function(self, params: Sequence[Var], body: Expr, **attrs: object) -> Function:
        """A new function."""
        result = self.types[body]
        function = Function(params, body, result, MappingProxyType(attrs))
        return self.typed(function, FuncType(tuple(self.types[p] for p in params), result))

    def tuple(self, fields: Sequence[Expr]) -> Tuple:
        """A new tuple."""
        return self.typed(Tuple(fields), TupleType(tuple(self.types[f] for f in fields)))

    def parts(self, expr: Expr) -> list[Expr]:
        """The tensors of a value: itself, or the fields of its tuple, including nested ones."""
        type_ = self.types[expr]
        if not isinstance(type_, TupleType):
            return [expr]
        items = [self.typed(TupleGetItem(expr, i), t) for i, t in enumerate(type_.fields)]
        return [part for item in items for part in self.parts(item)]

    def gathered(self, type_: Type, parts: Iterator[Expr]) -> Expr:
        """A value of this type, made from the next ``parts``."""
        if not isinstance(type_, TupleType):
            return next(parts)
        return self.tuple([self.gathered(t, parts) for t in type_.fields])

    def with_body(self, function: Function, body: Expr) -> Function:
        """The function with another body, which has the same type."""
        again = self.rebuilt(function, {function.body: body})
        assert isinstance(again, Function)
        return again

    def module(self, functions: Mapping[str, Function]) -> IRModule:
        """A module of these functions, with the types of their expressions."""
        # Only the types of expressions that are left.
        types = {e: self.types[e] for f in functions.values() for e in post_order(f)}
        return IRModule(MappingProxyType(dict(functions)), MappingProxyType(types))


def each_body(module: IRModule, rewrite: Callable[[Rewriter, str, Expr], Expr]) -> IRModule:
    """The module with the bodies of its functions rewritten, except functions that already belong
    to another compiler. ``rewrite`` gets a function's name and its body in graph normal form."""
    rewriter = Rewriter(module)
    functions = dict(module.functions)
    for name, function in functions.items():
        if "Compiler" not in function.attrs:
            body = rewrite(rewriter, name, graph_normal_form(rewriter, function.body))
            functions[name] = rewriter.with_body(function, body)
    return rewriter.module(functions)


def graph_normal_form(rewriter: Rewriter, body: Expr) -> Expr:
    """The body without lets. UnsupportedError if an inner function uses something outside."""
    alias = aliases(body)
    known: dict[Expr, Expr] = {}
    for expr in depth_first(body, lambda e: (alias[e],) if e in alias else operands(e)):
        known[expr] = known[alias[expr]] if expr in alias else rewriter.rebuilt(expr, known)
        if isinstance(expr, Function):
            _check_closed(expr)
    return known[body]


def _check_closed(function: Function) -> None:
    exprs = list(post_order(function))
    own = {let.var for let in exprs if isinstance(let, Let)}
    own = own.union(*(inner.params for inner in exprs if isinstance(inner, Function)))
    for var in exprs:
        if isinstance(var, Var) and var not in own:
            raise UnsupportedError(
                f"an inner function uses %{var.name_hint}, which is defined outside",
                where=place(function.span, "partition"),
                hint="pass it as an argument",
            )
