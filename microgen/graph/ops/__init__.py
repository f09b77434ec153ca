"""The ops, found by folder: each module that has an ``OP`` defines one; the other modules are
shared by several ops."""

from __future__ import annotations

import functools
import importlib
import inspect
import pkgutil
from collections.abc import Mapping
from types import MappingProxyType

from microgen.graph.ops.base import Op


@functools.cache
def registry() -> Mapping[str, Op]:
    """All ops: name -> definition."""
    names = sorted(m.name for m in pkgutil.walk_packages(__path__, f"{__name__}."))
    modules = [importlib.import_module(name) for name in names]
    ops = [module.OP for module in modules if hasattr(module, "OP")]
    return MappingProxyType({op.name: op for op in ops})


def about(op: Op) -> str:
    """One line about an op: the first paragraph of its module's docstring, without the name."""
    first = _paragraph(importlib.import_module(op.attrs.__module__))
    return (first.partition(": ")[2] or first).rstrip(".")


def conditions(op: Op) -> str:
    """One line about what the op accepts: the first paragraph of the docstring of its check."""
    return _paragraph(op.check)


def _paragraph(documented: object) -> str:
    return " ".join((inspect.getdoc(documented) or "").partition("\n\n")[0].split())
