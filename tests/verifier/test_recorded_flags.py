"""Flags that an ELF names: those that are listed are repeated, and all others refused."""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath

import pytest

from microgen.verifier.again.known_flags import ROWS, row_of
from microgen.verifier.again.recorded_flags import (
    CompiledUnit,
    RecordedFlags,
    UnknownFlagError,
    described,
    of_source,
)
from microgen.verifier.again.regenerated import ImpossibleError

SOURCE = PurePosixPath("model", "codegen", "host", "src", "default_lib1.c")


def _found(*producers: str, source: PurePosixPath = SOURCE) -> RecordedFlags | None:
    return of_source([CompiledUnit(source, producer) for producer in producers], SOURCE)


@pytest.mark.parametrize(
    ("producer", "version"),
    [
        ("GNU C99 12.2.1 20221205 -O2", "12.2.1 20221205"),
        ("GNU C17 12.2.0 -O2", "12.2.0"),
        ("GNU C11 9.2.1 20191025 (release) [ARM/arm-9-branch revision 277599] -O2",
         "9.2.1 20191025 (release) [ARM/arm-9-branch revision 277599]"),
    ],
)  # fmt: skip
def test_versions(producer: str, version: str) -> None:
    assert _found(producer) == RecordedFlags(version, ("-O2",))


ACCEPTED = (
    *("-mcpu=cortex-m3", "-mcpu=cortex-m0plus", "-mthumb", "-mfpu=fpv4-sp-d16", "-mfloat-abi=hard"),
    *("-march=armv7e-m+fp", "-march=armv8.1-m.main+mve.fp+fp.dp", "-mlibarch=armv6s-m"),
    *("-march=rv32imac_zicsr_zifencei", "-mabi=ilp32", "-misa-spec=2.2", "-mcmodel=medany"),
    *("-g", "-g3", "-ggdb3", "-gdwarf-4", "-Os", "-O", "-Og", "-std=gnu11", "-ansi"),
    *("-fno-strict-aliasing", "-ffp-contract=off", "-fno-fast-math", "-fno-math-errno"),
    *("-fPIC", "-falign-loops=16", "-fvisibility=hidden", "--param=min-pagesize=0"),
    *("-ftls-model=local-exec", "-fstack-protector-strong", "-msave-restore", "-mno-relax"),
    *("-mfp16-format=ieee", "-mtp=soft", "-mcmse", "-mabi=aapcs", "-fno-reorder-functions"),
    *("-ffunction-sections", "-fdata-sections", "-fno-common", "-munaligned-access"),
    *("-ffreestanding", "-fno-printf-return-value", "-fno-asynchronous-unwind-tables"),
)
IGNORED = (
    *("-Wall", "-Wno-error=implicit-int", "-w", "-pedantic", "-nostdinc", "-gno-column-info"),
    *("-fdiagnostics-color=always", "-fstack-usage", "-fno-lto"),
    *("-ffile-prefix-map=/home/me=.", "-fmessage-length=0"),
)
REFUSED = (
    # Other calling conventions.
    *("-fcall-used-r4", "-fcall-saved-r3", "-ffixed-r9", "-ffixed-s1", "-fcall-used-s2"),
    *("-mabi=apcs-gnu", "-mabi=atpcs", "-mabi=aapcs-linux", "-mabi=ilp32e", "-mabi=lp64"),
    *("-march=rv32emc", "-mcpu=cortex-a9", "-march=armv7-a", "-mbig-endian", "-marm", "-mapcs"),
    *("-msingle-pic-base", "-mpic-register=r9", "-mfdpic", "-mpreferred-stack-boundary=3"),
    *("-fpcc-struct-return", "-freg-struct-return", "-fshort-enums", "-fpack-struct", "-ftrapv"),
    *("-mcaller-super-interworking", "-mfp16-format=alternative", "-mtp=cp15", "-mfloat-abi=x"),
    *("-mgeneral-regs-only", "-funsigned-char", "-fshort-wchar", "-mstructure-size-boundary=8"),
    # What loads code, writes files, or is no flag of code.
    *("-fplugin=evil", "-fplugin-arg-evil-key=value", "-fdump-tree-all", "-fopt-info=all"),
    *("-fprofile-use", "-fprofile-generate", "-fauto-profile=data", "-fsyntax-only"),
    *("-save-temps", "-specs=x", "-fsanitize=undefined", "-flto", "-finstrument-functions"),
    *("-include", "-I.", "-DX=1", "-wrapper", "-B.", "-Wp,-MDx;", "-xc++", "-o", "-pg", "-p"),
    *("-c", "-E", "-MD", "-mabi=/etc/passwd", "-march=../x", "--sysroot=/", "-T", "-dumpbase"),
    *("-fcompare-debug=x/y", "-f\u00e9", "-O2;x", "-fx=$(x)", "-fsplit-stack", "--param=x=1"),
    # Other numbers.
    *("-Ofast", "-ffast-math", "-fassociative-math", "-ffp-contract=fast", "-fno-signed-zeros"),
    *("-fsingle-precision-constant", "-freciprocal-math"),
)


