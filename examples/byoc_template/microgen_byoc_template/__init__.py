"""The code generators, which microgen finds by the entry points in pyproject.toml."""

from __future__ import annotations

from .codegen import Vecunit
from .tape import Vectape

CODEGEN = Vecunit()
TAPE = Vectape()
