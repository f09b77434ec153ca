"""Where the headers of kernels are: ``crt/include`` has the families of this package as folders."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from types import MappingProxyType

from microgen.base import resources


def path(name: str) -> str:
    """The path that C includes for the header of that name, without its suffix: "dense_s8" is
    "microgen/dense/dense_s8.h". A name without a header is expected in no family's folder."""
    return _paths().get(name, f"microgen/{name}.h")


@functools.cache
def _paths() -> Mapping[str, str]:
    include = resources.folder("crt") / "include"
    found = sorted((include / "microgen").rglob("*.h"))
    return MappingProxyType({each.stem: each.relative_to(include).as_posix() for each in found})
