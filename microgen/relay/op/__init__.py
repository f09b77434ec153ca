"""The Relay ops, found by folder: ``OPS`` of each module are the ops that it defines."""

from __future__ import annotations

import functools
import importlib
import pkgutil
from collections.abc import Mapping
from types import MappingProxyType

from microgen.relay.op.base import RelayOp


@functools.cache
def registry() -> Mapping[str, RelayOp]:
    """All ops: name -> definition."""
    names = sorted(m.name for m in pkgutil.iter_modules(__path__))
    modules = [importlib.import_module(f"{__name__}.{name}") for name in names]
    ops = [op for module in modules for op in getattr(module, "OPS", ())]
    return MappingProxyType({op.name: op for op in sorted(ops, key=lambda op: op.name)})
