"""The scopes of ``verify``: a project's whole firmware, or only the model, in another firmware.

In the scope "model" the other firmware has its own linker script, start-up code and C library. So
only checks apply that make sense in any firmware with the model.
"""

from __future__ import annotations

from microgen.verifier.again import built_from
from microgen.verifier.elf.elf import Elf
from microgen.verifier.subject import Subject

NOT_OURS = "the ELF is not the project's: --scope model"
NOT_LOOKED_AT = (
    "scope: model; not looked at: start-up code, vectors, main, and all other code that the run "
    "functions do not reach; where memories and stacks are, and how large"
)
IS_FOREIGN = (
    "this ELF has nothing of the project's linker script; to check only the model in a firmware "
    "that something else links, give --scope model"
)

# Output sections of the project's linker script. Further memories have longer names. Other
# scripts put these input sections into their .rodata and .bss, because the names begin so.
_OUR_SECTIONS = (".rodata.tvm", ".bss.noinit.tvm")
# Symbols of the project's linker script, for models without constants and arena.
_OUR_SYMBOLS = ("__stack_limit", "__stack_top", "__data_load")


def is_foreign(elf: Elf) -> bool:
    """Whether another build seems to have linked an ELF, because it has no section that only the
    project's linker script makes, and lacks one of the script's symbols."""
    sections = any(section.name.startswith(_OUR_SECTIONS) for section in elf.sections)
    symbols = {symbol.name for symbol in elf.symbols}
    # This decides about advice only, because names in an ELF are easily changed.
    return not (sections or symbols.issuperset(_OUR_SYMBOLS))


def notice(subject: Subject, is_given: bool, failed: bool) -> str:
    """The first line about an ELF: its project if it is another one, and the parts that were not
    checked, or the scope that a foreign ELF of the user needs. Empty if there is nothing to say."""
    sentences = [built_from.whose(subject)] if failed else []
    if subject.scope == "model":
        sentences.append(NOT_LOOKED_AT)
    elif is_given and failed and is_foreign(subject.elf):
        sentences.append(IS_FOREIGN)
    return "; ".join(filter(None, sentences))
