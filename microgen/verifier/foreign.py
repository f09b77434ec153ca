"""The models' functions and constants in an ELF that another build system has linked."""

from __future__ import annotations

from pathlib import Path

from microgen.manifest import Manifest
from microgen.verifier import relocatable, same_functions
from microgen.verifier.build_settings import Settings
from microgen.verifier.elf import Elf
from microgen.verifier.subject import Finding, Subject, judged, not_applicable

_EXPECTED = (
    "each function and constant of the models as it is compiled again, wherever it is linked"
)
_OBJECTS = "CMakeFiles/firmware.dir/model"


def compared(subject: Subject, again: Elf, build: Path, settings: Settings) -> Finding:
    """Whether the models' functions and constants equal those of the object files in ``build``.
    ``again`` is what these have been linked to."""
    program = subject.elf
    if program.machine != "EM_ARM":
        return not_applicable(
            "only the models are checked in this ELF (--scope), and their functions can be "
            "compared for Arm only"
        )
    missing = sorted(set(again.compilers) - set(program.compilers))
    if missing:
        named = " and ".join(program.compilers) or "none"
        return not_applicable(f"compilers that the ELF names: {named}; here it is {missing[0]}")
    files = [relocatable.read(path) for path in sorted((build / _OBJECTS).rglob("*.obj"))]
    problems = list(same_functions.differences(program, files, required(subject.manifest)))
    count = same_functions.compared(program, files)
    how = f"compiled with {settings} and the flags of this project's CMakeLists.txt"
    if problems:
        problems[min(len(problems), 3) - 1] += f"; {how}"
    equal = f"{count} functions and objects of the models are equal, {how}"
    return judged(_EXPECTED, problems, f"{equal}; other code is not compared", compared=count)


def required(record: Manifest) -> set[str]:
    """The functions without which no model runs."""
    called = {call.function for own in record.modules for call in own.calls}
    return called | {f"{own.prefix}_run" for own in record.modules}
