"""Whole generated files of the shipped model: a change of generated code is reviewed as a diff."""

from __future__ import annotations

from pathlib import Path

import pytest

import microgen

HERE = Path(__file__).resolve().parent
DIGITS = HERE.parents[1] / "examples" / "digits" / "digits_int8.tflite"
HOST = "model/codegen/host"
FILES = (
    "CMakeLists.txt",
    "model/CMakeLists.txt",
    "README.md",
    "boards/mps2_an386.ld",
    "boards/stack.cmake",
    "model/metadata.json",
    f"{HOST}/include/tvmgen_default.h",
    f"{HOST}/src/default_lib0.c",
    f"{HOST}/src/default_lib1.c",
    f"{HOST}/src/default_lib1.h",
    f"{HOST}/src/default_memory.S",
    f"{HOST}/src/default_params.h",
    "prj.conf",
    "sample.yaml",
    "src/main.c",
    "west/west-commands.yml",
    "west/west.yml",
)


@pytest.fixture(scope="module")
def generated() -> dict[str, bytes]:
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("SOURCE_DATE_EPOCH", raising=False)
        return dict(microgen.compile_model(DIGITS, "mps2_an386").files.files)


@pytest.mark.parametrize("name", FILES)
def test_generated_file_is_as_expected(
    name: str, generated: dict[str, bytes], request: pytest.FixtureRequest
) -> None:
    golden = HERE / "digits_mps2_an386" / name
    if request.config.getoption("--update-golden"):
        golden.parent.mkdir(parents=True, exist_ok=True)
        golden.write_bytes(generated[name])
    assert golden.is_file(), "run `make golden`"
    assert generated[name].decode() == golden.read_text()
