"""The code that calls a component whose input comes in rows."""

from __future__ import annotations

from pathlib import Path

import pytest

import microgen
from microgen.project.exporting import calling, component
from tests.project.exporting.firmware import STRICT, run
from tests.support.places import SMALL
from tests.support.tools import NEEDS_CC, NEEDS_CLANG, NEEDS_CXX


@pytest.mark.parametrize(
    ("compiler", "language"),
    [
        pytest.param("cc", ("c", "c99"), marks=NEEDS_CC),
        pytest.param("g++", ("c++", "c++17"), marks=NEEDS_CXX),
    ],
)
@pytest.mark.parametrize("pools", [(), ("own:*:external",)])
def test_the_caller_feeds_rows_and_has_no_whole_input(
    compiler: str, language: tuple[str, str], pools: tuple[str, ...], tmp_path: Path
) -> None:
    microgen.generate(SMALL, "native", tmp_path / "p", input_rows=3, pool=pools)
    found = component.load(tmp_path / "p")
    text = calling.code(found)
    assert "[TVMGEN_DEFAULT_IMAGE_ROWS_SIZE / sizeof(TVMGEN_DEFAULT_IMAGE_TYPE)]" in text
    assert "tvmgen_default_run" not in text
    (tmp_path / "own.c").write_text(f"{text}int main(void) {{ return infer(); }}\n")
    includes = [f"-I{tmp_path / 'p' / name}" for name in found.public_includes]
    name, standard = language
    flags = (f"-std={standard}", *STRICT, "-Wconversion", "-fsyntax-only", "-x", name)
    run((compiler, *flags, *includes, "own.c"), tmp_path)


@NEEDS_CLANG
def test_operators_that_get_rows_can_be_written_as_llvm_ir(tmp_path: Path) -> None:
    made = microgen.generate(SMALL, "native", tmp_path / "p", input_rows=3, emit="llvm-ir")
    texts = [path.read_text() for path in sorted((tmp_path / "p").rglob("*.ll"))]
    assert len(texts) == len(made.program.functions)
    assert any("@tvmgen_default_step = external" in text for text in texts)
