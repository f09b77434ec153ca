"""The options of ``generate`` that a manifest records."""

from __future__ import annotations

from dataclasses import fields

from microgen.formats.structuring import structure
from microgen.manifest import ModuleRecord
from microgen.options import Options


def missing(module: ModuleRecord) -> list[str]:
    """The options that the manifest does not have, sorted."""
    return sorted({field.name for field in fields(Options)} - module.options.keys())


def recorded(module: ModuleRecord) -> Options:
    """The options of one model. Those of code generators have no values: these are not recorded.

    Raises ValueError or MicrogenError if ``generate`` would refuse them.
    """
    said = dict(module.options)
    if is_graph(module):  # it promises symbols that a graph does not have
        said |= {"constant_alignment": Options().constant_alignment, "unpacked_api": None}
    return structure(said, Options)


def is_graph(module: ModuleRecord) -> bool:
    """Whether the graph executor runs the model."""
    return bool(module.options.get("executor") == "graph")
