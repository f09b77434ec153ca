"""Passes over modules, called as TVM's: ``relay.transform.InferType()(module)``.

``docs/partition.md`` shows those that give parts of a module to other compilers, step by step. They
keep ``module.types`` without inferring anything, so that operators which the registry does not have
may stand in the module; they raise ModelError if the types are not known.
"""

from __future__ import annotations

from microgen.ir.refusal import Refusal
from microgen.relay.transform.annotate_target import AnnotateTarget
from microgen.relay.transform.infer import InferType
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
]
