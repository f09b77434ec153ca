"""The scopes of ``verify``: a project's whole firmware, or only the model, in another firmware.

In the scope "model" the other firmware has its own linker script, start-up code and C library, so
only those checks apply that make sense wherever the model is linked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from microgen.verifier import image, layout, linked, subtree
from microgen.verifier.elf import Elf
from microgen.verifier.subject import Finding, Scope, Subject, not_applicable

_Check = Callable[[Subject], Finding]

NOT_OURS = "the ELF is not the project's: --scope model"

# Output sections of the project's linker script; longer names are those of further memories. Other
# scripts put these input sections into their .rodata and .bss, because the names begin so.
_OUR_SECTIONS = (".rodata.tvm", ".bss.noinit.tvm")
# Symbols of the project's linker script, for models without constants and arena.
_OUR_SYMBOLS = ("__stack_limit", "__stack_top", "__data_load")

# The checks that differ in the scope "model", with their functions there. None: the check is about
# the firmware as a whole, so it does not apply. All others are the same in both scopes, because
# ``objects`` knows where the linker may put an object.
_IN_MODEL: Mapping[str, _Check | None] = {
    "entry_point": None,
    "vector_table": None,
    "boot_block": None,
    "layout": layout.headers_only,
    "segments": None,
    "sections_fit": None,
    "heap": subtree.if_followed(linked.heap),
    "libc": subtree.if_followed(linked.libc),
    "soft_float": subtree.if_followed(linked.soft_float),
    "build_attributes": image.runs_model,
    "kernels": subtree.if_followed(linked.kernels),
    "stack": subtree.stack,
    "ram_budget": None,
    "flash_budget": None,
}


def check_in(scope: Scope, name: str, check: _Check) -> _Check:
    """The function of a check in a scope; ``check`` is that of the scope "project"."""
    if scope == "project":
        return check
    return _IN_MODEL.get(name, check) or _does_not_apply


def _does_not_apply(_subject: Subject) -> Finding:
    return not_applicable(NOT_OURS)


def scope_of(elf: Elf) -> Scope:
    """The scope of an ELF: "project" if it has a section that only the project's linker script
    makes, or all of its symbols. So a single edit of a project's ELF, such as the name of a
    section, does not change its scope."""
    sections = any(section.name.startswith(_OUR_SECTIONS) for section in elf.sections)
    symbols = {symbol.name for symbol in elf.symbols}
    return "project" if sections or symbols.issuperset(_OUR_SYMBOLS) else "model"
