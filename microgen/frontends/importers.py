"""A format's table from the names of its operators to the functions that import them."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, TypeVar

from microgen.base.errors import UnsupportedError
from microgen.frontends.operators import Operator

_SHARED = ".arguments"  # arguments that several importers read in the same way
_Importer = TypeVar("_Importer")


def table(package: str, path: Iterable[str]) -> Mapping[str, Any]:
    """Operator name -> importer, sorted, from all modules of a package and its subpackages, except
    ``arguments``. Each module has its own part of the table, ``IMPORTERS``. ``path`` is the
    package's ``__path__``.
    """
    # Modules are listed, not named one by one, so that an operator is added in one file.
    names = sorted(m.name for m in pkgutil.walk_packages(path, f"{package}.") if not m.ispkg)
    modules = [importlib.import_module(name) for name in names if not name.endswith(_SHARED)]
    importers = {
        name: importer for module in modules for name, importer in module.IMPORTERS.items()
    }
    return MappingProxyType(dict(sorted(importers.items())))


def of(operator: Operator, known: Mapping[str, _Importer]) -> _Importer:
    """The importer of an operator. Raises UnsupportedError if there is none."""
    if operator.op in known:
        return known[operator.op]
    raise UnsupportedError(
        f"operator {operator.op} is not supported: it would need an importer of its own",
        where=operator.where,
        hint="`microgen ops` lists those that are",
    )
