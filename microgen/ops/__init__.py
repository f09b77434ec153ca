"""The ops, found by folder: every module here but ``base`` exposes one ``OP``."""

from __future__ import annotations

import functools
import importlib
import pkgutil
from collections.abc import Mapping
from types import MappingProxyType

from microgen.ops.base import Op

# Not ops: what several ops are made of.
_SHARED = {
    *(
        "arg_extreme",
        "base",
        "broadcast",
        "convolution",
        "fixed_point",
        "geometry",
        "reduction",
        "unary",
        "window",
    ),
}


@functools.cache
def registry() -> Mapping[str, Op]:
    """Op name -> definition, for every op there is."""
    modules = sorted(m.name for m in pkgutil.iter_modules(__path__) if m.name not in _SHARED)
    ops = [importlib.import_module(f"{__name__}.{name}").OP for name in modules]
    return MappingProxyType({op.name: op for op in ops})


def about(op: Op) -> str:
    """One line on an op: the first of its module's documentation, after the name."""
    module = importlib.import_module(op.attrs.__module__)
    first = (module.__doc__ or "").splitlines()[0]
    return first.partition(": ")[2].rstrip(".") or first
