"""The ops, found by folder: a module with ``OP`` defines one, a module with ``OPS`` several of one
kind; the other modules are shared by several ops."""

from __future__ import annotations

import functools
import importlib
import inspect
import pkgutil
from collections.abc import Mapping
from types import MappingProxyType

from microgen.graph.ops.base import OpDefinition

# The ops whose results have an element for each element of their inputs, so they compute each
# channel by itself, too. Functions that are tables are not among them.
BY_ELEMENT = (
    *("add", "clip", "maximum", "minimum", "multiply", "nn.leaky_relu", "nn.prelu"),
    *("qnn.requantize", "subtract"),
)


@functools.cache
def registry() -> Mapping[str, OpDefinition]:
    """All ops: name -> definition."""
    names = sorted(m.name for m in pkgutil.walk_packages(__path__, f"{__name__}."))
    modules = [importlib.import_module(name) for name in names]
    tables = (getattr(module, "OPS", getattr(module, "OP", ())) for module in modules)
    ops = [op for each in tables for op in ((each,) if isinstance(each, OpDefinition) else each)]
    return MappingProxyType({op.name: op for op in sorted(ops, key=lambda op: op.name)})


def about(op: OpDefinition) -> str:
    """One line about an op. By default it is the first paragraph of the docstring that begins with
    its name, of its attributes or of their module."""
    documented = (op.attrs, importlib.import_module(op.attrs.__module__))
    first = (_paragraph(each).partition(f"{op.name}: ")[2] for each in documented)
    return op.about or next(filter(None, first)).rstrip(".")


def conditions(op: OpDefinition) -> str:
    """One line about what the op accepts: the first paragraph of the docstring of its check."""
    return _paragraph(op.check)


def _paragraph(documented: object) -> str:
    return " ".join((inspect.getdoc(documented) or "").partition("\n\n")[0].split())
