"""One importer per TFLite operator: from its tensors and options to one or more nodes.

Found by folder: each module but ``arguments`` has ``IMPORTERS``, operator name -> importer. To add
an operator, write its function and its row.
"""

from __future__ import annotations

import functools
import importlib
import pkgutil
from collections.abc import Mapping
from types import MappingProxyType

from microgen.frontends.tflite.layers import Importer


@functools.cache
def registry() -> Mapping[str, Importer]:
    """Operator name -> importer, for every operator there is, sorted."""
    names = sorted(m.name for m in pkgutil.iter_modules(__path__) if m.name != "arguments")
    modules = [importlib.import_module(f"{__name__}.{name}") for name in names]
    found = {name: importer for module in modules for name, importer in module.IMPORTERS.items()}
    return MappingProxyType(dict(sorted(found.items())))
