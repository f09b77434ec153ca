"""Kernels, found by folder: a module with ``KERNELS`` has the kernels of one op (``OP_NAME``), best
first; the other modules are shared by several ops."""

from __future__ import annotations

import functools
import importlib
import pkgutil
from collections.abc import Mapping
from types import MappingProxyType

from microgen.kernels.base import Kernel


@functools.cache
def registry() -> Mapping[str, tuple[Kernel, ...]]:
    """Op name -> its kernels, best first."""
    names = sorted(m.name for m in pkgutil.iter_modules(__path__))
    modules = [importlib.import_module(f"{__name__}.{name}") for name in names]
    return MappingProxyType(
        {module.OP_NAME: module.KERNELS for module in modules if hasattr(module, "KERNELS")}
    )
