"""Code generators; our own kernels are number one, behind the protocol that all share."""

from __future__ import annotations

import functools
import importlib
import importlib.util
import pkgutil
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from microgen.codegens.base import Codegen


def from_folder(path: Path) -> Mapping[str, Codegen]:
    """Those of a folder of modules and packages."""
    found = {}
    for module in sorted(pkgutil.iter_modules([str(path)]), key=lambda m: m.name):
        spec = module.module_finder.find_spec(module.name, None)
        assert spec is not None, "it has been found"
        assert spec.loader is not None, "it has been found"
        loaded = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(loaded)
        if hasattr(loaded, "CODEGEN"):
            found[loaded.CODEGEN.name] = loaded.CODEGEN
    return found


@functools.cache
def registry() -> Mapping[str, Codegen]:
    """Name -> codegen, for every module of this folder that has a ``CODEGEN``."""
    names = sorted(m.name for m in pkgutil.iter_modules(__path__))
    modules = [importlib.import_module(f"{__name__}.{name}") for name in names]
    found = [module.CODEGEN for module in modules if hasattr(module, "CODEGEN")]
    return MappingProxyType({codegen.name: codegen for codegen in found})
