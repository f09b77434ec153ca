"""The operators that a codegen can compile: predicates for single ones, patterns for several."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from microgen.base.errors import CodegenError, MicrogenError, of_codegen
from microgen.graph.ir.op_attrs import Taker, takers
from microgen.graph.ir.refusal import Refusal
from microgen.relay.expr import Attrs, Call, Constant, Expr, Op, Type
from microgen.relay.module import IRModule
from microgen.relay.pattern import Pattern
from microgen.relay.transform.annotated_regions import bare
from microgen.relay.visit import depth_first, operands


@dataclass(frozen=True)
class OperatorCall:
    """A call of an operator, as an argument of predicates.

    ``op`` is its name. ``args`` and ``result`` are types of tensors or of tuples. ``constants`` has
    the Constant of each argument, or None for an argument that is not constant.
    """

    op: str
    attrs: Attrs
    args: tuple[Type, ...]
    result: Type
    constants: tuple[Constant | None, ...] = ()


Predicate = Callable[[OperatorCall], str | None]


@dataclass(frozen=True)
class Match:
    """A pattern's match. ``root`` is its last expression. ``inputs`` are the expressions that
    remain outside, in the order of the composite function's parameters. ``matched`` maps each part
    of the pattern to its expression."""

    root: Expr
    inputs: tuple[Expr, ...]
    types: Mapping[Expr, Type] = field(repr=False)
    matched: Mapping[Pattern, Expr] = field(repr=False)

    @property
    def inside(self) -> list[Expr]:
        """The expressions of the match, in the order of evaluation. The last one is the root."""
        outside = set(self.inputs)
        exprs = depth_first(self.root, lambda e: () if e in outside else operands(e))
        return [e for e in exprs if e not in outside]

    @property
    def calls(self) -> tuple[OperatorCall, ...]:
        """The operators of the match, in the order of evaluation."""
        called = (e for e in self.inside if isinstance(e, Call) and isinstance(e.op, Op))
        return tuple(operator_call(call, self.types) for call in called)

    def call(self, op: str) -> OperatorCall | None:
        """The first call of an operator with this name in the match."""
        return next((c for c in self.calls if c.op == op), None)


@dataclass(frozen=True, eq=False)
class CompositePattern:
    """Several operators that a codegen compiles as one. ``name`` is ``<codegen>.<what it is>``.

    ``check`` returns None to accept a match, or a sentence that says why not.
    """

    name: str
    pattern: Pattern
    check: Callable[[Match], str | None] | None = None


@dataclass(frozen=True, eq=False)
class Support:
    """The operators that the codegen ``name`` can compile. The predicate of an operator returns
    None to accept a call, or a sentence that says why not."""

    name: str
    operators: Mapping[str, Predicate] = field(default_factory=dict)
    patterns: tuple[CompositePattern, ...] = ()


@dataclass(frozen=True)
class Result:
    """A pass's new module, and its refusals, in the order of evaluation."""

    module: IRModule
    refusals: tuple[Refusal[Expr], ...]


def refused(by: str, what: str, expr: Expr, why: str) -> Refusal[Expr]:
    """The refusal of an expression by the codegen ``codegen``."""
    span = expr.span if isinstance(expr, Call) else None
    return Refusal(by, expr, what, str(span) if span else "", why)


def operator_call(call: Call, types: Mapping[Expr, Type]) -> OperatorCall:
    """A call of an operator with its types. Annotations around constants are ignored."""
    assert isinstance(call.op, Op)
    # An annotated constant is still one.
    bares = [bare(a) for a in call.args]
    constants = tuple(b if isinstance(b, Constant) else None for b in bares)
    args = tuple(types[a] for a in call.args)
    return OperatorCall(call.op.name, call.attrs, args, types[call], constants)


def answer(question: Callable[[Any], Any], about: Any, of: str) -> str | None:
    """The answer of a predicate or a check. CodegenError if it is neither None nor a sentence."""
    with of_codegen("partition", of):
        reason = question(about)
    if reason is None or (isinstance(reason, str) and reason):
        return reason
    what = f"{of} answered {reason!r}, expected None to accept, or a sentence that says why not"
    raise CodegenError(what, where="partition")


def registered(name: str, patterns: tuple[CompositePattern, ...] = ()) -> Support:
    """The Support of the codegen ``name`` with the operators that have the attribute
    ``target.<name>`` (``microgen.graph.ir.register_op_attr``) at this time.

    Raises MicrogenError if no operator has it.
    """
    functions = takers(name)
    if not functions:
        raise MicrogenError(
            f"no operator has the attribute 'target.{name}'",
            where=f"the codegen {name!r}",
            hint=f'register one with register_op_attr("nn.conv2d", "target.{name}"), or pass the '
            "codegen's Support instead of its name",
        )
    return Support(
        name, {op: _predicate(op, name, taker) for op, taker in functions.items()}, patterns
    )


def _predicate(op: str, name: str, taker: Taker) -> Predicate:
    """A function that answers with a truth value, as a predicate."""

    def answered(call: OperatorCall) -> str | None:
        return None if taker(call) else f"the function registered for target.{name} refused {op}"

    return answered
