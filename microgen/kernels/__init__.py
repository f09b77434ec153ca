"""Kernels, found by folder: each module but ``base`` has the ``KERNELS`` of one op
(``OP_NAME``), best first."""

from __future__ import annotations

import functools
import importlib
import pkgutil
from collections.abc import Mapping
from types import MappingProxyType

from microgen.kernels.base import Kernel

# Not kernels of one op: what several are made of.
_SHARED = {
    "arg_extreme",
    "base",
    "blocks",
    "mve",
    "broadcast",
    "pool",
    "strided",
    "reduction",
    "window",
}


@functools.cache
def registry() -> Mapping[str, tuple[Kernel, ...]]:
    """Op name -> its kernels, best first."""
    names = sorted(m.name for m in pkgutil.iter_modules(__path__) if m.name not in _SHARED)
    modules = [importlib.import_module(f"{__name__}.{name}") for name in names]
    return MappingProxyType({module.OP_NAME: module.KERNELS for module in modules})
