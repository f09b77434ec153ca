"""Annotations, and the regions between them, by compiler."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TypeGuard

from microgen.base.errors import ModelError
from microgen.relay.expr import Call, Expr, Op, Tuple, TupleGetItem
from microgen.relay.infer_type import place
from microgen.relay.visit import depth_first, operands, values

# Reads, removes and places the annotations ``compiler_begin`` and ``compiler_end``.

BEGIN = Op("annotation.compiler_begin")
END = Op("annotation.compiler_end")

# The name for operators that no external compiler takes.
DEFAULT = "default"


def is_begin(expr: Expr) -> TypeGuard[Call]:
    """Whether a region begins at this expression."""
    return isinstance(expr, Call) and expr.op == BEGIN


def is_end(expr: Expr) -> TypeGuard[Call]:
    """Whether a region ends at this expression."""
    return isinstance(expr, Call) and expr.op == END


def is_mark(expr: Expr) -> TypeGuard[Call]:
    """Whether this is an annotation and not the computation of a value."""
    return is_begin(expr) or is_end(expr)


def compiler(mark: Call) -> str:
    """The compiler of the region that the annotation marks."""
    return str(mark.attrs["compiler"])


def begin(expr: Expr, target: str) -> Call:
    """``expr`` with the annotation of entering a region."""
    return Call(BEGIN, [expr], MappingProxyType({"compiler": target}))


def end(expr: Expr, target: str) -> Call:
    """``expr`` with the annotation of leaving a region."""
    return Call(END, [expr], MappingProxyType({"compiler": target}))


def bare(expr: Expr) -> Expr:
    """The expression without the annotations around it."""
    while is_mark(expr):
        expr = expr.args[0]
    return expr


def is_default(expr: Expr) -> TypeGuard[Call]:
    """Whether this is a "default" annotation, which is equivalent to none."""
    return is_mark(expr) and compiler(expr) == DEFAULT


@dataclass(eq=False)
class AnnotatedRegion:
    """One region. ``ins`` are its ``compiler_begin`` calls, ``outs`` its ``compiler_end`` calls, in
    order."""

    number: int
    target: str
    nodes: list[Expr] = field(default_factory=list)
    ins: list[Call] = field(default_factory=list)
    outs: list[Call] = field(default_factory=list)

    @property
    def computes(self) -> bool:
        """Whether the region contains anything except tuples and their fields."""
        return any(isinstance(n, Call) and not is_mark(n) for n in self.nodes)


Item = AnnotatedRegion | Expr


class AnnotatedRegions:
    """The regions of a function's body. Raises ModelError for annotations without a partner."""

    def __init__(self, body: Expr) -> None:
        self.of: dict[Expr, AnnotatedRegion] = {}
        self._count = 0
        for expr in depth_first(body, operands):
            self._place(expr)
        if body in self.of and not is_end(body):
            raise _error(body, "a value leaves a region without compiler_end")

    def _place(self, expr: Expr) -> None:
        if is_begin(expr):
            self._open(expr)
        elif is_end(expr):
            self._close(expr)
        elif isinstance(expr, Call | Tuple | TupleGetItem):
            self._join(expr)

    def _open(self, begin: Call) -> None:
        if begin.args[0] in self.of and not is_end(begin.args[0]):
            raise _error(begin, "a region begins with a value of another one that has not ended")
        # Each begin opens a region; an operator that uses several of them joins them.
        self._add(AnnotatedRegion(self._count, compiler(begin), ins=[begin]), begin)
        self._count += 1

    def _close(self, end: Call) -> None:
        region = self.of.get(end.args[0])
        if region is None or is_end(end.args[0]):
            raise _error(end, "compiler_end is outside of any region")
        if region.target != compiler(end):
            raise _error(end, f"a region of {region.target!r} ends as {compiler(end)!r}")
        self._add(region, end)
        region.outs.append(end)

    def _join(self, expr: Expr) -> None:
        inside = [self.of.get(v) for v in values(expr) if not is_end(v)]
        # In the order of the operands, so that equal modules get equal regions.
        regions = list(dict.fromkeys(r for r in inside if r is not None))
        if not regions:
            return
        if len(inside) < len(values(expr)) or None in inside:
            raise _error(expr, "an operand enters a region without compiler_begin")
        if len({r.target for r in regions}) > 1:
            raise _error(expr, "operands are in regions of several compilers")
        first, *others = regions
        for other in others:
            self.merge(other, first)
        self._add(first, expr)

    def _add(self, region: AnnotatedRegion, expr: Expr) -> None:
        region.nodes.append(expr)
        self.of[expr] = region

    def merge(self, source: AnnotatedRegion, into: AnnotatedRegion) -> None:
        """Join two regions."""
        for node in source.nodes:
            self._add(into, node)
        into.ins += source.ins
        into.outs += source.outs

    def item(self, expr: Expr) -> Item:
        """The expression's region, or the expression itself if it is in none."""
        return self.of.get(expr, expr)

    def below(self, item: Item) -> Sequence[Item]:
        """The items that an item needs. The items that a region needs are outside of it."""
        if isinstance(item, AnnotatedRegion):
            return [self.item(b.args[0]) for b in item.ins]
        return [self.item(e) for e in operands(item)]

    def ordered(self, body: Expr) -> list[Item]:
        """Regions, and expressions outside of any region, each after the items that it needs.

        Raises ModelError if a region is not convex, because it needs its own results via others.
        """
        done: set[Item] = set()
        for item in (order := list(depth_first(self.item(body), self.below))):
            if not done.issuperset(self.below(item)):
                expr = item.outs[0] if isinstance(item, AnnotatedRegion) else item
                raise _error(expr, "a region is not convex: it needs its own results via others")
            done.add(item)
        return order


def _error(expr: Expr, what: str) -> ModelError:
    span = getattr(expr, "span", None) or getattr(bare(expr), "span", None)
    return ModelError(what, where=place(span, "partition"), hint="annotate the module anew")
