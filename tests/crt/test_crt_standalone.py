"""crt/ by itself: its README's example, what it links with, its warnings and its size."""

from __future__ import annotations

import functools
import re
import subprocess
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from microgen.base import resources
from microgen.kernels import registry
from microgen.planner.program.kernel_call import KernelCode
from tests.kernels.conformance.conformance import WARNINGS, host_cc
from tests.support.each_compiled import NOT_INLINED, each_compiled
from tests.support.tools import NEEDS_ARM_GCC

# Compiled in a fraction of the time. Other tests compile firmware in which kernels are inlined.
WITHOUT_INLINING = ("-O0", "-include", str(NOT_INLINED))

CRT = resources.folder("crt")
HEADERS = sorted([*(CRT / "include").rglob("*.h"), *(CRT / "src").rglob("*.h")])
CODES = {kernel.code for found in registry().values() for kernel in found}
IMPLEMENTATIONS = sorted({CRT / "include" / code.header for code in CODES})
README = (CRT / "README.md").read_text()

ARM_GCC = "arm-none-eabi-gcc"
CORES = {
    "cortex-m0": ["-mcpu=cortex-m0"],
    "cortex-m3": ["-mcpu=cortex-m3"],
    "cortex-m4": ["-mcpu=cortex-m4", "-mfpu=fpv4-sp-d16", "-mfloat-abi=hard"],
    "cortex-m7": ["-mcpu=cortex-m7", "-mfpu=fpv5-d16", "-mfloat-abi=hard"],
    "cortex-m55": ["-mcpu=cortex-m55", "-mfpu=auto", "-mfloat-abi=hard"],
}
LIBC = {"memcpy", "memmove", "memset"}
INTEGER_HELPERS = {
    *("__aeabi_lmul", "__aeabi_idiv", "__aeabi_lasr", "__aeabi_llsl", "__aeabi_llsr"),
    *("__aeabi_idivmod", "__aeabi_uidiv", "__gnu_thumb1_case_uhi", "__gnu_thumb1_case_uqi"),
}


