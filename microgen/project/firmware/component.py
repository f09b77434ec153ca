"""The lists in ``model/CMakeLists.txt``, with which other firmware compiles the model."""

from __future__ import annotations

from collections.abc import Sequence

# Numbers may depend on the first two; a firmware's own flags may contain their opposites. Sections
# of their own let the linker drop functions. Link-time optimization would merge the functions that
# `microgen verify` looks for.
C_FLAGS = (
    "-ffp-contract=off",
    "-fno-fast-math",
    "-ffunction-sections",
    "-fdata-sections",
    "-fno-lto",
)
_PUBLIC = ("model/codegen/host/include", "crt/include")
_VARIABLES = {"model/": "${MODEL}/", "crt/": "${CRT}/", "codegens/": "${CODEGENS}/"}


def lists(
    model_sources: Sequence[str],
    runtime_sources: Sequence[str],
    *,
    includes: Sequence[str],
    codegen_includes: Sequence[str],
    codegen_sources: Sequence[str],
) -> dict[str, list[str]]:
    """The values of the template by name."""
    by_name = {
        "model_sources": model_sources,
        "runtime_sources": runtime_sources,
        "codegen_sources": codegen_sources,
        "public_includes": _PUBLIC,
        "private_includes": [folder for folder in includes if folder not in _PUBLIC],
        "codegen_includes": codegen_includes,
    }
    return {
        # The folders have other places in an archive, so paths begin with a variable.
        **{name: [_with_variable(path) for path in paths] for name, paths in by_name.items()},
        "c_flags": list(C_FLAGS),
    }


def _with_variable(path: str) -> str:
    folder = path[: path.index("/") + 1]
    return _VARIABLES[folder] + path.removeprefix(folder)
