"""The code generators, which microgen finds by the entry points in pyproject.toml."""

from __future__ import annotations

from microgen_byoc_template.codegen import Vecunit
from microgen_byoc_template.tape import Vectape

CODEGEN = Vecunit()
TAPE = Vectape()
