"""Networks of torch, by litert-torch and torch.onnx, as firmware."""

from __future__ import annotations

from pathlib import Path

import pytest

from microgen.frontends.onnx.oracle.ort import OnnxRuntime
from microgen.frontends.tflite.litert import LiteRT
from tests.converters import archives, firmwares

_LACKING = LiteRT().lacking() or OnnxRuntime().lacking()
pytestmark = pytest.mark.skipif(bool(_LACKING), reason=_LACKING)
ARCHIVES = ("torch", "torch_onnx")
PAGE = Path(__file__).resolve().parents[2] / "docs" / "guides" / "pytorch.md"
# Of these, each n-th network is always run, in a form that changes from one to the next.
_EACH = {"torch": 3, "torch_onnx": 6}


def _chosen(name: str) -> list[str]:
    """The files of an archive that are not slow."""
    forms: dict[str, list[str]] = {}
    for file in archives.table(name):
        forms.setdefault(file.split(".")[0], []).append(file)
    networks = [forms[network] for network in sorted(forms)][:: _EACH[name]]
    return [files[k % len(files)] for k, files in enumerate(networks)]


def _blocks(*, is_slow: bool) -> list[tuple[str, list[str]]]:
    """Files of a program each, and their archive."""
    made = []
    for name in ARCHIVES:
        first = _chosen(name)
        files = [f for f in archives.table(name) if f not in first] if is_slow else first
        starts = range(0, len(files), archives.BLOCK)
        made += [(name, files[k : k + archives.BLOCK]) for k in starts]
    return made


def _expect_results(name: str, files: list[str], folder: Path) -> None:
    expected = archives.table(name)
    found = archives.results(archives.extracted(name, files, folder), folder)
    assert found == {file: expected[file] for file in files}


@pytest.mark.parametrize(("name", "files"), _blocks(is_slow=False))
def test_results(name: str, files: list[str], tmp_path: Path) -> None:
    _expect_results(name, files, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "files"), _blocks(is_slow=True))
def test_more_results(name: str, files: list[str], tmp_path: Path) -> None:
    _expect_results(name, files, tmp_path)


@pytest.mark.parametrize("name", ARCHIVES)
def test_the_page_has_the_shares(name: str) -> None:
    page, table = PAGE.read_text(), archives.table(name)
    for line in archives.share(table):
        form, _, figures = line.partition(": ")
        equal, _, count = figures.partition(" of ")
        assert f"| {form} | {count} | {equal} |" in page, line


@pytest.mark.parametrize("name", ARCHIVES)
def test_the_page_says_why_files_are_refused(name: str) -> None:
    page = PAGE.read_text()
    for file, said in archives.table(name).items():
        network, form, _ = file.split(".")
        is_named = f"`{network}.{form}`" in page or f"`{network}.*`" in page
        assert is_named or said == firmwares.EQUAL, file
