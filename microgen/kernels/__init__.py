"""Implementations, found by folder: a module with ``IMPLEMENTATIONS`` has the kernels of one op or
of a pattern of ops (``OP_NAME``); a module with ``BY_OP`` has the reference kernels of several ops
of one kind; the other modules are shared by several ops.

Costs decide which implementation computes a node. If none is measured, or estimates differ by less
than their errors, the order of the list decides. Modules state this order: a higher ``PRECEDENCE``
comes first. An op's own module, which bears its name or has it in ``BY_OP``, and has the reference
kernels, comes after them, and modules that state nothing come last.
"""

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
    """The modules of the families and the shared modules, in the order of their names."""
    found = pkgutil.walk_packages(__path__, f"{__name__}.")
    names = sorted((m.name.rpartition(".")[2], m.name) for m in found if not m.ispkg)
    return tuple(importlib.import_module(name) for _, name in names)


@functools.cache
def registry() -> Mapping[str, tuple[Implementation, ...]]:
    """Op or pattern -> its kernels, by the order of their modules, then of each module's own."""
    found: dict[str, tuple[Implementation, ...]] = {}
    entries = [
        (_order(module, op), op, own) for module in modules() for op, own in of(module).items()
    ]
    for _, op, own in sorted(entries, key=lambda entry: entry[:2]):
        found[op] = (*found.get(op, ()), *own)
    return MappingProxyType(dict(sorted(found.items())))


@functools.cache
def sources() -> Mapping[tuple[str, str], str]:
    """Op or pattern, and symbol -> the path of the kernel's module, such as
    "microgen/kernels/dense/dense.py"."""
    return MappingProxyType(
        {
            (op, kernel.symbol): f"{module.__name__.replace('.', '/')}.py"
            for module in modules()
            for op, own in of(module).items()
            for kernel in own
        }
    )


def modules_of(symbol: str) -> tuple[str, ...]:
    """The paths of the modules with a kernel, sorted; several if it is one of several ops."""
    return tuple(sorted(path for (_, name), path in sources().items() if name == symbol))


def of(module: ModuleType) -> Mapping[str, tuple[Implementation, ...]]:
    """Op or pattern -> the kernels that a module has of it."""
    if hasattr(module, "BY_OP"):
        table: Mapping[str, tuple[Implementation, ...]] = module.BY_OP
        return table
    return {module.OP_NAME: module.IMPLEMENTATIONS} if hasattr(module, "IMPLEMENTATIONS") else {}


def _order(module: ModuleType, op: str) -> tuple[int, bool, str]:
    """The place of a module in the order of the op's modules. If modules state no precedence, the
    names of their first kernels decide.
    """
    name = module.__name__.rpartition(".")[2]
    is_own = hasattr(module, "BY_OP") or name == op.rpartition(".")[2]
    # The least comes first, so a precedence is negated, and False, for the op's own module,
    # precedes True.
    return -getattr(module, "PRECEDENCE", 0), not is_own, of(module)[op][0].symbol


@functools.cache
def joint_ops() -> tuple[tuple[str, ...], ...]:
    """The patterns of several ops that have kernels, sorted."""
    return tuple(tuple(name.split(JOINT)) for name in sorted(registry()) if JOINT in name)


def named(op: str, symbol: str) -> Implementation | None:
    """The kernel of the op or pattern with that symbol, or None."""
    return next((kernel for kernel in registry().get(op, ()) if kernel.symbol == symbol), None)
