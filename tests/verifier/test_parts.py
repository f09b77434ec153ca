"""The check ``manifest`` of parts of one buffer that several calls compute."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import microgen
from microgen.base.manifest import CallRecord, ModuleRecord
from microgen.verifier.checks import consistency, parts
from tests.support import concat_networks


@pytest.fixture(scope="module")
def module(tmp_path_factory: pytest.TempPathFactory) -> ModuleRecord:
    """A network that joins rows three times."""
    made, output = concat_networks.rows()
    path = tmp_path_factory.mktemp("parts") / "m.tflite"
    path.write_bytes(made.model(output))
    return microgen.compile_model(path, "native", optimize="speed").manifest


def _changed(
    module: ModuleRecord, change: Callable[[CallRecord], CallRecord]
) -> tuple[list[str], list[str]]:
    """What is wrong if the first call that ends a concatenation is changed, and its layers."""
    numbers = [
        call.index for call in module.calls if any(step.op == "concatenate" for step in call.steps)
    ]
    calls = list(module.calls)
    calls[numbers[0]] = change(calls[numbers[0]])
    made = replace(module, calls=tuple(calls))
    return list(parts.problems(made)), list(consistency._problems(made))


def _moved(call: CallRecord, apart: int) -> CallRecord:
    """The call with another place of its part."""
    position = call.seen[0][1]
    args = list(call.args)
    args[position] = replace(args[position], offset=args[position].offset + apart)
    return replace(call, args=tuple(args))


def _step(call: CallRecord, **fields: Any) -> CallRecord:
    """The call with another record of the concatenation."""
    *own, last = call.steps
    return replace(call, steps=(*own, replace(last, **fields)))


def test_a_sound_manifest_has_no_problems(module: ModuleRecord) -> None:
    assert any(argument.offset for call in module.calls for argument in call.args)
    assert list(parts.problems(module)) == []
    assert not [one for one in consistency._problems(module) if "options" not in one]


@pytest.mark.parametrize("apart", [-144, -4, 4, 144])
def test_a_part_in_another_place(module: ModuleRecord, apart: int) -> None:
    found, every = _changed(module, lambda call: _moved(call, apart))
    assert found
    assert set(found) <= set(every)
    assert any("over what another call" in one or "not all of" in one for one in found)


def test_a_result_that_begins_elsewhere(module: ModuleRecord) -> None:
    found, every = _changed(module, lambda call: _step(call, offset=call.steps[-1].offset + 4))
    assert any("not all of" in one for one in found)
    found, every = _changed(module, lambda call: _step(call, offset=-4096))
    assert any("at -4096" in one for one in every)


@pytest.mark.parametrize("seed", range(20))
def test_runs_of_bytes(seed: int) -> None:
    rng = np.random.default_rng(seed)
    runs, known = parts._Written(), np.zeros(48, bool)
    for _ in range(30):
        start = int(rng.integers(39))
        end = start + int(rng.integers(0, 8))
        assert runs.has(start, end) is bool(known[start:end].all())
        assert runs.add(start, end) is not bool(known[start:end].any())
        if not known[start:end].any():
            known[start:end] = True
    assert len(runs.starts) == int(
        (np.diff(np.concatenate([[False], known]).astype(int)) > 0).sum()
    )
