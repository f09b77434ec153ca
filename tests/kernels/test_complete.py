"""Every op has a kernel, reference tests and conformance cases; every kernel has an entry."""

from __future__ import annotations

from pathlib import Path

import pytest

from microgen import kernels
from microgen.graph import ops
from microgen.graph.ops.external import ExternalAttrs
from microgen.interface.inspection import support

ROOT = Path(__file__).resolve().parents[2]
INCLUDE = ROOT / "crt" / "include"
# The family and the module of each op, below microgen/graph/ops.
FILES = {name: Path(*op.attrs.__module__.split(".")[3:]) for name, op in ops.registry().items()}


@pytest.mark.parametrize("op", sorted(FILES))
def test_every_op_has_tests_of_its_reference(op: str) -> None:
    family, module = FILES[op].parent, FILES[op].name
    assert (ROOT / "tests" / "graph" / "ops" / family / f"test_{module}_reference.py").is_file()


@pytest.mark.parametrize("op", sorted(FILES))
def test_every_op_has_a_kernel_with_conformance_cases_unless_it_needs_none(op: str) -> None:
    definition = ops.registry()[op]
    assert not (definition.is_view and definition.tables)
    entries = kernels.registry().get(op, ())
    assert not (definition.is_view and entries)
    is_external = definition.attrs is ExternalAttrs  # code generators compile these ops themselves
    if not (definition.is_view or definition.tables or is_external):
        assert entries
    if entries:
        family, module = FILES[op].parent, FILES[op].name
        assert (ROOT / "tests" / "kernels" / family / f"test_{module}.py").is_file()


def test_every_kernel_header_is_named_by_an_entry_and_every_entry_has_one() -> None:
    entries = {kernel.code.header for found in kernels.registry().values() for kernel in found}
    headers = {path.relative_to(INCLUDE).as_posix(): path for path in INCLUDE.rglob("*.h")}
    assert entries == {name for name, path in headers.items() if _defines_a_kernel(path)}


def _defines_a_kernel(header: Path) -> bool:
    name, text = f"MG_{header.stem.upper()}", header.read_text()
    return f"#ifdef {name}_IMPLEMENTATION " in text or f"#define {name}_PROTOTYPE(" in text


def test_a_kernels_header_is_in_the_folder_of_its_module_or_of_one_that_shares_it() -> None:
    families: dict[str, set[str]] = {}
    for module in kernels.modules():
        for kernel in getattr(module, "IMPLEMENTATIONS", ()):
            families.setdefault(kernel.code.header, set()).add(module.__name__.split(".")[2])
    strayed = {x: own for x, own in families.items() if x.split("/")[1] not in own}
    assert not strayed


def test_every_dtype_has_a_reference_kernel_that_needs_nothing_of_the_cpu() -> None:
    for found in kernels.registry().values():
        everywhere = {support.dtype_of(kernel) for kernel in found if not kernel.needs}
        assert everywhere == {support.dtype_of(kernel) for kernel in found}
