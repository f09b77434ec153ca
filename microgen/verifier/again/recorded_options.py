"""The options of ``generate`` that a manifest records."""

from __future__ import annotations

from dataclasses import fields

from microgen.base.errors import ProjectError, short
from microgen.base.formats.structuring import structure
from microgen.base.manifest import ModuleRecord
from microgen.options import Options

# A generated project contains the contents of these options: sizes and values in the model, the
# schedule in the manifest. So a manifest records no values of them, for example no paths.
_WITHIN = ("bind", "codegen_path", "dim", "schedule")


def missing(module: ModuleRecord) -> list[str]:
    """The options that the manifest does not have, sorted."""
    # A manifest of an earlier version lacks the options that were added since.
    return sorted({field.name for field in fields(Options)} - module.options.keys())


def recorded(module: ModuleRecord) -> Options:
    """The options of one model. The options of code generators have no values, because their values
    are not recorded.

    Raises ValueError or MicrogenError if ``generate`` would refuse them, or if they name something
    outside of the project.
    """
    raw = dict(module.options)
    for name in _WITHIN:
        if raw.get(name):
            raise ProjectError(
                f"is {short(repr(raw[name]))}, expected nothing: a project has in itself what it "
                "was made from",
                where=f"microgen.json: options.{name}",
                hint="generate the project again",
            )
    if is_graph(module):  # it promises symbols that a graph does not have
        raw |= {"constant_alignment": Options().constant_alignment, "unpacked_api": None}
    return structure(raw, Options)


def is_graph(module: ModuleRecord) -> bool:
    """Whether the graph executor runs the model."""
    return bool(module.options.get("executor") == "graph")
