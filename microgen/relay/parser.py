"""Parses Relay text, with TVM v0.14's syntax, to a module.

It refuses, with TVM's sentence and the place: if, match, references, algebraic data types, free
variables, type parameters, and shapes that are known only at run time. It does not read infix
operators, because no printer writes them.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from microgen.base.errors import short
from microgen.graph.ir.graph import Array
from microgen.relay.expr import (
    DTYPES,
    Attrs,
    Call,
    Constant,
    Expr,
    Function,
    FuncType,
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
from microgen.relay.infer_type import MAX_RANK, infer_type
from microgen.relay.lexer import Source, Token, metadata
from microgen.relay.metadata import read_metadata
from microgen.relay.module import IRModule
from microgen.relay.op import registry
from microgen.relay.op.base import nearest
from microgen.relay.scopes import Scopes
from microgen.relay.stream import TokenStream

# TVM's sentences (src/relay/backend/aot_executor_codegen.cc).
_MATCH = "AOT executor does not support matching (found MatchNode)"
_DATA_TYPES = "AOT executor does not support ADTs (found ConstructorNode)"
_REFERENCE = "AOT executor does not support references (found {})"
_REFUSED = {
    "if": "if is not supported.",
    "match": _MATCH,
    "ref": _REFERENCE.format("RefCreateNode"),
    "ref_read": _REFERENCE.format("RefReadNode"),
    "ref_write": _REFERENCE.format("RefWriteNode"),
    "type": _DATA_TYPES,
    "extern": _DATA_TYPES,
    "free_var": "free variables are not supported",
}


def parse(
    text: str, source: str = "text", constants: Mapping[str, Array] | None = None
) -> IRModule:
    """The module of a text, with inferred types. Errors name the text ``source``.

    ``constants`` are the data of ``meta[relay.Constant][i]``, named ``relay.Constant.<i>``. A
    ``#[metadata]`` section written by TVM is read, too. Raises ModelError for text that is
    malformed or has wrong types, and UnsupportedError for features that no executor here supports.
    """
    return infer_type(_Parser(Source(text, source), constants or {}).module())


class _Parser:
    def __init__(self, source: Source, constants: Mapping[str, Array]) -> None:
        self._source = source
        self._in = TokenStream(source)
        self._scopes = Scopes()
        self._given = constants
        self._constants: dict[str, Constant] = {}
        self._metadata: Mapping[str, Array] | None = None

    def module(self) -> IRModule:
        """All definitions up to the end."""
        if self._in.next.kind == "header":
            self._in.take()
        functions: dict[str, Function] = {}
        while self._in.next.kind != "end":
            self._refuse_unsupported()
            self._in.expect("def")
            name = self._in.kind("global", "a name such as @main")
            if name.text[1:] in functions:
                self._in.refuse(f"found {name.text} a second time", name)
            # A function sees nothing of the others but their names.
            self._scopes = Scopes()
            functions[name.text[1:]] = self._function(name)
        if not functions:
            self._in.found("'def @main(...) {...}'")
        # The section is read even if no constant refers to it, so that a damaged one is refused.
        self._in_text()
        return IRModule(MappingProxyType(functions))

    def _refuse_unsupported(self) -> None:
        token = self._in.next
        if token.kind == "name" and token.text in _REFUSED:
            self._in.unsupported(_REFUSED[token.text], token)

    def _function(self, start: Token) -> Function:
        """The function from its parameters to the closing brace."""
        self._in.deeper()
        mark = self._scopes.enter()
        if self._in.next.text == "[":
            self._in.unsupported("type parameters are not supported", self._in.next)
        params, attrs = self._params()
        ret_type = _type(self._in) if self._in.accept("->") else None
        self._in.expect("{")
        body = self._block("}")
        self._scopes.leave(mark)
        self._in.shallower()
        return Function(params, body, ret_type, attrs, self._in.span(start))

    def _params(self) -> tuple[tuple[Var, ...], Attrs]:
        self._in.expect("(")
        params: dict[str, Var] = {}
        attrs: dict[str, Any] = {}
        for _ in self._in.items(")"):
            if self._in.next.kind == "name":
                self._attribute(attrs)
            else:
                token = self._in.next
                var = self._var()
                if token.text in params:
                    self._in.refuse(f"found parameter {token} a second time", token)
                params[token.text] = var
                self._scopes.bind(token.text, var)
        return tuple(params.values()), MappingProxyType(attrs)

    def _var(self) -> Var:
        token = self._in.kind("local", "a variable such as %x")
        annotation: Type | None = _type(self._in) if self._in.accept(":") else None
        return Var(token.text[1:], annotation, self._in.span(token))

    def _attribute(self, attrs: dict[str, Any]) -> None:
        key = self._in.kind("name", "the name of an attribute")
        if key.text in attrs:
            self._in.refuse(f"found attribute {key} a second time", key)
        self._in.expect("=")
        if self._in.next.kind == "meta":
            self._in.unsupported(f"attribute {key.text} refers to metadata", self._in.next)
        attrs[key.text] = self._in.value()

    def _block(self, end: str) -> Expr:
        """The value of a block of lets and temporaries, which extends up to ``end``."""
        mark = self._scopes.enter()
        lets: list[tuple[Var, Expr, Token]] = []
        while True:
            if self._in.next.text == "let":
                lets.append(self._let())
            elif self._in.next.kind == "temporary" and self._in.after.text == "=":
                self._temporary()
            else:
                break
            self._in.expect(";")
        body = self._expr()
        self._in.expect(end)
        self._scopes.leave(mark)
        # From the inside out, because the body of the last let is the value of the block.
        for var, value, start in reversed(lets):
            body = Let(var, value, body, self._in.span(start))
        return body

    def _let(self) -> tuple[Var, Expr, Token]:
        start = self._in.take()
        name = self._in.next.text
        var = self._var()
        self._in.expect("=")
        value = self._expr()
        # After its value, which must not use it.
        self._scopes.bind(name, var)
        return var, value, start

    def _temporary(self) -> None:
        token = self._in.take()
        self._in.expect("=")
        if not self._scopes.define(token.text, self._expr()):
            self._in.refuse(f"found {token.text} defined a second time", token)

    def _expr(self) -> Expr:
        self._in.deeper()
        expr = self._primary()
        while self._in.next.text in (".", "("):
            start = self._in.take()
            if start.text == "(":
                args, attrs = self._args()
                if attrs:
                    # Only operators have attributes; those of a function belong to its definition.
                    self._in.refuse("found attributes in the call of a function", start)
                expr = Call(expr, args, span=self._in.span(start))
            else:
                expr = TupleGetItem(expr, self._index(), self._in.span(start))
        self._in.shallower()
        return expr

    def _index(self) -> int:
        token = self._in.kind("number", "the number of a field")
        # Nine digits are more than any tuple needs, and keep int() quick.
        if len(token.text) > 9 or not token.text.isdecimal():
            self._in.refuse(f"found {token}, expected the number of a field", token)
        return int(token.text)

    def _primary(self) -> Expr:
        token = self._in.next
        match token.kind:
            case "temporary" | "local":
                return self._named()
            case "global":
                return self._global()
            case "number":
                return Constant(self._in.number(), self._in.span(token))
            case "meta":
                return self._meta()
            case "name":
                return self._word()
        if self._in.accept("("):
            return self._bracket(token)
        return self._in.found("an expression")

    def _named(self) -> Expr:
        token = self._in.take()
        expr = self._scopes.find(token.text)
        if expr is None:
            hint = nearest(token.text, self._scopes.variables)
            self._in.refuse(f"found {token.text}, which is not defined here", token, hint)
        return expr

    def _global(self) -> GlobalVar:
        token = self._in.take()
        if self._in.next.text != "(":
            self._in.refuse(f"found {token.text}, expected a call of it", token)
        return GlobalVar(token.text[1:])

    def _meta(self) -> Constant:
        token = self._in.take()
        key, index = token.text.removeprefix("meta[").removesuffix("]").split("][")
        name = f"{key}.{index}"
        # One object for all its uses, because the printer writes each object once.
        if name not in self._constants:
            # The arrays of a .params file have precedence over the text's own section.
            array = self._given.get(name, self._in_text().get(name))
            if array is None:
                hint = f"put it into the .params file next to the text, as {short(name)!r}"
                self._in.refuse(f"found {token}, whose data are missing", token, hint)
            self._constants[name] = Constant(array, self._in.span(token))
        return self._constants[name]

    def _in_text(self) -> Mapping[str, Array]:
        """The constants of the text's own metadata section."""
        if self._metadata is None:
            self._metadata = read_metadata(metadata(self._source), self._source.name)
        return self._metadata

    def _word(self) -> Expr:
        token = self._in.next
        if token.text in ("True", "False"):
            self._in.take()
            return Constant(np.array(token.text == "True"), self._in.span(token))
        if self._in.accept("fn"):
            return self._function(token)
        self._refuse_unsupported()
        if self._in.after.text != "(":
            self._in.found("an expression")
        return self._operator()

    def _operator(self) -> Expr:
        token = self._in.take()
        op = registry().get(token.text)
        if op is None:
            hint = nearest(token.text, registry())
            self._in.unsupported(f"no operator is named {token}", token, hint)
        self._in.expect("(")
        args, named = self._args()
        try:
            attrs = op.attributes(named)
        except ValueError as error:
            self._in.refuse(f"{op.name} {error}", token)
        return Call(Op(op.name), args, attrs, self._in.span(token))

    def _args(self) -> tuple[tuple[Expr, ...], dict[str, Any]]:
        """Arguments and attributes after the opening bracket, up to the closing one."""
        args: list[Expr] = []
        attrs: dict[str, Any] = {}
        for _ in self._in.items(")"):
            if self._in.next.kind == "name" and self._in.after.text == "=":
                self._attribute(attrs)
            elif attrs:
                self._in.found("an attribute, because only attributes follow the first one")
            else:
                args.append(self._expr())
        return tuple(args), attrs

    def _bracket(self, start: Token) -> Expr:
        """The expression after ``(``: a block, an expression in brackets, or a tuple."""
        begins_temporary = self._in.next.kind == "temporary" and self._in.after.text == "="
        if self._in.next.text == "let" or begins_temporary:
            return self._block(")")
        fields: list[Expr] = []
        has_comma = False
        for _ in self._in.items(")"):
            fields.append(self._expr())
            has_comma = has_comma or self._in.next.text == ","
        # `(%x,)` is a tuple of one field, `(%x)` is %x.
        if len(fields) == 1 and not has_comma:
            return fields[0]
        return Tuple(tuple(fields), self._in.span(start))