@pytest.mark.parametrize("flag", ACCEPTED)
def test_accepted(flag: str) -> None:
    assert _found(f"GNU C17 12.2.0 {flag} -O2") == RecordedFlags("12.2.0", (flag, "-O2"))


@pytest.mark.parametrize("flag", IGNORED)
def test_ignored(flag: str) -> None:
    assert _found(f"GNU C17 12.2.0 {flag} -O2") == RecordedFlags("12.2.0", ("-O2",))


@pytest.mark.parametrize("flag", REFUSED)
def test_refused(flag: str) -> None:
    with pytest.raises(UnknownFlagError, match=r"^the model is compiled with") as refused:
        _found(f"GNU C17 12.2.0 -O2 {flag}")
    assert flag in str(refused.value) or not flag.isascii()


def test_each_row_has_a_flag_and_a_reason() -> None:
    for row in ROWS:
        known = [flag for flag in (*ACCEPTED, *IGNORED) if row_of(flag) is row]
        assert known, row.pattern
        assert len(row.why) > 6
    for flag in ACCEPTED:
        found = row_of(flag)
        assert found is not None
        assert found.is_repeated


def test_the_document_lists_every_row() -> None:
    text = (Path(__file__).resolve().parents[2] / "docs" / "reference" / "verify.md").read_text()
    documented = re.findall(r"^\| `-.*\| (.*) \|$", text, re.MULTILINE)
    assert documented == [row.why for row in ROWS]


def test_words_that_are_no_flags_are_no_producer() -> None:
    assert _found("GNU C17 12.2.0 -O2 -x c++") is None
    assert _found("GNU C17 12.2.0 -O2 @file") is None
    assert _found("GNU C++17 12.2.0 -O2") is None
    assert _found("Debian clang version 14.0.6") is None
    assert _found() is None


def test_the_unit_with_the_most_common_folders_counts() -> None:
    units = [
        CompiledUnit(PurePosixPath("/a/src/default_lib1.c"), "GNU C17 12.2.0 -O1"),
        CompiledUnit(PurePosixPath("/a/host/src/default_lib1.c"), "GNU C17 12.2.0 -O2"),
        CompiledUnit(PurePosixPath("/a/host/src/default_lib0.c"), "GNU C17 12.2.0 -O3"),
    ]
    assert of_source(units, SOURCE) == RecordedFlags("12.2.0", ("-O2",))
    assert of_source(units[2:], SOURCE) is None


def test_switches_without_a_source_are_everybodys() -> None:
    assert _found("GNU C17 12.2.0 -O2", source=PurePosixPath()) == RecordedFlags("12.2.0", ("-O2",))


def test_two_sets_of_flags_are_no_answer() -> None:
    for source in (SOURCE, PurePosixPath()):
        with pytest.raises(ImpossibleError, match="names 2 sets of flags for model/"):
            _found("GNU C17 12.2.0 -O1", "GNU C17 12.2.0 -O2", source=source)


def test_described() -> None:
    one, two = RecordedFlags("1", ("-O1", "-g")), RecordedFlags("1", ("-O2",))
    first, second = PurePosixPath("a"), PurePosixPath("b")
    assert described({first: one, second: one}) == "-O1 -g, as the ELF says"
    assert described({first: one, second: two}) == "2 sets of flags, as the ELF says"
