"""Partitioning of a Relay module among external code generators, step by step as in TVM."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from microgen.graph.ir.refusal import Refusal
from microgen.relay.expr import Expr
from microgen.relay.module import IRModule
from microgen.relay.transform import (
    AnnotateTarget,
    MergeCompilerRegions,
    MergeComposite,
    PartitionGraph,
    Support,
)

STEPS = ("composite", "annotate", "merge", "partition")


@dataclass(frozen=True, slots=True)
class PartitionedModule:
    """A partitioned module. ``steps``: the module after each step, in order. ``refusals``: why
    generators refused other operators."""

    steps: Mapping[str, IRModule]
    refusals: tuple[Refusal[Expr], ...]

    @property
    def module(self) -> IRModule:
        """The module after the last step."""
        return self.steps["partition"]


@dataclass(frozen=True, slots=True)
class Partitioning:
    """How a model is partitioned. ``name`` is the model's. With ``composite`` patterns of several
    operators are tried, too. With ``merge_regions`` neighbouring regions of one generator become
    one."""

    name: str
    composite: bool = False
    merge_regions: bool = False


def partition_module(
    module: IRModule, supports: Sequence[Support], how: Partitioning
) -> PartitionedModule:
    """The module with a function for each region that a generator takes. If several generators
    take an operator, it belongs to the first. ``module`` has its types. Raises ModelError."""
    patterns = [pattern for support in supports for pattern in support.patterns]
    # TVM's order: patterns come first, so that their operators are annotated as one function.
    merged = MergeComposite(patterns if how.composite else []).run(module)
    annotated = AnnotateTarget(supports).run(merged.module)
    together = MergeCompilerRegions()(annotated.module) if how.merge_regions else annotated.module
    steps = (merged.module, annotated.module, together, PartitionGraph(how.name)(together))
    named = dict(zip(STEPS, steps, strict=True))
    return PartitionedModule(named, (*merged.refusals, *annotated.refusals))