def _run(command: list[str] | str, folder: Path) -> str:
    done = subprocess.run(
        command,
        cwd=folder,
        shell=isinstance(command, str),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout


def _block(language: str) -> str:
    (text,) = re.findall(rf"^```{language}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
    return str(text)


def _arm(core: str, *options: str) -> list[str]:
    return [ARM_GCC, "-mthumb", *CORES[core], *WARNINGS, f"-I{CRT / 'include'}", *options]


def test_the_readmes_example_prints_what_the_readme_says(tmp_path: Path) -> None:
    (tmp_path / "crt").symlink_to(CRT.resolve())
    (tmp_path / "example.c").write_text(_block("c"))
    assert _run(_block("sh"), tmp_path) == _block("text")


def _macro(header: Path) -> str:
    return f"MG_{header.stem.upper()}_IMPLEMENTATION"


def _definitions(header: Path) -> list[str]:
    """A line for each kernel of a header that defines kernels by a macro with arguments."""
    return [f"{c.definition}\n" for c in sorted(CODES) if Path(c.header).name == header.name]


def _source(folder: Path, only: Sequence[KernelCode] = ()) -> Path:
    """A source file that defines all kernels; with ``-DMG_ONLY=,``, ``only`` these, and variants.

    Compiling a kernel mostly means compiling headers that other kernels include, too.
    """
    lines = [f"#define {_macro(kernel)}\n" for kernel in IMPLEMENTATIONS]
    lines += [f"#define {code.macros[-1]}\n" for code in only]
    lines += [f'#include "{kernel.relative_to(CRT / "include")}"\n' for kernel in IMPLEMENTATIONS]
    lines += [line for kernel in IMPLEMENTATIONS for line in _definitions(kernel)]
    (folder / "kernels.c").write_text("".join(lines))
    return Path("kernels.c")


# In every run of the tests, `tests/kernels` compiles all kernels for the host with -O0 and -O2 and
# the same warnings.
@pytest.mark.slow
@pytest.mark.parametrize("option", ["-O0", "-Os", "-O2"])
def test_kernels_compile_without_a_warning_on_the_host(option: str, tmp_path: Path) -> None:
    command = (host_cc(), *WARNINGS, f"-I{CRT / 'include'}", option)
    each_compiled(command, [_source(tmp_path)], tmp_path)


def _alone(headers: Sequence[Path], folder: Path) -> list[str]:
    """A source file for each header. It includes the header twice and defines its kernels."""
    for header in headers:
        include = f'#include "{header}"\n'
        text = f"#define {_macro(header)}\n{include}{include}extern int not_empty;\n"
        (folder / f"{header.stem}.c").write_text("".join((text, *_definitions(header))))
    return [f"{header.stem}.c" for header in headers]


# Of the headers with kernels, a third is compiled in every run.
PARTS = 3
parts = pytest.mark.parametrize("part", range(PARTS))


def _part(headers: Sequence[Path], part: int) -> list[Path]:
    """Every third of the headers with kernels; the first part also has all headers without them."""
    kernels = [header for header in headers if header in IMPLEMENTATIONS]
    others = [header for header in headers if header not in IMPLEMENTATIONS]
    return [*kernels[part::PARTS], *(() if part else others)]


@pytest.mark.sampled(1)
@parts
def test_every_header_compiles_alone_and_twice(part: int, tmp_path: Path) -> None:
    sources = _alone(_part(HEADERS, part), tmp_path)
    options = [*WARNINGS, f"-I{CRT / 'include'}", f"-I{CRT / 'src'}", "-fsyntax-only"]
    _run([host_cc(), *options, *sources], tmp_path)


@pytest.mark.sampled(1)
@NEEDS_ARM_GCC
@parts
def test_every_header_for_a_cpus_extension_compiles_alone_on_a_cpu_with_it(
    part: int, tmp_path: Path
) -> None:
    headers = [header for header in HEADERS if re.search("_dsp|_mve|_MVE", header.read_text())]
    sources = _alone(_part(headers, part), tmp_path)
    _run([*_arm("cortex-m55", "-fsyntax-only"), *sources], tmp_path)


@NEEDS_ARM_GCC
@pytest.mark.parametrize(
    "options",
    [
        pytest.param(WITHOUT_INLINING, id="not-inlined"),
        pytest.param(("-O2",), id="-O2", marks=pytest.mark.slow),
    ],
)
def test_kernels_for_dsp_compile_without_a_warning_on_a_core_without_mve(
    options: tuple[str, ...], tmp_path: Path
) -> None:
    has_dsp = re.compile("_dsp|_mla$")
    headers = sorted({CRT / "include" / c.header for c in CODES if has_dsp.search(c.symbol)})
    assert headers
    sources = [Path(name) for name in _alone(headers, tmp_path)]
    each_compiled(_arm("cortex-m4", *options), sources, tmp_path)


@dataclass(frozen=True, slots=True)
class Compiled:
    """All kernels in one object. ``uses`` has the names that each function of it uses, other
    functions of it included."""

    defined: frozenset[str]  # the kernels
    undefined: frozenset[str]
    uses: dict[str, set[str]]

    def needs(self, kernel: str) -> set[str]:
        """The names from elsewhere that the kernel needs, itself or in functions that it calls."""
        reached, pending = set[str](), [kernel]
        while pending:
            name = pending.pop()
            if name not in reached:
                reached.add(name)
                pending += self.uses.get(name, ())
        return reached & self.undefined


@functools.cache
def _compiled(core: str, *options: str, only: Sequence[KernelCode] = ()) -> Compiled:
    """All kernels, or those of ``_source``, compiled without a warning. Each function has a section
    of its own."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        command = _arm(core, "-ffunction-sections", *options)
        each_compiled(command, [_source(folder, only)], folder)
        names = _run(["arm-none-eabi-nm", "kernels.o"], folder)
        relocations = _run(["arm-none-eabi-objdump", "-r", "kernels.o"], folder)
    kinds = re.findall(r"(\w) (\w+)$", names, re.MULTILINE)
    uses: dict[str, set[str]] = {}
    for section in relocations.split("RELOCATION RECORDS FOR [")[1:]:
        name, _, records = section.partition("]")
        function = re.sub(r"^\.(text|rodata)\.", "", name)
        targets = re.findall(r" R_ARM_\w+ +(?:\.text\.)?(\w+)", records)
        uses.setdefault(function, set()).update(targets)
    return Compiled(
        frozenset(name for kind, name in kinds if kind == "T"),
        frozenset(name for kind, name in kinds if kind == "U"),
        uses,
    )


@NEEDS_ARM_GCC
def test_each_kernel_is_defined_for_its_macro() -> None:
    defined = _compiled("cortex-m55", *WITHOUT_INLINING).defined
    assert defined == {code.symbol for code in CODES}


@NEEDS_ARM_GCC
@pytest.mark.parametrize("part", range(2))
def test_of_a_headers_kernels_each_can_be_defined_without_the_next(part: int) -> None:
    """Each kernel is unwanted in one part, unless its header has no other."""
    own = [code for code in sorted(CODES) if not code.variant]
    kernels = Counter(code.header for code in own)
    unwanted = [code for code in own if kernels[code.header] > 1][part::2]
    wanted = tuple(code for code in own if code not in unwanted)
    found = _compiled("cortex-m55", *WITHOUT_INLINING, "-DMG_ONLY=,", only=wanted)
    assert found.defined == {code.symbol for code in CODES.difference(unwanted)}


@pytest.mark.slow
@NEEDS_ARM_GCC
@pytest.mark.parametrize("option", ["-O0", "-Os", "-O2"])
@pytest.mark.parametrize("core", CORES)
def test_kernels_compile_without_a_warning_on_arm_and_use_nothing_else(
    core: str, option: str
) -> None:
    assert not _others(core, _compiled(core, option))


@NEEDS_ARM_GCC
@pytest.mark.parametrize("core", ["cortex-m0", "cortex-m55"])
def test_kernels_without_inlining_use_nothing_else(core: str) -> None:
    assert not _others(core, _compiled(core, *WITHOUT_INLINING))


@NEEDS_ARM_GCC
def test_the_smallest_core_has_every_kernel_that_needs_nothing() -> None:
    defined = _compiled("cortex-m0", *WITHOUT_INLINING).defined
    portable = {k.code.symbol for found in registry().values() for k in found if not k.needs}
    assert portable <= defined


# The kernels that compute with floats, and the ones that divide integers.
FLOATS = re.compile(r"_f32|_in_float|_float$|^mg_cast")
DIVISIONS = re.compile(r"^mg_(divide|fmod|floor_mod)_")


def _others(core: str, compiled: Compiled) -> list[str]:
    """A line for each symbol that kernels need from elsewhere, and should not."""
    return [
        f"{kernel} needs {name}"
        for kernel in sorted(compiled.defined)
        for name in sorted(compiled.needs(kernel) - LIBC)
        if not _is_compilers_own(name, core, kernel)
    ]


def _is_compilers_own(name: str, core: str, kernel: str) -> bool:
    """Whether the symbol is the compiler's helper for an instruction that the core lacks."""
    if name in INTEGER_HELPERS:
        return core == "cortex-m0"
    if FLOATS.search(kernel) and name.startswith("__aeabi_"):
        return True
    return DIVISIONS.search(kernel) is not None and name.endswith("divmod")


CONVOLUTION = """
#include "microgen/convolution/s8/conv2d_s8.h"
void layer(const int8_t *in, const int8_t *w, const int32_t *b, const int32_t *m, const int8_t *s,
           int8_t *out);
void layer(const int8_t *in, const int8_t *w, const int32_t *b, const int32_t *m, const int8_t *s,
           int8_t *out)
{
    static const mg_conv2d_s8_params p = {
        1, 32, 32, 16, 32, 32, 16, 3, 3, 16, 1, 1, 1, 1, 1, 1, 128, -128, -128, 127};
    mg_conv2d_s8_body(&p, in, w, b, m, s, out, MG_ROUND_TWICE);
}
"""


@NEEDS_ARM_GCC
@pytest.mark.parametrize("core", ["cortex-m4", "cortex-m55"])
def test_a_convolution_with_constant_parameters_is_at_most_512_bytes(
    core: str, tmp_path: Path
) -> None:
    (tmp_path / "layer.c").write_text(CONVOLUTION)
    _run([*_arm(core, "-O2", "-c"), "layer.c"], tmp_path)
    listing = _run(["arm-none-eabi-nm", "-S", "layer.o"], tmp_path)
    sizes = {
        name: int(size, 16) for size, name in re.findall(r"^\w+ (\w+) \w (\w+)$", listing, re.M)
    }
    assert set(sizes) == {"layer"}, "the body, or its parameters, did not fold into the operator"
    assert sizes["layer"] <= 512
