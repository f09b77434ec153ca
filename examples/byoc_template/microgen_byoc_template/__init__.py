"""The code generator ``vecunit``, which microgen finds by the entry point in pyproject.toml."""

from __future__ import annotations

from microgen_byoc_template.codegen import Vecunit

CODEGEN = Vecunit()
