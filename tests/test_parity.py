"""docs/reference/tvm-parity.md: every test that it names exists, and every row has an answer."""

from __future__ import annotations

import ast
import functools
import re
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parent
PAGE = (TESTS.parent / "docs" / "reference" / "tvm-parity.md").read_text()
NAMED = sorted(set(re.findall(r"`([\w/]+\.py)::(\w+)`", PAGE)))
# Test functions of TVM v0.14.0, by file.
COUNTS = {
    "tests/python/relay/aot/test_crt_aot.py": 30,
    "tests/python/relay/aot/test_crt_aot_usmp.py": 14,
    "tests/python/relay/aot/test_c_device_api.py": 4,
    "tests/python/relay/aot/test_pass_aot_lower_main.py": 12,
    "tests/python/relay/aot/test_aot_create_executor_metadata.py": 2,
    "tests/python/relay/aot/test_aot_create_function_metadata.py": 6,
    "tests/python/relay/aot/test_crt_forward_declarations.py": 3,
    "tests/python/relay/aot/test_cpp_aot.py": 8,
    "tests/python/relay/test_used_memory_annotator.py": 12,
    "tests/python/relay/test_pass_annotate_target.py": 16,
    "tests/python/relay/test_pass_merge_composite.py": 13,
    "tests/python/relay/test_pass_merge_compiler_regions.py": 3,
    "tests/python/relay/test_pass_partition_graph.py": 23,
    "tests/python/relay/test_external_codegen.py": 10,
    "tests/python/relay/test_json_runtime.py": 10,
    "tests/python/unittest/test_micro_model_library_format.py": 14,
}
NEEDS_A_TEST = ("same", "differs", "refused")


@functools.cache
def _functions(path: Path) -> frozenset[str]:
    tree = ast.parse(path.read_text())
    return frozenset(node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))


def _rows(heading: str) -> list[list[str]]:
    """The cells of the table rows below a heading."""
    _, _, section = PAGE.partition(f"\n## {heading}\n")
    lines = section.partition("\n## ")[0].splitlines()
    return [
        [cell.strip() for cell in line.strip("|").split(" | ")]
        for line in lines
        if re.match(r"\| (`test_|\d)", line)
    ]


@pytest.mark.parametrize(("file", "name"), NAMED)
def test_a_test_that_is_named_exists(file: str, name: str) -> None:
    assert name.startswith("test_")
    assert name in _functions(TESTS / file)


@pytest.mark.parametrize("heading", COUNTS)
def test_every_test_of_tvm_has_a_row_with_an_answer(heading: str) -> None:
    rows = _rows(heading)
    assert len({row[0] for row in rows}) == len(rows) == COUNTS[heading]
    for name, _, verdict, here in rows:
        assert verdict in (*NEEDS_A_TEST, "n/a"), name
        assert "::test_" in here or verdict not in NEEDS_A_TEST, name


def test_every_defect_has_its_own_test() -> None:
    rows = _rows("The defects of TVM v0.14")
    held = sorted(n for n in _functions(TESTS / "test_tvm_defects.py") if n.startswith("test_"))
    assert len(rows) == len(held) == 19
    for row, name in zip(rows, held, strict=True):
        assert name.startswith(f"test_{int(row[0]):02}_")
        assert f"`test_tvm_defects.py::{name}`" in row[2]
