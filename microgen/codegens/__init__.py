"""Code generators; our own kernels are number one, behind the protocol that all share."""

from __future__ import annotations

import functools
import importlib
import pkgutil
from collections.abc import Mapping
from types import MappingProxyType

from microgen.codegens.base import Codegen


@functools.cache
def registry() -> Mapping[str, Codegen]:
    """Name -> codegen, for every module of this folder that has a ``CODEGEN``."""
    names = sorted(m.name for m in pkgutil.iter_modules(__path__))
    modules = [importlib.import_module(f"{__name__}.{name}") for name in names]
    found = [module.CODEGEN for module in modules if hasattr(module, "CODEGEN")]
    return MappingProxyType({codegen.name: codegen for codegen in found})
