"""Importers of the toy operators, one for each."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

from microgen.frontends import importers


@functools.cache
def registry() -> Mapping[str, Any]:
    """Operator name -> importer."""
    return importers.table(__name__, __path__)
