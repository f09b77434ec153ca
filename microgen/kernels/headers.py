"""Where the headers of kernels are: ``crt/include`` has the families of this package as folders."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from types import MappingProxyType

from microgen.base import resources

# In a line of its own: the declaration of a kernel, or a macro that declares kernels of a family.
_DECLARED = re.compile(
    r"^(?:MG_EXTERN .*?\bmg_|MG_\w+\(mg_)(\w+)|^#define MG_(\w+)_PROTOTYPE\(", re.MULTILINE
)


def path(name: str) -> str:
    """The path that C includes for the header that declares ``mg_<name>``, or the kernels of the
    family ``name``: "take_computed" is in "microgen/moves/take.h". A header may also have that
    name itself. A name without a header is expected in no family's folder."""
    return _paths().get(name, f"microgen/{name}.h")


@functools.cache
def _paths() -> Mapping[str, str]:
    include = resources.folder("crt") / "include"
    headers = {each: each.relative_to(include).as_posix() for each in include.rglob("*.h")}
    found = {
        (symbol or family.lower()): header
        for each, header in sorted(headers.items())
        for symbol, family in _DECLARED.findall(each.read_text())
    }
    return MappingProxyType({**found, **{each.stem: header for each, header in headers.items()}})
