"""Flags that an ELF names: those of a known form are repeated, and no others."""

from __future__ import annotations

from pathlib import PurePosixPath

import pytest

from microgen.verifier.producers import Unit
from microgen.verifier.recorded_flags import Flags, described, of_source
from microgen.verifier.regenerated import ImpossibleError

SOURCE = PurePosixPath("model", "codegen", "host", "src", "default_lib1.c")


def _found(*producers: str, source: PurePosixPath = SOURCE) -> Flags | None:
    return of_source([Unit(source, producer) for producer in producers], SOURCE)


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
    assert _found(producer) == Flags(version, ("-O2",))


ACCEPTED = (
    *("-mcpu=cortex-m3", "-mthumb", "-mfpu=fpv4-sp-d16", "-march=rv32imac_zicsr", "-g", "-g3"),
    *(
        "-ggdb3",
        "-gdwarf-4",
        "-Os",
        "-std=gnu11",
        "-ansi",
        "-fno-strict-aliasing",
        "-ffp-contract=off",
    ),
    *("-fPIC", "-falign-loops=16", "-fvisibility=hidden", "--param=min-pagesize=0"),
    *(
        "-fno-math-errno",
        "-ftls-model=local-exec",
        "-fstack-protector-strong",
        "-msave-restore",
        "-fno-fast-math",
    ),
)
IGNORED = (
    *(
        "-Wall",
        "-w",
        "-pedantic",
        "-nostdinc",
        "-gno-column-info",
        "-fdiagnostics-color=always",
        "-fstack-usage",
    ),
    *("-ffile-prefix-map=/home/me=.", "-fmessage-length=0"),
)
REFUSED = (
    *("-fplugin=evil", "-fplugin-arg-evil-key=value", "-fdump-tree-all", "-fopt-info=all"),
    *(
        "-fprofile-use",
        "-fprofile-generate",
        "-fauto-profile=data",
        "-fsyntax-only",
        "-save-temps",
        "-specs=x",
    ),
    *("-fsanitize=undefined", "-flto", "-finstrument-functions", "-include", "-I.", "-DX=1"),
    *("-wrapper", "-B.", "-Wp,-MDx;", "-xc++", "-o", "-pg", "-p", "-c", "-E", "-MD"),
    *("-mabi=/etc/passwd", "-march=../x", "--sysroot=/", "-fcompare-debug=x/y", "-T", "-dumpbase"),
    *("-Ofast", "-ffast-math", "-fassociative-math", "-ffp-contract=fast", "-fno-signed-zeros"),
    *("-fsingle-precision-constant", "-freciprocal-math", "-f\u00e9", "-O2;x", "-fx=$(x)"),
)


@pytest.mark.parametrize("flag", ACCEPTED)
def test_accepted(flag: str) -> None:
    assert _found(f"GNU C17 12.2.0 {flag} -O2") == Flags("12.2.0", (flag, "-O2"))


@pytest.mark.parametrize("flag", IGNORED)
def test_ignored(flag: str) -> None:
    assert _found(f"GNU C17 12.2.0 {flag} -O2") == Flags("12.2.0", ("-O2",))


@pytest.mark.parametrize("flag", REFUSED)
def test_refused(flag: str) -> None:
    with pytest.raises(ImpossibleError, match=r"^the model is compiled with"):
        _found(f"GNU C17 12.2.0 -O2 {flag}")


def test_words_that_are_no_flags_are_no_producer() -> None:
    assert _found("GNU C17 12.2.0 -O2 -x c++") is None
    assert _found("GNU C17 12.2.0 -O2 @file") is None
    assert _found("GNU C++17 12.2.0 -O2") is None
    assert _found("Debian clang version 14.0.6") is None
    assert _found() is None


def test_the_unit_with_the_most_common_folders_counts() -> None:
    units = [
        Unit(PurePosixPath("/a/src/default_lib1.c"), "GNU C17 12.2.0 -O1"),
        Unit(PurePosixPath("/a/host/src/default_lib1.c"), "GNU C17 12.2.0 -O2"),
        Unit(PurePosixPath("/a/host/src/default_lib0.c"), "GNU C17 12.2.0 -O3"),
    ]
    assert of_source(units, SOURCE) == Flags("12.2.0", ("-O2",))
    assert of_source(units[2:], SOURCE) is None


def test_switches_without_a_source_are_everybodys() -> None:
    assert _found("GNU C17 12.2.0 -O2", source=PurePosixPath()) == Flags("12.2.0", ("-O2",))


def test_two_sets_of_flags_are_no_answer() -> None:
    for source in (SOURCE, PurePosixPath()):
        with pytest.raises(ImpossibleError, match="names 2 sets of flags for model/"):
            _found("GNU C17 12.2.0 -O1", "GNU C17 12.2.0 -O2", source=source)


def test_described() -> None:
    one, two = Flags("1", ("-O1", "-g")), Flags("1", ("-O2",))
    first, second = PurePosixPath("a"), PurePosixPath("b")
    assert described({first: one, second: one}) == "-O1 -g, as the ELF says"
    assert described({first: one, second: two}) == "2 sets of flags, as the ELF says"
