"""The plugin's compilation and its report."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from microgen.base.errors import RunError, ToolError
from microgen.building import toolchain
from microgen.running.runner import profile
from microgen.running.runner.image import Image
from tests.running.runner import standin
from tests.support.tools import NEEDS_CC

MANIFEST = standin.manifest("mps2_an386")
OPERATORS = {call.function: (0x40 * k, 0x40) for k, call in enumerate(MANIFEST.calls)}
IMAGE = Image(
    Path("firmware.elf"),
    "EM_ARM",
    0,
    {
        **OPERATORS,
        "TVMPlatformTimerStart": (0x200, 8),
        "TVMPlatformTimerStop": (0x208, 8),
        "tvmgen_default___tvm_main__": (0x300, 0x50),
    },
)


# Takes QEMU's place if only the plugin is made: the answer to --version does not matter.
EMULATOR = "true"


@NEEDS_CC
def test_the_plugin_is_compiled_once_into_the_users_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = tmp_path / "a,b"  # a comma has a meaning in QEMU's arguments
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
    argument = profile.prepare(tmp_path, IMAGE, MANIFEST, EMULATOR)
    (library,) = (cache / "microgen").iterdir()
    name = str(library).replace(",", ",,")
    assert (
        argument == f"{name},plan=profile_plan.txt,out=profile_counts.txt,blocks=profile_blocks.txt"
    )
    made = library.stat().st_mtime_ns
    assert profile.prepare(tmp_path, IMAGE, MANIFEST, EMULATOR) == argument
    assert library.stat().st_mtime_ns == made


@NEEDS_CC
def test_without_a_cache_the_plugin_stays_with_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(blocked))
    library = Path(profile.prepare(tmp_path, IMAGE, MANIFEST, EMULATOR).split(",")[0])
    assert library.parent == tmp_path
    assert library.is_file()


@NEEDS_CC
def test_the_plugin_compiles_without_a_warning(tmp_path: Path) -> None:
    source = Path(profile.__file__).parent / "plugin" / "profile.c"
    warnings = ["-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Wundef", "-pedantic", "-Werror"]
    options = ["-std=c99", "-O2", "-shared", "-fPIC", "-DAPI_VERSION=1", *warnings]
    subprocess.run(["gcc", *options, str(source), "-o", str(tmp_path / "p.so")], check=True)


def test_without_a_c_compiler_it_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(toolchain, "has", lambda _: False)
    with pytest.raises(ToolError, match="no C compiler to build it; install one"):
        profile.prepare(tmp_path, IMAGE, MANIFEST, EMULATOR)


def test_a_missing_symbol_is_named(tmp_path: Path) -> None:
    bare = Image(IMAGE.path, "EM_ARM", 0, OPERATORS)
    with pytest.raises(RunError, match="the program has no symbol TVMPlatformTimerStart"):
        profile.prepare(tmp_path, bare, MANIFEST, EMULATOR)


def test_counts_are_read_line_by_line(tmp_path: Path) -> None:
    (tmp_path / "profile_counts.txt").write_text("12 3 4\n13 3 5\n")
    assert profile.counts(tmp_path, calls=[2], samples=2) == (((12, 3, 4),), ((13, 3, 5),))


def test_counts_of_several_models_are_in_turn(tmp_path: Path) -> None:
    (tmp_path / "profile_counts.txt").write_text("12 3 4\n9 5\n13 3 5\n8 5\n")
    expected = (((12, 3, 4), (9, 5)), ((13, 3, 5), (8, 5)))
    assert profile.counts(tmp_path, calls=[2, 1], samples=2) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("12 3 4\n", "1 inferences ran between the timers, expected 2"),
        ("12 3 4\n13 3\n", "sample 1 called 1 of 2 operators"),
    ],
)
def test_counts_that_are_not_the_plans_are_refused(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "profile_counts.txt").write_text(text)
    with pytest.raises(RunError, match=message):
        profile.counts(tmp_path, calls=[2], samples=2)


def test_an_emulator_without_plugins_is_named(tmp_path: Path) -> None:
    with pytest.raises(ToolError, match=r"cannot run the plugin .*: plugin support not enabled"):
        profile.check_loaded(tmp_path, "plugin support not enabled")


@pytest.mark.parametrize(
    ("said", "api"),
    [
        ("QEMU emulator version 7.2.22 (Debian 1:7.2+dfsg-7)", 1),
        ("QEMU emulator version 8.2.2 (Debian 1:8.2.2+ds-0ubuntu1)", 1),
        ("QEMU emulator version 9.0.0", 2),
        ("QEMU emulator version 10.0.2 (Debian 1:10.0.2+ds-2)", 2),
    ],
)
def test_the_interface_is_that_of_the_emulators_version(
    said: str, api: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    finished = toolchain.Finished(0, said)
    monkeypatch.setattr(toolchain, "run", lambda *_, **__: finished)
    assert profile._api_version("qemu") == api
