"""The compiler's flags with which a model may be compiled in another firmware: whole flags with
their values, and why they change neither the calling convention nor the meaning of the C code.

Otherwise equal functions would not prove that other code of the firmware can call them: a function
that is compiled with ``-fcall-used-r4`` equals itself, and destroys its caller's registers. No flag
has a path, writes a file or loads code. ``docs/reference/verify.md`` has the same table.
"""

from __future__ import annotations

import re
from typing import NamedTuple


class FlagRow(NamedTuple):
    """Flags of one kind, as a regular expression for the whole flag, and why they are accepted.
    ``is_repeated``: the model is compiled with them again; other flags do not affect the code."""

    pattern: str
    why: str
    is_repeated: bool = True


# The model is compiled with these again.
_REPEATED = {
    "levels only choose passes, all of which keep the ABI": r"-O[0-3sgz]?",
    "debug information is not loaded": r"-g(?:gdb)?[0-3]?|-gdwarf(?:-[2-5])?",
    "they decide the section of an object, and its neighbours": (
        r"-f(?:no-)?(?:function-sections|data-sections|common|section-anchors)"
        r"|-msmall-data-limit=\d+"
    ),
    # The core. How it passes floats is compared with the ELF: see ``Architecture.abi_problem``.
    "Arm's M profile has one procedure call standard, whatever the core": (
        r"-m(?:cpu|tune)=cortex-m\d+(?:plus)?(?:\+\w+(?:\.\w+)?)*|-mthumb|-mlittle-endian"
        r"|-m(?:arch|libarch)=armv(?:6s?|7e?|8|8\.1)-m(?:\.base|\.main)?(?:\+\w+(?:\.\w+)?)*"
        r"|-mfpu=(?:auto|fpv4-sp-d16|fpv5-sp-d16|fpv5-d16)"
    ),
    "extensions choose no registers for arguments; RV32E, which does, is not listed": (
        r"-m(?:arch|libarch)=rv32[ig][a-z0-9_]*|-misa-spec=(?:2\.2|20190608|20191213)"
        r"|-mtune=(?:rocket|size|sifive-\d-series)"
    ),
    "the ELF header names the same": r"-mfloat-abi=(?:soft|softfp|hard)|-mabi=ilp32[fd]?",
    "it is the standard that the ELF header's version means": r"-mabi=aapcs",
    "they decide how memory is accessed and how addresses are made": (
        r"-m(?:no-)?unaligned-access|-m(?:no-)?strict-align|-mcmodel=(?:medlow|medany)"
        r"|-m(?:no-)?relax"
    ),
    "libgcc's functions save and restore the registers that the code would": (
        r"-m(?:no-)?save-restore"
    ),
    "the code has no __fp16 and no variables of threads": r"-mfp16-format=ieee|-mtp=soft",
    "it changes functions with its own attributes only, which no source has": r"-mcmse",
    # The language.
    "the C standards do not say how functions are called": (
        r"-ansi|-std=(?:(?:c|gnu)(?:89|90|99|9x|11|1x|17|18|2x)|iso9899:(?:1990|1999|2011|2017|2018))"
    ),
    "they decide which library functions the compiler knows": (
        r"-f(?:no-)?(?:freestanding|hosted|builtin)|-fno-printf-return-value"
    ),
    "they decide on assumptions of the compiler; the models' code needs none of them": (
        r"-f(?:no-)?(?:strict-aliasing|strict-overflow|wrapv|delete-null-pointer-checks)"
    ),
    "floats are computed as the C code says, or errno is not set, which no code reads": (
        r"-ffp-contract=off|-fno-fast-math|-f(?:no-)?math-errno"
    ),
    "tables, and no code": r"-fno-exceptions|-f(?:no-)?(?:asynchronous-)?unwind-tables",
    # The form of code inside functions.
    "passes inside of functions, which keep the registers that the ABI preserves": (
        r"-f(?:no-)?(?:omit-frame-pointer|defer-pop|inline|inline-functions|inline-small-functions"
        r"|reorder-functions|reorder-blocks|jump-tables|unroll-loops|tree-vectorize|gcse"
        r"|merge-constants|optimize-sibling-calls)"
    ),
    "padding": (
        r"-f(?:no-)?align-(?:functions|jumps|labels|loops)"
        r"|-falign-(?:functions|jumps|labels|loops)=\d+"
    ),
    "addresses come from a table; arguments and saved registers are the same": (
        r"-f(?:no-)?(?:pic|pie|PIC|PIE)"
    ),
    "a word in the function's own frame, which it compares before it returns": (
        r"-f(?:no-)?stack-protector|-fstack-protector-(?:all|strong|explicit)"
        r"|-mstack-protector-guard=global"
    ),
    "symbols of dynamic libraries and variables of threads, which firmware does not have": (
        r"-fvisibility=(?:default|hidden|internal|protected)|-ftls-model=local-exec"
    ),
    "it decides about warnings at addresses near 0": r"--param=min-pagesize=0",
}
# These decide no code, so they are left out.
_LEFT_OUT = {
    "the form of debug information": (
        r"-g(?:no-)?(?:column-info|record-gcc-switches|statement-frontiers|strict-dwarf)"
        r"|-f(?:no-)?var-tracking(?:-assignments)?"
    ),
    "warnings": r"-W(?:no-)?[a-z][\w+=-]*|-W|-w|-pedantic(?:-errors)?|-fmessage-length=\d+",
    "how the compiler prints": r"-fdiagnostics-[a-z-]+(?:=[a-z]+)?|-fverbose-asm",
    "names of files in debug information": r"-f(?:file|macro|debug)-prefix-map=\S+",
    "reports, notes, where headers are, and that functions are compiled file by file": (
        r"-fstack-usage|-fcallgraph-info(?:=[a-z,]+)?|-frecord-gcc-switches|-nostdinc|-fno-lto"
    ),
}

ROWS = (
    *(FlagRow(pattern, why) for why, pattern in _REPEATED.items()),
    *(FlagRow(pattern, why, is_repeated=False) for why, pattern in _LEFT_OUT.items()),
)
_KNOWN = [(re.compile(row.pattern, re.ASCII), row) for row in ROWS]


def row_of(flag: str) -> FlagRow | None:
    """The row of a flag; None if it is not known."""
    return next((row for pattern, row in _KNOWN if pattern.fullmatch(flag)), None)
