"""Prints modules as Relay text like TVM: values numbered, shared ones named, the last one inline.

Temporaries are numbered from %0 and variables renamed in each function of the module. Calls and
constants are followed by type comments if the module's types are known. Attributes equal to
their defaults are left out. The data of constants that are not scalars is in a second file, which
``files.py`` describes.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence

from microgen.base.errors import ModelError
from microgen.graph.ir.graph import Array
from microgen.relay.expr import (
    Call,
    Constant,
    Expr,
    Function,
    GlobalVar,
    Let,
    Op,
    Tuple,
    TupleGetItem,
    Type,
    Var,
)
from microgen.relay.lexer import WORD
from microgen.relay.literals import attr_text, scalar_text
from microgen.relay.op import registry
from microgen.relay.visit import children, depth_first, post_order

# Limit for functions inside functions and lets inside values of lets. The parser has the same one.
MAX_DEPTH = 40


def printed(
    functions: Mapping[str, Function], types: Mapping[Expr, Type]
) -> tuple[str, dict[str, Array]]:
    """The text of a module with these functions, ending with a newline, and the arrays of its
    constants by the names that ``parse`` expects. Raises ModelError for functions nested too deep.
    """
    constants: dict[Constant, int] = {}
    texts = []
    for name, function in functions.items():
        printer = _Printer(types, constants)
        texts.append(printer.definition(name, function))
    return "\n".join(texts), {f"relay.Constant.{i}": c.data for c, i in constants.items()}


def temporaries(function: Function) -> dict[Expr, str]:
    """The names, such as "%0", that a function's text gives to the values of its body. The last
    value, which is inline, has the next number. Raises ModelError for functions nested too deep."""
    printer = _Printer({}, {})
    printer.definition("main", function)
    return printer.numbered(function)


class _Printer:
    """The text of one function of the module."""

    def __init__(self, types: Mapping[Expr, Type], constants: dict[Constant, int]) -> None:
        self._types = types
        self._constants = constants
        self._names: dict[Expr, str] = {}  # of expressions that are already printed
        self._taken: dict[str, int] = {}  # name -> the last number that was appended
        self._uses: Counter[Expr] = Counter()
        self._temporaries = 0

    def definition(self, name: str, function: Function) -> str:
        """``def @name(...) {...}``."""
        # Counted first: the last value of a block is printed inline, but only if it has one user.
        for expr in post_order(function):
            self._uses.update(children(expr))
        return self._function(f"def @{_word(name)}", function, 1) + "\n"

    def numbered(self, function: Function) -> dict[Expr, str]:
        """A name for each expression printed: its own, or the next one if it is printed inline."""
        names: dict[Expr, str] = {}
        inline = [e for e in post_order(function) if not _is_atom(e)]
        bound = {e.value for e in inline if isinstance(e, Let)}
        for expr in inline:
            name = self._names.get(expr, "")
            if not re.fullmatch("%[0-9]+", name):
                name = f"%{self._temporaries}"
                self._temporaries += expr not in bound
            names[expr] = name
        return names

    def _function(self, head: str, function: Function, depth: int) -> str:
        params = [self._declared(p) for p in function.params]
        params += [f"{_word(key)}={attr_text(value)}" for key, value in function.attrs.items()]
        result = f" -> {function.ret_type}" if function.ret_type is not None else ""
        body = self._block(function.body, depth)
        return f"{head}({', '.join(params)}){result} {{\n{_indented(body)}\n}}"

    def _declared(self, var: Var) -> str:
        name = f"%{self._unique(var.name_hint)}"
        self._names[var] = name
        return name if var.type_annotation is None else f"{name}: {var.type_annotation}"

    def _unique(self, hint: str) -> str:
        # Hints come from other formats, whose names may have any characters.
        base = re.sub(r"[^A-Za-z0-9_]", "_", hint)
        if not re.match(r"[A-Za-z_]", base):
            base = f"v{base}"
        name = base
        while name in self._taken:
            self._taken[base] += 1
            name = f"{base}{self._taken[base]}"
        # The new name is taken, too, because another variable may have it as its hint.
        self._taken[name] = 0
        return name

    def _block(self, root: Expr, depth: int, bracketed: Let | None = None) -> list[str]:
        """The lines of a body whose value is ``root``: lets and temporaries, then the value.

        A let with several users gets a name, and a block of its own in brackets (``bracketed``).
        """
        # The parser refuses deeper text, so it must not be written.
        if depth > MAX_DEPTH:
            raise ModelError(f"functions or lets are nested deeper than {MAX_DEPTH}")
        lines: list[str] = []
        # A loop, because a body may consist of more lets than Python's stack has frames.
        while isinstance(root, Let) and (root is bracketed or self._uses[root] <= 1):
            value = self._final(root.value, lines, depth)
            lines.append(f"let {self._declared(root.var)} = {value};")
            root = root.body
        lines.append(self._final(root, lines, depth))
        return lines

    def _final(self, root: Expr, lines: list[str], depth: int) -> str:
        """The text of a value, inline if nothing else uses it. Appends the lines that it needs."""
        for expr in depth_first(root, self._before):
            if expr in self._names:
                continue
            text = self._text(expr, depth)
            if _is_atom(expr) or (expr is root and self._uses[expr] <= 1):
                self._names[expr] = text
            else:
                self._names[expr] = f"%{self._temporaries}"
                self._temporaries += 1
                lines.append(f"{self._names[expr]} = {text};")
        return self._names[root]

    def _before(self, expr: Expr) -> Sequence[Expr]:
        """The expressions that must have a name before the text of ``expr`` is written."""
        # Functions and lets have blocks of their own.
        if expr in self._names or isinstance(expr, Function | Let):
            return ()
        return (*expr.args, expr.op) if isinstance(expr, Call) else children(expr)

    def _text(self, expr: Expr, depth: int) -> str:
        names = self._names
        match expr:
            case Constant():
                return self._constant(expr) + self._type_comment(expr)
            case Call():
                return self._call(expr) + self._type_comment(expr)
            case Tuple(fields):
                # Without the comma it would be an expression in brackets.
                comma = "," if len(fields) == 1 else ""
                return f"({', '.join(names[f] for f in fields)}{comma})"
            case TupleGetItem(value, index):
                return f"{names[value]}.{index}"
            case Function():
                return self._function("fn ", expr, depth + 1)
            case Let():
                return f"(\n{_indented(self._block(expr, depth + 1, expr))}\n)"
            case Op(name):
                return name
            case GlobalVar(name):
                return f"@{_word(name)}"
            case Var():
                raise ModelError(f"%{expr.name_hint} is free: no parameter and no let defines it")
        raise ModelError(f"cannot print {type(expr).__name__}")

    def _call(self, call: Call) -> str:
        parts = [self._names[a] for a in call.args]
        op = registry().get(call.op.name) if isinstance(call.op, Op) else None
        defaults = {f.name: f.default for f in op.fields} if op else {}
        for key, value in call.attrs.items():
            # As in TVM, whose text leaves out attributes with the default of their struct.
            if key not in defaults or defaults[key] != value:
                parts.append(f"{key}={attr_text(value)}")
        return f"{self._names[call.op]}({', '.join(parts)})"

    def _constant(self, constant: Constant) -> str:
        if constant.data.ndim == 0:
            return scalar_text(constant.data)
        # By identity: a constant with several users is one array of the file.
        index = self._constants.setdefault(constant, len(self._constants))
        return f"meta[relay.Constant][{index}]"

    def _type_comment(self, expr: Expr) -> str:
        known = self._types.get(expr)
        return "" if known is None else f" /* ty={known} */"


def _word(name: str) -> str:
    """A name of a function or an attribute, which the lexer must read as a name, too."""
    if not re.fullmatch(WORD, name, re.ASCII):
        raise ModelError(f"the name {name!r} cannot be written in Relay text")
    return name


def _is_atom(expr: Expr) -> bool:
    return isinstance(expr, Var | Constant | Op | GlobalVar)


def _indented(lines: list[str]) -> str:
    return "\n".join(f"  {part}" for line in lines for part in line.split("\n"))
