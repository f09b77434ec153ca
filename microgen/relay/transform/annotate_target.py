"""AnnotateTarget: marks each operator's compiler with ``compiler_begin`` and ``compiler_end``.

Source: TVM v0.14, ``annotate_target.cc``. The first codegen that accepts a call gets it. A tuple,
or a field of one, goes to the codegen of all its operands, or to "default" if they differ. The
annotations of an earlier run are kept, except "default", which means that no codegen took it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from microgen.graph.ir.refusal import Refusal
from microgen.relay.expr import Call, Expr, Function, Op, Tuple, TupleGetItem
from microgen.relay.module import IRModule
from microgen.relay.transform.annotated_regions import (
    DEFAULT,
    AnnotatedRegions,
    begin,
    compiler,
    end,
    is_begin,
    is_default,
    is_end,
)
from microgen.relay.transform.rewriting import Rewriter, each_body
from microgen.relay.transform.support import (
    Result,
    Support,
    answer,
    operator_call,
    refused,
    registered,
)
from microgen.relay.visit import values, with_values


class AnnotateTarget:
    """The pass, for codegens in the order of their priority.

    A codegen is a Support, or the name of one whose operators are registered (``registered``).
    """

    def __init__(self, codegens: str | Sequence[Support | str]) -> None:
        """Raises MicrogenError if nothing is registered for a name."""
        listed = [codegens] if isinstance(codegens, str) else codegens
        self._supports = tuple(registered(c) if isinstance(c, str) else c for c in listed)

    def __call__(self, module: IRModule) -> IRModule:
        """The annotated module. Raises ModelError for annotations that fit no region."""
        return self.run(module).module

    def run(self, module: IRModule) -> Result:
        """The annotated module, and the reasons why codegens refused operators."""
        refusals: list[Refusal[Expr]] = []

        def annotated(rewriter: Rewriter, _name: str, body: Expr) -> Expr:
            # A codegen of this run may take operators that none took in an earlier run.
            body = without_defaults(rewriter, body)
            return _Annotator(rewriter, self._supports, refusals).body(body)

        return Result(each_body(module, annotated), tuple(refusals))


def without_defaults(rewriter: Rewriter, body: Expr) -> Expr:
    """A body without its "default" annotations."""
    return rewriter.rewrite(body, lambda _, new: new.args[0] if is_default(new) else new)


@dataclass(eq=False)
class _Annotator:
    """The annotation of one function. ``_targets`` has the target of each new expression."""

    rewriter: Rewriter
    supports: tuple[Support, ...]
    refusals: list[Refusal[Expr]]

    def body(self, body: Expr) -> Expr:
        """The body with annotations."""
        self._annotated = AnnotatedRegions(body).of
        self._targets: dict[Expr, str] = {}
        return self._ended(self.rewriter.rewrite(body, self._rule))

    def _rule(self, old: Expr, new: Expr) -> Expr:
        if old in self._annotated:
            return self._again(new)
        match new:
            case Call():
                assert isinstance(old, Call)
                return self._marked(new, self._target(old))
            case Tuple() | TupleGetItem():
                return self._marked(new, self._common(values(new)))
            case _:
                return new

    def _again(self, expr: Expr) -> Expr:
        """An expression that was annotated before. Only its region's inputs may get new ends."""
        if not is_begin(expr):
            return expr
        return self.rewriter.rebuilt(expr, {expr.args[0]: self._ended(expr.args[0])})

    def _marked(self, expr: Expr, target: str) -> Expr:
        """``expr`` with its operands annotated to enter the region of ``target``."""
        begun = [self._begun(value, target) for value in values(expr)]
        marked = self.rewriter.typed(with_values(expr, begun), self.rewriter.types[expr])
        # Its readers add the end of this region.
        self._targets[marked] = target
        return marked

    def _common(self, operands: Sequence[Expr]) -> str:
        targets = {compiler(o) if is_end(o) else self._targets.get(o, DEFAULT) for o in operands}
        return targets.pop() if len(targets) == 1 else DEFAULT

    def _ended(self, expr: Expr) -> Expr:
        """``expr`` for its readers. Variables and calls without arguments can begin any region."""
        if expr not in self._targets or not values(expr):
            return expr
        return self.rewriter.typed(end(expr, self._targets[expr]), self.rewriter.types[expr])

    def _begun(self, expr: Expr, target: str) -> Expr:
        ended = self._ended(expr)
        return self.rewriter.typed(begin(ended, target), self.rewriter.types[expr])

    def _target(self, call: Call) -> str:
        if isinstance(call.op, Op):
            return next((s.name for s in self.supports if self._takes(s, call)), DEFAULT)
        if isinstance(call.op, Function):
            owner, dot, _ = str(call.op.attrs.get("Composite", "")).partition(".")
            if dot and any(s.name == owner for s in self.supports):
                return owner
        return DEFAULT

    def _takes(self, support: Support, call: Call) -> bool:
        seen = operator_call(call, self.rewriter.types)
        predicate = support.operators.get(seen.op)
        if predicate is None:
            reason: str | None = f"{support.name} has no {seen.op}"
        else:
            reason = answer(predicate, seen, f"the predicate of {support.name} for {seen.op}")
        if reason is not None:
            origin = self.rewriter.origin(call)
            self.refusals.append(refused(support.name, seen.op, origin, reason))
        return reason is None
