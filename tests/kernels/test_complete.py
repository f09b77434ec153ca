"""Every op has a kernel, reference tests and conformance cases; every kernel has an entry."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from pathlib import Path

import pytest

from microgen import kernels
from microgen.graph import ops
from microgen.graph.ops.control.branch import BranchAttrs
from microgen.graph.ops.control.loop import LoopAttrs
from microgen.graph.ops.external import ExternalAttrs
from microgen.interface.inspection import support

ROOT = Path(__file__).resolve().parents[2]
INCLUDE = ROOT / "crt" / "include"
FAMILIES = {name: op.attrs.__module__.split(".")[3:-1] for name, op in ops.registry().items()}
OWNERS = Counter(op.attrs for op in ops.registry().values())


def _is_named(op: str, room: str, pattern: str) -> bool:
    """Whether those tests of the op's family, or what they import from its tests, have the op's
    name, in quotes or as its own attributes."""
    attrs = ops.registry()[op].attrs
    names = [f'"{op}"', *([rf"\b{attrs.__name__}\b"] if OWNERS[attrs] == 1 else [])]
    (family,) = FAMILIES[op] or ("",)
    tests = sorted((ROOT / "tests" / room / family).glob(pattern))
    texts = [path.read_text() for path in tests]
    imported = re.compile(r"^from (tests\.(?:graph\.ops|kernels)\.\w+\.\w+) import", re.M)
    modules = {module for text in texts for module in imported.findall(text)}
    texts += [(ROOT / f"{module.replace('.', '/')}.py").read_text() for module in sorted(modules)]
    return any(re.search("|".join(names), text) for text in texts)


@pytest.mark.parametrize("op", sorted(FAMILIES))
def test_every_op_has_tests_of_its_reference(op: str) -> None:
    assert _is_named(op, "graph/ops", "test_*_reference.py")


@pytest.mark.parametrize("op", sorted(FAMILIES))
def test_every_op_has_a_kernel_with_conformance_cases_unless_it_needs_none(op: str) -> None:
    definition = ops.registry()[op]
    assert not (definition.is_view and definition.tables)
    entries = kernels.registry().get(op, ())
    assert not (definition.is_view and entries)
    # Code generators compile these ops themselves.
    is_external = definition.attrs in (ExternalAttrs, LoopAttrs, BranchAttrs)
    if not (definition.is_view or definition.tables or is_external):
        assert entries
    if entries:
        assert _is_named(op, "kernels", "test_*.py")


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
        for kernel in itertools.chain.from_iterable(kernels.of(module).values()):
            families.setdefault(kernel.code.header, set()).add(module.__name__.split(".")[2])
    strayed = {x: own for x, own in families.items() if x.split("/")[1] not in own}
    assert not strayed


def test_a_kernels_header_has_its_name() -> None:
    """So a search for a name that a report prints finds the C. Bodies times requantizations have
    too many names for their headers."""
    many = {"convolution", "dense", "depthwise"}
    for found in kernels.registry().values():
        for kernel in found:
            if kernel.code.header.split("/")[1] not in many:
                text = (INCLUDE / kernel.code.header).read_text()
                assert re.search(rf"\b{kernel.symbol}\b", text), kernel.symbol


def test_every_dtype_has_a_reference_kernel_that_needs_nothing_of_the_cpu() -> None:
    for found in kernels.registry().values():
        everywhere = {support.dtype_of(kernel) for kernel in found if not kernel.needs}
        assert everywhere == {support.dtype_of(kernel) for kernel in found}
