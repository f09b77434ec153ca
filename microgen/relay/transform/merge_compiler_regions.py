"""MergeCompilerRegions: joins regions of one compiler that feed each other.

Source: TVM v0.14, ``merge_compiler_regions.cc``. In the order of evaluation, each region absorbs
the regions of its own compiler that feed it. It remains convex: no path leads out of it and back
into it. So each region records the regions that it needs through other compilers, and absorbs none
of them. Expressions without annotations are treated like another compiler's; TVM overlooks them.
"""

from __future__ import annotations

from microgen.relay.expr import Expr
from microgen.relay.module import IRModule
from microgen.relay.transform.annotated_regions import (
    AnnotatedRegion,
    AnnotatedRegions,
    Item,
    is_begin,
)
from microgen.relay.transform.rewriting import Rewriter, each_body
from microgen.relay.visit import values


class MergeCompilerRegions:
    """The pass."""

    def __call__(self, module: IRModule) -> IRModule:
        """The merged module. ModelError if annotations fit no region or a region is not convex."""
        return each_body(module, _merged)


def _merged(rewriter: Rewriter, _name: str, body: Expr) -> Expr:
    regions = AnnotatedRegions(body)
    order = regions.ordered(body)
    merger = _Merger(regions)
    for item in order:
        merger.visit(item)

    def rule(old: Expr, new: Expr) -> Expr:
        if not is_begin(old) or regions.of[old] is not regions.of.get(old.args[0]):
            return new
        # Neither the end of the other region nor the begin of this one is left.
        return values(values(new)[0])[0]

    return rewriter.rewrite(body, rule)


class _Merger:
    """Merges regions. A set of regions is an integer: bit i is the region with the number i."""

    def __init__(self, regions: AnnotatedRegions) -> None:
        self._regions = regions
        self._members: dict[AnnotatedRegion, int] = {}  # the regions merged into each one
        self._reached: dict[Item, int] = {}  # the regions that each item needs through others

    def visit(self, item: Item) -> None:
        """Visit a region or a single expression, after everything that it needs."""
        needed = list(dict.fromkeys(self._regions.below(item)))
        reached = 0
        for other in needed:
            reached |= self._reached[other]
            if isinstance(other, AnnotatedRegion) and not _joins(other, item):
                reached |= self._members[other]
        self._reached[item] = reached
        if isinstance(item, AnnotatedRegion):
            self._members[item] = 1 << item.number
            self._take_in(item, needed)

    def _take_in(self, region: AnnotatedRegion, needed: list[Item]) -> None:
        reached = self._reached[region]
        for other in needed:
            if not isinstance(other, AnnotatedRegion) or not _joins(other, region):
                continue
            # If the region also needs ``other`` through another compiler, their union is not
            # convex.
            if not reached & self._members[other]:
                region = self._joined(region, other)
        self._reached[region] = reached

    def _joined(self, a: AnnotatedRegion, b: AnnotatedRegion) -> AnnotatedRegion:
        """Merge two regions into the larger one, so that long chains remain cheap."""
        small, large = (a, b) if len(a.nodes) < len(b.nodes) else (b, a)
        self._members[large] |= self._members[small]
        self._regions.merge(small, large)
        return large


def _joins(region: AnnotatedRegion, item: Item) -> bool:
    return isinstance(item, AnnotatedRegion) and region.target == item.target