# Types: ``Tensor[(1, 2), float32]``, ``float32``, ``(T, T)``, ``fn (T) -> T``.


def _type(stream: TokenStream) -> Type:
    """Read a type. Raises ModelError, or UnsupportedError for an unknown shape."""
    stream.deeper()
    if stream.accept("Tensor"):
        parsed: Type = _tensor(stream)
    elif stream.next.text == "(":
        parsed = TupleType(_fields(stream))
    elif stream.accept("fn"):
        params = _fields(stream)
        stream.expect("->")
        parsed = FuncType(params, _type(stream))
    else:
        parsed = TensorType((), _dtype(stream))
    stream.shallower()
    return parsed


def _dtype(stream: TokenStream) -> str:
    token = stream.next
    if token.kind != "name" or token.text not in DTYPES:
        hint = nearest(token.text, DTYPES) if token.kind == "name" else ""
        stream.found("a type, such as Tensor[(1, 2), float32] or float32", hint)
    return stream.take().text


def _tensor(stream: TokenStream) -> TensorType:
    stream.expect("[")
    start = stream.expect("(")
    dims: list[int | str] = []
    for _ in stream.items(")"):
        dims.append(_dim(stream))
        if len(dims) > MAX_RANK:
            stream.refuse(f"found a tensor of more than {MAX_RANK} axes", start)
    if any(isinstance(d, str) for d in dims):
        shape = ", ".join(map(str, dims))
        # TVM's sentence.
        stream.unsupported(f"Cannot allocate memory symbolic tensor shape [{shape}]", start)
    negative = [d for d in dims if isinstance(d, int) and d < 0]
    if negative:
        what = f"Cannot allocate memory for tensor with negative shape {negative[0]}"
        stream.unsupported(what, start)
    stream.expect(",")
    dtype = _dtype(stream)
    stream.expect("]")
    return TensorType(tuple(d for d in dims if isinstance(d, int)), dtype)


def _dim(stream: TokenStream) -> int | str:
    """An integer, or the text of a size that is known only at run time."""
    if stream.next.kind == "name" or stream.next.text == "?":
        return stream.take().text[:40]
    token = stream.next
    value = stream.number()
    if value.dtype.kind != "i":
        stream.refuse(f"found {token}, expected a dimension", token)
    return int(value)


def _fields(stream: TokenStream) -> tuple[Type, ...]:
    stream.expect("(")
    return tuple(_type(stream) for _ in stream.items(")"))
