"""Networks whose parts go to several codegens and to the built-in kernels."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from _pytest.mark import ParameterSet

import microgen
from microgen.graph.ir.graph import Array
from tests.aot import native as aot
from tests.byoc import mixed, native
from tests.byoc.random_networks import random_network
from tests.support.tools import NEEDS_ARM, NEEDS_NINJA

BOARD = "mps2_an386"
CONVENTIONS: dict[str, dict[str, Any]] = {
    "c": {},
    "packed": {"interface": "packed"},
    "graph": {"executor": "graph"},
}
# The combination that is not slow; True: merged regions and composites. The random networks below
# have sanitizers: with the conventions of C, and with others.
QUICK = ((BOARD, "graph", True),)


def _combinations() -> Iterator[ParameterSet]:
    for one in itertools.product(("native", BOARD), CONVENTIONS, (False, True)):
        board, convention, merged = one
        marks = [NEEDS_ARM] if board == BOARD else []
        marks += [] if one in QUICK else [pytest.mark.slow]
        name = f"{board}-{convention}-{'merged' if merged else 'single'}"
        yield pytest.param(*one, marks=marks, id=name)


@NEEDS_NINJA
@pytest.mark.parametrize(("board", "convention", "merged"), list(_combinations()))
def test_three_codegens_and_the_kernels(
    board: str,
    convention: str,
    merged: bool,
    tmp_path: Path,
) -> None:
    options = {**CONVENTIONS[convention], "composite": merged, "merge_regions": merged}
    made = microgen.generate(
        mixed.network(), board, tmp_path / "p", codegen=mixed.CODEGENS, **options
    )
    taken = mixed.takers(made)
    assert taken.keys() == {"", *mixed.CODEGENS}
    assert made.idle == ()
    found = microgen.run(tmp_path / "p", compare=True, sanitize=board == "native")
    assert found.checks.ok, found.checks.to_text()
    assert [str(v) for v in found.verdicts if not (v.ok or v.is_skipped)] == []
    assert not all(v.is_skipped for v in found.verdicts)


# Orders of priority in which each codegen gets something, and whether patterns and regions are
# merged. Without dnnl, all operators are elementwise or move elements.
ORDERS = (
    (("examplejsoncompiler", "ccompiler"), True),
    (("ccompiler",), False),
    (("dnnl", "examplejsoncompiler", "ccompiler"), True),
    (("examplejsoncompiler", "dnnl", "ccompiler"), False),
    (("ccompiler", "dnnl"), True),
)
AT_ONCE = 8


def _differs(found: list[Array], expected: list[Array], *, exactly: bool) -> str:
    """The first difference, or ""; the sign of zeros does not matter."""
    for number, (got, wanted) in enumerate(zip(found, expected, strict=True)):
        assert (got.shape, got.dtype) == (wanted.shape, wanted.dtype)
        tolerance = 0.0 if exactly else 1e-5 * max(1.0, float(np.ptp(wanted)))
        error = float(np.abs(got - wanted).max())
        if not error <= tolerance:
            return f"output {number} is off by {error}"
    return ""


def _agree(seeds: range, codegens: tuple[str, ...], folder: Path, *, merged: bool) -> set[str]:
    """Checks that networks in one program compute what numpy does; returns the codegens that
    compiled functions."""
    exactly = "dnnl" not in codegens
    networks = {f"n{seed}": random_network(seed, sums=not exactly) for seed in seeds}
    firmware = microgen.compile_models(
        [(network.module, name) for name, network in networks.items()],
        "native",
        codegen=codegens,
        composite=merged,
        merge_regions=merged,
    )
    program = native.built(firmware, folder, samples=2)
    for index, (name, network) in enumerate(networks.items()):
        for found in program.run(index, [network.inputs, network.inputs]):
            assert _differs(found, network.outputs, exactly=exactly) == "", name
    return set().union(*map(mixed.takers, firmware.models))


@pytest.mark.sampled(1)
@NEEDS_NINJA
@pytest.mark.parametrize("turn", range(len(ORDERS)))
def test_random_networks_compute_what_numpy_does(turn: int, tmp_path: Path) -> None:
    codegens, merged = ORDERS[turn]
    seeds = range(AT_ONCE * turn, AT_ONCE * (turn + 1))
    assert _agree(seeds, codegens, tmp_path, merged=merged) == {"", *codegens}


@pytest.mark.sampled(1)
@NEEDS_NINJA
@pytest.mark.parametrize("turn", range(len(ORDERS)))
@pytest.mark.parametrize("convention", [name for name in aot.CONVENTIONS if name != "c"])
def test_random_networks_in_other_conventions(convention: str, turn: int, tmp_path: Path) -> None:
    codegens, merged = ORDERS[turn]
    exactly = "dnnl" not in codegens
    network = random_network(500 + turn, sums=not exactly)
    options = {"codegen": codegens, "composite": merged, "merge_regions": merged}
    made = aot.compiled(network.module, convention, **options)
    found = aot.inferred(made, tmp_path, network.inputs)
    assert _differs(found, network.outputs, exactly=exactly) == ""


@pytest.mark.slow
@NEEDS_NINJA
@pytest.mark.parametrize("turn", range(100))
def test_many_random_networks_of_random_priorities(turn: int, tmp_path: Path) -> None:
    rng = np.random.default_rng(turn)
    count = int(rng.integers(1, len(mixed.CODEGENS) + 1))
    codegens = tuple(map(str, rng.permutation(mixed.CODEGENS)[:count]))
    seeds = range(1000 + AT_ONCE * turn, 1000 + AT_ONCE * (turn + 1))
    _agree(seeds, codegens, tmp_path, merged=bool(rng.integers(2)))
