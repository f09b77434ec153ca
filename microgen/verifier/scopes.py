"""What ``verify`` checks: a whole firmware of ours, or the model in a firmware of somebody else's.

In the scope "model" the linker script, the start-up code and the C library are the host's, so only
those checks apply that make sense wherever the model is linked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from microgen.verifier import image, linked, subtree
from microgen.verifier.elf import Elf
from microgen.verifier.subject import Finding, Scope, Subject, not_applicable

_Check = Callable[[Subject], Finding]

NOT_OURS = "the ELF is not the project's: --scope model"

# Output sections of the project's linker script. Other scripts put their contents into .rodata and
# .bss, which the names of the input sections say.
_OUR_SECTIONS = (".rodata.tvm", ".bss.noinit.tvm")
# A project without constants and arena has only these, which are not the names that others use.
_OUR_SYMBOLS = ("__stack_limit", "__stack_top", "__data_load")

# The checks that differ in the scope "model", and what they are there. None: the check is about the
# firmware as a whole, so it does not apply. All others are the same in both scopes.
_IN_MODEL: Mapping[str, _Check | None] = {
    "entry_point": None,
    "vector_table": None,
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
    """What a check is in a scope; ``check`` is that of the scope "project"."""
    if scope == "project":
        return check
    return _IN_MODEL.get(name, check) or _does_not_apply


def _does_not_apply(_subject: Subject) -> Finding:
    return not_applicable(NOT_OURS)


def scope_of(elf: Elf) -> Scope:
    """ "project" if anything in the ELF is from the project's linker script: its sections of the
    model, or all of its symbols. One edit of a project's ELF, such as a section's name, therefore
    does not make it somebody else's."""
    sections = any(section.name.startswith(_OUR_SECTIONS) for section in elf.sections)
    symbols = {symbol.name for symbol in elf.symbols}
    return "project" if sections or symbols.issuperset(_OUR_SYMBOLS) else "model"
