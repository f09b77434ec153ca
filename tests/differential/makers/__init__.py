"""One maker per kind of TFLite operator: it adds a random one to a network.

Makers are found by folder: each module has ``MAKERS``, rows of operators, dtypes and the function
that adds one. To put another operator into the networks, write a row for it.
"""

from __future__ import annotations

import functools
import importlib
import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from tests.differential.network import Network

SIGNED = ("int8", "int16", "float32")
ALL = (*SIGNED, "uint8")
EVERY = (*ALL, "int32", "int64", "bool")
WITHOUT_UINT8 = tuple(dtype for dtype in EVERY if dtype != "uint8")
Make = Callable[[Network, str, str], None]


@dataclass(frozen=True)
class Maker:
    """``make(network, code, dtype)`` appends an operator of that name that reads data of that
    dtype.

    It raises UnfitError if it cannot. A kind is drawn with a weight of ``often``. The dtype
    ``hybrid`` is float32 data with int8 weights.
    """

    codes: tuple[str, ...]
    dtypes: tuple[str, ...]
    make: Make
    often: int = 1


@functools.cache
def registry() -> Mapping[tuple[str, str], Maker]:
    """(operator, dtype) -> maker, sorted."""
    names = sorted(module.name for module in pkgutil.iter_modules(__path__))
    modules = [importlib.import_module(f"{__name__}.{name}") for name in names]
    rows: list[Maker] = [row for module in modules for row in module.MAKERS]
    found = {(code, dtype): row for row in rows for code in row.codes for dtype in row.dtypes}
    return MappingProxyType(dict(sorted(found.items())))


def pick_data(net: Network, dtype: str, rank: int | None = None) -> str:
    """Data for a layer with weights. Hybrid layers quantize it, so it must be exact there."""
    if dtype != "hybrid":
        return net.pick(dtype, rank)
    return net.pick("float32", rank, lambda name: name not in net.shaken)
