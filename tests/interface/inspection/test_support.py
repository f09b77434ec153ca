"""docs/reference/supported-ops.md and crt/KERNELS.md say what the code does."""

from __future__ import annotations

from pathlib import Path

import microgen
from microgen import kernels
from microgen.base import manifest
from microgen.interface.inspection import support
from tests.support.places import DIGITS

ROOT = Path(__file__).resolve().parents[3]
DOCUMENT = ROOT / "docs" / "reference" / "supported-ops.md"
KERNELS = ROOT / "crt" / "KERNELS.md"


def test_the_document_is_up_to_date() -> None:
    advice = "run: microgen ops --markdown > docs/reference/supported-ops.md"
    assert DOCUMENT.read_text(encoding="utf-8") == support.markdown() + "\n", advice


def test_every_op_has_a_row_with_a_sentence() -> None:
    for row in support.rows():
        assert row.about
        assert row.how
        assert row.limits


def test_the_list_of_kernels_is_up_to_date() -> None:
    advice = "run: microgen ops --kernels --markdown > crt/KERNELS.md"
    assert KERNELS.read_text(encoding="utf-8") == support.kernels_markdown() + "\n", advice


def test_a_search_for_any_kernel_finds_its_header_and_its_modules() -> None:
    lines = KERNELS.read_text(encoding="utf-8").splitlines()
    rows = {line.split("`")[1]: line for line in lines if line.startswith("| `")}
    symbols = {kernel.symbol for found in kernels.registry().values() for kernel in found}
    assert rows.keys() == symbols
    for line in rows.values():
        paths = [part for part in line.split("`") if part.endswith((".h", ".py"))]
        assert len(paths) >= 2
        assert all((ROOT / path).is_file() for path in paths)


def test_a_manifest_says_where_each_of_its_kernels_comes_from(tmp_path: Path) -> None:
    microgen.generate(DIGITS, "mps2_an386", tmp_path / "project")
    (record,) = manifest.load(tmp_path / "project").modules
    assert tuple(source.kernel for source in record.kernel_sources) == record.kernels
    for source in record.kernel_sources:
        assert (tmp_path / "project" / "crt" / "include" / source.header).is_file()
        assert source.modules
        assert all((ROOT / module).is_file() for module in source.modules)
