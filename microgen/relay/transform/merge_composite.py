"""MergeComposite: merges several operators that a codegen compiles as one into one call.

The match of a pattern becomes a function with the attributes ``Composite``, the pattern's name, and
``PartitionedFromPattern``, its operators in order. Source: TVM v0.14, ``merge_composite.cc`` and
``dataflow_matcher.cc``: patterns are tried one after the other, each from the end of the function
to its beginning, so the largest match is found first. Unlike in TVM, no match is made if a value
within it is used outside. TVM computes such a value twice if its other uses lead into the match.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from microgen.graph.ir.refusal import Refusal
from microgen.relay.expr import Call, Constant, Expr, Function, Op, Tuple, TupleGetItem, Var
from microgen.relay.module import IRModule
from microgen.relay.pattern import CallPattern, ConstantPattern, Pattern, TuplePattern, below, match
from microgen.relay.transform.rewriting import Rewriter, each_body
from microgen.relay.transform.support import CompositePattern, Match, Result, answer, refused
from microgen.relay.visit import depth_first, operands, values


class MergeComposite:
    """The pass, for patterns in the order in which they are tried."""

    def __init__(self, pattern_table: Sequence[CompositePattern]) -> None:
        self._patterns = tuple(pattern_table)

    def __call__(self, module: IRModule) -> IRModule:
        """The module with composite functions."""
        return self.run(module).module

    def run(self, module: IRModule) -> Result:
        """The module with composite functions, and the reasons why checks refused matches."""
        refusals: list[Refusal[Expr]] = []

        def merged(rewriter: Rewriter, _name: str, body: Expr) -> Expr:
            for pattern in self._patterns:
                body = _CompositeMerger(rewriter, pattern, refusals).body(body)
            return body

        return Result(each_body(module, merged), tuple(refusals))


@dataclass(eq=False)
class _CompositeMerger:
    """The search for one pattern in one function."""

    rewriter: Rewriter
    pattern: CompositePattern
    refusals: list[Refusal[Expr]]

    def body(self, body: Expr) -> Expr:
        """The body with the matches merged."""
        groups = self._groups(body)
        known: dict[Expr, Expr] = {}
        for expr in depth_first(body, operands):
            group = groups.get(expr)
            if group is not None and self._is_accepted(group[0]):
                known[expr] = self._composite(*group, known)
            else:
                known[expr] = self.rewriter.rebuilt(expr, known)
        return known[body]

    def _groups(self, body: Expr) -> dict[Expr, tuple[Match, int]]:
        """The matches by their roots, each with the number of matches that were tried earlier. They
        do not overlap."""
        exprs = list(depth_first(body, operands))
        users: dict[Expr, list[Expr]] = {}
        for expr in exprs:
            for value in operands(expr):
                users.setdefault(value, []).append(expr)
        taken: set[Expr] = set()
        groups: dict[Expr, tuple[Match, int]] = {}
        count = 0
        # From the end, so that the largest match comes first, as in TVM.
        for root in reversed(exprs):
            match_ = None if root in taken else self._match(root)
            if match_ is None:
                continue
            inside = dict.fromkeys(e for e in match_.inside if not _is_shared(e))
            # A value that is used outside would have to be computed twice.
            if not taken.intersection(inside) and _is_closed(root, inside, users):
                taken.update(inside)
                groups[root] = (match_, count)
            # Also for matches that are not taken, because TVM's names of parameters count them.
            count += 1
        return groups

    def _match(self, root: Expr) -> Match | None:
        matched = match(self.pattern.pattern, root, self.rewriter.types)
        # A match whose root is an input has no operator.
        if matched is None or root in (inputs := _inputs(self.pattern.pattern, matched)):
            return None
        return Match(root, inputs, self.rewriter.types, matched)

    def _is_accepted(self, match_: Match) -> bool:
        check = self.pattern.check
        name = self.pattern.name
        reason = answer(check, match_, f"the check of {name}") if check is not None else None
        if reason is not None:
            support = name.partition(".")[0]
            origin = self.rewriter.origin(match_.root)
            self.refusals.append(refused(support, name, origin, reason))
        return reason is None

    def _composite(self, match_: Match, number: int, known: Mapping[Expr, Expr]) -> Call:
        """The call of a composite function, whose body consists of the matched expressions."""
        types = self.rewriter.types
        params: dict[Expr, Var] = {}
        for i, expr in enumerate(match_.inputs):
            var = Var(f"FunctionVar_{number}_{i}", types[expr])
            params[expr] = self.rewriter.typed(var, types[expr])
        inner: dict[Expr, Expr] = dict(params)
        for expr in match_.inside:
            inner[expr] = self.rewriter.rebuilt(expr, inner)
        function = self.rewriter.function(
            list(params.values()),
            inner[match_.root],
            PartitionedFromPattern="".join(map(_word, match_.inside)),
            Composite=self.pattern.name,
        )
        call = Call(
            function, [known[e] for e in match_.inputs], span=getattr(match_.root, "span", None)
        )
        return self.rewriter.typed(call, types[match_.root])


def _is_shared(expr: Expr) -> bool:
    """Whether several matches may contain the expression."""
    return isinstance(expr, Constant | Function)


def _is_closed(
    root: Expr, inside: Mapping[Expr, None], users: Mapping[Expr, Sequence[Expr]]
) -> bool:
    """Whether only the root is used outside."""
    return all(u in inside for e in inside if e is not root for u in users.get(e, ()))


def _inputs(pattern: Pattern, matched: Mapping[Pattern, Expr]) -> tuple[Expr, ...]:
    """The inputs of a composite function, in the order of the pattern's parts."""
    inputs: dict[Expr, None] = {}
    for part in depth_first(pattern, below):
        expr = matched.get(part)
        if expr is None:
            continue
        match part:
            case CallPattern(args=None) | TuplePattern(fields=None):  # any operands
                inputs.update(dict.fromkeys(values(expr)))
            case ConstantPattern() if isinstance(expr, Constant):
                pass  # it becomes a part of the composite function
            case _ if not below(part) and not isinstance(expr, Op | Function):
                inputs[expr] = None
    return tuple(inputs)


def _word(expr: Expr) -> str:
    """TVM's name for an expression in ``PartitionedFromPattern``."""
    match expr:
        case Call(op=Op(name)):
            return f"{name}_"
        case Call():
            return "Call_"
        case Tuple():
            return "Tuple_"
        case TupleGetItem():
            return f"TupleGetItem{expr.index}_"
        case _:
            return ""
