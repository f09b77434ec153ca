"""Lists the findings of cppcheck's MISRA addon in crt's kernels: the list in crt/README.md.

    python -m scripts.misra

Checks every header in crt/include/microgen as a core without extensions sees it, as one with the
DSP extension does, and as one with MVE does, and writes the list. Needs cppcheck with its addons
(Debian, Ubuntu: ``apt-get install cppcheck``). Fails if it finds a rule that ``REASONS`` lacks.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from microgen.base.errors import MicrogenError, ToolError
from scripts import sections
from scripts.bench.matrix import ROOT
from scripts.bench.tables import markdown

CRT = ROOT / "crt"
HEADERS = sorted((CRT / "include" / "microgen").rglob("*.h"))
DOCUMENT = CRT / "README.md"

# The macros that compilers define for each kind of core, so that cppcheck sees the same code.
_GCC, _DSP = "-D__GNUC__=12", ("-D__ARM_FEATURE_DSP=1", "-D__ARM_FEATURE_SAT=1")
CORES = {
    "without extensions": (_GCC,),
    "with DSP": (_GCC, *_DSP, "-D__ARM_FP=4"),
    "with MVE": (_GCC, *_DSP, "-D__ARM_FP=14", "-D__ARM_FEATURE_MVE=3"),
}

# For each rule: the addon's report in our words, and the reason for the deviation.
REASONS = {
    "2.3": ("a type that this file does not use", "kernels of one family share their parameters"),
    "2.4": ("a tag that this file does not use", "headers declare for their callers"),
    "2.5": ("a macro that this file does not use", "headers define for their callers"),
    "2.7": ("a parameter that is not used", "the body is assembly, which cppcheck does not read"),
    "5.7": ("a tag that is not unique", "enumerations have no tags"),
    "5.9": ("an internal name that is not unique", "macros define one function for each variant"),
    "7.2": ("an unsigned constant without U", "a false alarm: it is INT64_MIN"),
    "9.2": ("an initializer without inner braces", "zero initializes what follows, too"),
    "9.3": ("an array or structure initialized in part", "the rest is zero, or a call gives all"),
    "10.1": (
        "an operand of an unsuitable type",
        "shifts whose counts are signed; truth values are int, as in C90",
    ),
    "10.3": (
        "a value assigned to a narrower or other type",
        "its range is known; truth values are int",
    ),
    "10.4": ("operands of different types", "int8 and int16 are promoted to int"),
    "10.5": ("a cast to an unsuitable type", "comparisons write their truth value as a byte"),
    "10.6": ("a composite value assigned to a wider type", "small constants, in int or int32_t"),
    "10.7": ("a composite operand with a wider one", "the narrow part cannot overflow"),
    "10.8": ("a composite value cast to a wider type", "the range of the sum is known"),
    "11.3": ("a cast between pointers to objects", "the address is known to be aligned"),
    "11.4": ("a cast between a pointer and an integer", "to see how an address is aligned"),
    "11.5": ("a pointer to void made one to objects", "kernels that move values of any size"),
    "11.6": ("a pointer to void made an integer", "to see whether words can be read"),
    "11.8": (
        "const taken from what a pointer is to",
        "false alarms: the parameter is const",
    ),
    "12.1": ("precedence that brackets do not show", "products before sums need no brackets"),
    "12.2": (
        "a shift by as many bits as the type has",
        "to the rule, 1U has 8 bits; unsigned int has 32",
    ),
    "12.3": ("a comma", "declarations of several variables; two steps in a loop's head"),
    "12.4": ("a constant that wraps around", "unsigned constants modulo 2^32 are meant"),
    "13.1": ("an initializer with a side effect", "four pointers step forward"),
    "13.3": ("an increment with other side effects", "a pointer steps after it is used"),
    "13.4": ("the value of an assignment", "an element of a chain of moves"),
    "14.2": ("a loop with an unusual head", "the step depends on the data"),
    "14.4": ("a condition that is not a truth value", "flags are int, as in C90"),
    "15.5": ("a return before the end", "special cases of a function come first"),
    "15.7": ("else if without an else", "nothing is to be done otherwise"),
    "17.7": ("a result that is not used", "memcpy and memset return their argument"),
    "17.8": ("a parameter that is changed", "parameters are used as variables"),
    "18.4": ("a pointer plus or minus a number", "kernels step through tensors"),
    "19.2": ("a union", "a float's bits, which C99 defines; TVM's type of arguments"),
    "20.5": ("#undef", "a header is included once for each variant"),
    "20.7": ("a macro's parameter without brackets", "it is a name, a type or a text of C"),
    "20.10": ("# or ##", "macros make names, and assembly from parts"),
    "21.15": ("memcpy between different types", "a value's bytes, whatever its type"),
}
# The same for the C that microgen generates for a model.
GENERATED = {
    "2.3": "a typedef is an assertion while compiling",
    "2.5": "headers define for their callers",
    "2.7": "the parameter is used by a macro of Zephyr, which cppcheck does not read",
    "8.5": "a pool is declared where it is used",
    "8.7": "profiles, debuggers and callers look for the function",
    "8.9": "tables stand apart from the code",
    "11.3": "the planner aligns buffers for their elements",
    "11.4": "TVM's structures have no pointers to const",
    "11.5": "TVM's structures have pointers to void",
    "11.8": "TVM's packed functions take no pointers to const",
    "19.2": "TVM's type of arguments; the second name of an output",
    "21.15": "a value's bytes, whatever its type",
}
# Rules that the addon would report, and their subjects.
ABSENT = {
    "15.1": "`goto`",
    "17.1": "variadic functions",
    "17.2": "recursion",
    "18.7": "flexible arrays",
    "18.8": "variable-length arrays",
    "21.3": "the heap",
    "21.6": "input and output of the C library",
}
_FOUND = re.compile(r"^(?P<path>[^:]+):(?P<line>\d+):misra-c2012-(?P<rule>[\d.]+)$", re.MULTILINE)


@dataclass(frozen=True, order=True)
class Finding:
    """A place that breaks a rule: header and line."""

    rule: str
    header: str
    line: int


def findings(headers: Iterable[Path] = HEADERS) -> list[Finding]:
    """All places in these headers, for all kinds of cores. Raises ToolError without cppcheck."""
    program = _cppcheck()
    own = {path.name for path in headers}
    paths = [str(path.relative_to(CRT)) for path in headers]
    with tempfile.TemporaryDirectory() as copy:  # cppcheck writes files next to its input files
        shutil.copytree(CRT / "include", Path(copy) / "include")
        each = [_checked([program, *defined, *paths], copy) for defined in CORES.values()]
    found = {one for some in each for one in some}
    return sorted(one for one in found if one.header in own)


def of_project(project: Path, names: str = "*.c") -> list[Finding]:
    """All places in the sources with such names that microgen generated for a project's models, and
    in its main.c. The constants are left out, because they are numbers only."""
    own = [p for p in (project / "model/codegen/host/src").glob(names) if "_params" not in p.name]
    paths = [str(p.relative_to(project)) for p in (*own, project / "src" / "main.c")]
    folders = ("crt/include", "model/codegen/host/include", "model/codegen/host/src", "src")
    includes = [f"-I{folder}" for folder in folders]
    found = _checked([_cppcheck(), _GCC, *includes, *paths], str(project))
    names = {p.name for p in (project / "model/codegen/host").rglob("*.[ch]")} | {"main.c"}
    return sorted({one for one in found if one.header in names})


def version() -> str:
    """The version of cppcheck as it prints it, such as "Cppcheck 2.10". Raises ToolError without
    it."""
    asked = [_cppcheck(), "--version"]
    return subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()


def _cppcheck() -> str:
    found = shutil.which("cppcheck")
    if found is None:
        raise ToolError(
            "cppcheck is not installed",
            hint="apt-get install cppcheck (Debian, Ubuntu), which has the MISRA addon",
        )
    return found


def _checked(command: Sequence[str], folder: str) -> list[Finding]:
    # unix32: int, long and pointers have 32 bits, as on the cores.
    options = ["--addon=misra", "--language=c", "--std=c99", "--platform=unix32", "--quiet"]
    options += ["-Iinclude", "--template={file}:{line}:{id}", f"-j{os.cpu_count() or 1}"]
    done = subprocess.run(
        [*command, *options], cwd=folder, capture_output=True, text=True, check=False
    )
    if done.returncode != 0 or "misra-c2012" not in done.stderr:
        reason = (done.stdout + done.stderr).strip().splitlines()[-1:]
        raise ToolError(f"cppcheck failed: {''.join(reason)}", hint="run `cppcheck --addon=misra`")
    return [
        Finding(match["rule"], Path(match["path"]).name, int(match["line"]))
        for match in _FOUND.finditer(done.stderr)
    ]


def table(found: Sequence[Finding]) -> str:
    """The rules that are not kept: in how many places of how many headers, and why. Raises
    MicrogenError for a rule without a reason, or one that the README says is kept."""
    by_rule: dict[str, list[Finding]] = {}
    for one in found:
        by_rule.setdefault(one.rule, []).append(one)
    for rule, (first, *_) in by_rule.items():
        if rule not in REASONS:
            raise MicrogenError(
                f"rule {rule} is not kept, and scripts/misra.py has no reason for it",
                where=f"{first.header}:{first.line}",
                hint="change the code, or give a reason in REASONS",
            )
    rows = [
        (rule, REASONS[rule][0], f"{len(ones):,}", f"{len({o.header for o in ones})}", why)
        for rule, ones in sorted(by_rule.items(), key=lambda item: _order(item[0]))
        for why in [REASONS[rule][1]]
    ]
    lines = markdown(("rule", "what is reported", "places", "headers", "why"), rows, 2)
    return lines.replace(" ---: |\n", " --- |\n", 1)


def _order(rule: str) -> list[int]:
    return [int(part) for part in rule.split(".")]


def headers_with(*words: str) -> list[str]:
    """The headers that contain one of these words."""
    return [p.name for p in HEADERS if any(word in p.read_text("utf-8") for word in words)]


def text(found: Sequence[Finding]) -> str:
    """The part of the README."""
    kept = ", ".join(f"{about} ({rule})" for rule, about in ABSENT.items())
    places = f"{version()} finds {len(found):,} places in {len(HEADERS)} headers, none with {kept}."
    return f"{_filled('', places)}\n\n{table(found)}\n\n{extensions()}\n"


def extensions() -> str:
    """The extensions of C99 that the headers need, and their names."""
    listed = (
        ("inline assembly (`__asm__`, of GCC and Clang)", ["__asm__"]),
        ("`__attribute__`, to inline functions or to keep them apart", ["__attribute__"]),
        ("functions that are built into compilers", ["__builtin_"]),
        ("Arm's intrinsics", ["arm_mve.h", "arm_acle.h"]),
    )
    head = "The addon does not report extensions of the language (rule 1.2, directive 4.3):\n"
    return "\n".join((head, *(_listed(what, headers_with(*words)) for what, words in listed)))


def _listed(what: str, names: Sequence[str]) -> str:
    return _filled("- ", f"{what}, in {len(names)} headers: {', '.join(f'`{n}`' for n in names)}.")


def _filled(mark: str, words: str) -> str:
    indent = " " * len(mark)
    return textwrap.fill(
        mark + words, 120, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )


def main() -> int:
    """Check and write."""
    try:
        found = findings()
        sections.write(DOCUMENT, "misra", text(found))
    except MicrogenError as error:
        print(f"misra: {error}", file=sys.stderr)
        return error.exit_code
    print(f"{len(found)} places of {len({one.rule for one in found})} rules are in {DOCUMENT.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
