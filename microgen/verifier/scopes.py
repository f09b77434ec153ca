"""The scopes of ``verify``: a project's whole firmware, or only the model, in another firmware.

In the scope "model" the other firmware has its own linker script, start-up code and C library, so
only those checks apply that make sense wherever the model is linked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from microgen.verifier.again import built_from
from microgen.verifier.checks import image, layout, linked, subtree
from microgen.verifier.elf.elf import Elf
from microgen.verifier.subject import Finding, Scope, Subject, not_applicable

_Check = Callable[[Subject], Finding]

NOT_OURS = "the ELF is not the project's: --scope model"
NOT_LOOKED_AT = (
    "scope: model; not looked at: start-up code, vectors, main, and all other code that the run "
    "functions do not reach; where memories and stacks are, and how large"
)
IS_FOREIGN = (
    "this ELF has nothing of the project's linker script; to check only the model in a firmware "
    "that something else links, give --scope model"
)

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


def is_foreign(elf: Elf) -> bool:
    """Whether an ELF seems to be linked by something else: it has no section that only the
    project's linker script makes, and lacks one of its symbols. It decides about advice only,
    because names in an ELF are easily changed."""
    sections = any(section.name.startswith(_OUR_SECTIONS) for section in elf.sections)
    symbols = {symbol.name for symbol in elf.symbols}
    return not (sections or symbols.issuperset(_OUR_SYMBOLS))


def notice(subject: Subject, is_given: bool, failed: bool) -> str:
    """The first line about an ELF: whose it is if it is not the project's, and what was not looked
    at, or which scope a foreign ELF needs that is given; empty if there is nothing to say."""
    said = [built_from.whose(subject)] if failed else []
    if subject.scope == "model":
        said.append(NOT_LOOKED_AT)
    elif is_given and failed and is_foreign(subject.elf):
        said.append(IS_FOREIGN)
    return "; ".join(filter(None, said))
