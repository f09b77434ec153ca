"""The ELF symbols of everything that is emitted, except operators."""

from __future__ import annotations

SHARED_WORKSPACE = "mg_shared_workspace"  # the memory that several models' pools lie in


def prefix(module: str) -> str:
    """``tvmgen_<module>``, which every symbol of a model starts with."""
    return f"tvmgen_{module}"


def arena(module: str, pool: str) -> str:
    """The ELF symbol of a workspace pool."""
    return named(module, pool)


def workspace_section(memory: str) -> str:
    """The section of internal pools in a memory of the board; "" is the memory where the board
    keeps its buffers."""
    return f".bss.noinit.tvm.{memory}" if memory else ".bss.noinit.tvm"


def constant_section(memory: str) -> str:
    """The section of constants in a memory of the board; "" is the memory where the board keeps its
    constants."""
    return f".rodata.tvm.{memory}" if memory else ".rodata.tvm"


def shape(module: str, dims: tuple[int, ...]) -> str:
    """The symbol of a shape's table. A scalar has no table; its pointer is NULL."""
    return f"{prefix(module)}_shape_{'_'.join(map(str, dims))}" if dims else "NULL"


def implementation(function: str, *, is_packed: bool) -> str:
    """The symbol of the function that computes an operator. If operators are packed functions, the
    operator's own name belongs to the packed function, which calls this one."""
    return f"{function}_unpacked" if is_packed else function


def named(module: str, name: str) -> str:
    """The ELF symbol for a model's ``name``."""
    return f"{prefix(module)}_{name}"
