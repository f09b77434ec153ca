"""Implementations, found by folder: a module with ``IMPLEMENTATIONS`` has those of one op or of a
pattern of ops (``OP_NAME``); the other modules are shared by several ops."""

from __future__ import annotations

import functools
import importlib
import pkgutil
from collections.abc import Mapping
from types import MappingProxyType, ModuleType

from microgen.kernels.base import Implementation
from microgen.kernels.patterns import JOINT


@functools.cache
def modules() -> tuple[ModuleType, ...]:
    """The modules of the folder, in the order of their names."""
    names = sorted(m.name for m in pkgutil.iter_modules(__path__) if not m.ispkg)
    return tuple(importlib.import_module(f"{__name__}.{name}") for name in names)


@functools.cache
def registry() -> Mapping[str, tuple[Implementation, ...]]:
    """Op or pattern -> its kernels. Several modules may have kernels of one op; they follow one
    another in the order of the modules' names."""
    found: dict[str, tuple[Implementation, ...]] = {}
    for module in modules():
        if hasattr(module, "IMPLEMENTATIONS"):
            found[module.OP_NAME] = (*found.get(module.OP_NAME, ()), *module.IMPLEMENTATIONS)
    return MappingProxyType(found)


@functools.cache
def joint_ops() -> tuple[tuple[str, ...], ...]:
    """The patterns of several ops that have kernels, sorted."""
    return tuple(tuple(name.split(JOINT)) for name in sorted(registry()) if JOINT in name)


def named(op: str, symbol: str) -> Implementation | None:
    """The kernel of that op or pattern with that name, None if there is none."""
    return next((kernel for kernel in registry().get(op, ()) if kernel.symbol == symbol), None)
