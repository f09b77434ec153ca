"""Passes over modules, called as in TVM: ``relay.transform.InferType()(module)``.

``docs/guides/partition.md`` shows, step by step, the passes that give parts of a module to other
compilers. They keep ``module.types`` without inferring anything, so the module may contain
operators that the registry does not have. They raise ModelError if the types are not known.
"""

from __future__ import annotations

from microgen.graph.ir.refusal import Refusal
from microgen.relay.infer_type import InferType
from microgen.relay.transform.annotate_target import AnnotateTarget
from microgen.relay.transform.merge_compiler_regions import MergeCompilerRegions
from microgen.relay.transform.merge_composite import MergeComposite
from microgen.relay.transform.partition_graph import PartitionGraph
from microgen.relay.transform.support import (
    CompositePattern,
    Match,
    OperatorCall,
    Predicate,
    Result,
    Support,
    registered,
)

__all__ = [
    "AnnotateTarget",
    "CompositePattern",
    "InferType",
    "Match",
    "MergeCompilerRegions",
    "MergeComposite",
    "OperatorCall",
    "PartitionGraph",
    "Predicate",
    "Refusal",
    "Result",
    "Support",
    "registered",
]
