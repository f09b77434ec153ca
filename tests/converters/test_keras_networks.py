"""Networks that Keras and TensorFlow's converter wrote, as firmware, against LiteRT."""

from __future__ import annotations

from pathlib import Path

import pytest

from microgen.frontends.tflite.litert import LiteRT
from tests.converters import archives

pytestmark = pytest.mark.skipif(bool(LiteRT().lacking()), reason=LiteRT().lacking())
TABLE = archives.table("keras")
FORMS = sorted({file.split(".")[1] for file in TABLE})
# Of each network one form, and another one of the next.
_TURNS = {name: k for k, name in enumerate(sorted({file.split(".")[0] for file in TABLE}))}
FIRST = [file for file in TABLE if FORMS[_TURNS[file.split(".")[0]] % 5] == file.split(".")[1]]
OTHERS = [file for file in TABLE if file not in FIRST]
GUIDE = Path(__file__).resolve().parents[2] / "docs" / "guides" / "tflite.md"


def _blocks(files: list[str]) -> list[list[str]]:
    return [files[k : k + archives.BLOCK] for k in range(0, len(files), archives.BLOCK)]


def _expect_results(files: list[str], folder: Path) -> None:
    paths = archives.extracted("keras", files, folder)
    found = archives.results(paths, folder)
    assert found == {file: TABLE[file] for file in files}


@pytest.mark.parametrize("files", _blocks(FIRST), ids=lambda files: files[0])
def test_results(files: list[str], tmp_path: Path) -> None:
    _expect_results(files, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("files", _blocks(OTHERS), ids=lambda files: files[0])
def test_more_results(files: list[str], tmp_path: Path) -> None:
    _expect_results(files, tmp_path)
