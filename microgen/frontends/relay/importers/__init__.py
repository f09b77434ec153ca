"""One importer per Relay operator: from a call's arguments and attributes to nodes of the graph.

Found by folder: each module but ``arguments`` has ``IMPORTERS``, operator name -> importer. To add
an operator, write its function and its row; those of ``qnn.*`` have a module of their own.
"""

from __future__ import annotations

import functools
import importlib
import pkgutil
from collections.abc import Mapping
from types import MappingProxyType

from microgen.errors import UnsupportedError
from microgen.frontends.relay.calls import Importer, RelayCall


@functools.cache
def registry() -> Mapping[str, Importer]:
    """Operator name -> importer, for every operator there is, sorted."""
    names = sorted(m.name for m in pkgutil.iter_modules(__path__) if m.name != "arguments")
    modules = [importlib.import_module(f"{__name__}.{name}") for name in names]
    found = {name: importer for module in modules for name, importer in module.IMPORTERS.items()}
    return MappingProxyType(dict(sorted(found.items())))


def importer(call: RelayCall) -> Importer:
    """The importer of a call's operator. UnsupportedError where there is none."""
    if call.op in registry():
        return registry()[call.op]
    raise UnsupportedError(
        f"operator {call.op} is not supported: it would need an importer of its own",
        where=call.where,
        hint="`microgen ops` lists those that are",
    )
