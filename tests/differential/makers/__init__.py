"""One maker per kind of TFLite operator: it adds a random one to a network.

Found by folder: each module has ``MAKERS``, rows of operators, dtypes and the function that adds
one. To have another operator in the networks, write its row.
"""

from __future__ import annotations

import functools
import importlib
import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from tests.differential.network import Network

ALL = ("int8", "int16", "float32")
EVERY = (*ALL, "int32", "int64", "bool")
Make = Callable[[Network, str, str], None]


@dataclass(frozen=True)
class Maker:
    """``make(network, code, dtype)`` appends an operator of that name that reads data of that
    dtype; UnfitError where it cannot. Of one of these kinds there are ``often`` times as many.

    The dtype ``hybrid`` is float32 data with int8 weights.
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
    """Data of a layer that has weights; hybrid ones quantize it, so it must be exact."""
    if dtype != "hybrid":
        return net.pick(dtype, rank)
    return net.pick("float32", rank, lambda name: name not in net.shaken)
