"""scripts/measure.py: what it measures, and that it measures what the tables have."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from microgen.kernels import cost, measured
from microgen.kernels.measured import CODE_BYTES, COSTS, STACK_BYTES
from microgen.target.cpu import CPUS
from scripts import measure
from scripts.measuring import (
    code_bytes,
    costs,
    documents,
    requantizations,
    samples,
    stack_bytes,
    tables,
)
from tests.support.tools import NEEDS_ARM_GCC, NEEDS_LLVM, NEEDS_NINJA, NEEDS_RISCV_GCC

CORE = "cortex-m4f"
SYMBOL, STEM = "mg_lookup_s8", "lookup_s8"


def _forget() -> None:
    measured.load.cache_clear()
    cost.table.cache_clear()


@pytest.fixture(autouse=True)
def copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Tables and samples are copies."""
    for file in (*measured.FOLDER.glob("*.json"), samples.FILE):
        shutil.copy(file, tmp_path)
    monkeypatch.setattr(measured, "FOLDER", tmp_path)
    monkeypatch.setattr(samples, "FILE", tmp_path / samples.FILE.name)
    _forget()
    yield
    monkeypatch.undo()
    _forget()


def _without(numbers: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {
        name: _without(each, *names) if isinstance(each, Mapping) else each
        for name, each in numbers.items()
        if name not in names
    }


def _lose(name: str, *columns: str) -> Mapping[str, Any]:
    """Takes a kernel out of columns of a table, and returns what they had."""
    before = tables.read(name).by_column()
    for column in columns:
        tables.put(name, column, _without(before[column], SYMBOL, STEM))
        assert tables.read(name).column(column) != before[column]
    return before


def _texts() -> dict[str, str]:
    return {file.name: file.read_text() for file in measured.FOLDER.glob("*.json")}


def test_nothing_is_missing() -> None:
    before = _texts()
    measure.main(["--missing"])
    assert _texts() == before


@NEEDS_ARM_GCC
@NEEDS_LLVM
@pytest.mark.parametrize("core", ["cortex-m0", "cortex-m4f", "cortex-m55"])
def test_the_code_of_kernels_is_as_measured(core: str) -> None:
    """A kernel whose C was edited has to be measured again, because flash_most adds these bytes:
    ``scripts/measure.py --code SYMBOL ...``. Samples of all families are compared."""
    stems = sorted(code_bytes.every())[::30]
    kept = tables.read(CODE_BYTES).column(core)
    for toolchain, rows in code_bytes.measure(core, stems).items():
        assert rows == {stem: kept[toolchain][stem] for stem in stems}


@pytest.mark.slow
@NEEDS_ARM_GCC
@NEEDS_LLVM
@pytest.mark.parametrize("core", code_bytes.CORES)
def test_the_code_of_every_kernel_is_as_measured(core: str) -> None:
    assert code_bytes.measure(core) == tables.read(CODE_BYTES).column(core)


@NEEDS_ARM_GCC
@NEEDS_RISCV_GCC
@NEEDS_LLVM
@pytest.mark.parametrize(
    "column", ["cortex-m0 gcc", "cortex-m4f gcc", "cortex-m4f llvm", "rv32imac gcc"]
)
def test_the_stack_of_kernels_is_as_measured(column: str) -> None:
    """A kernel whose C was edited has to be measured again, because less stack is expected than
    ``verify`` finds if it takes more now: ``scripts/measure.py --stack SYMBOL ...``. Samples of all
    families are compared."""
    kept = tables.read(STACK_BYTES).column(column)["shared"]
    stems = sorted(kept)[::30]
    assert stack_bytes.shared(*column.split(), stems) == {stem: kept[stem] for stem in stems}


@pytest.mark.slow
@NEEDS_ARM_GCC
@NEEDS_RISCV_GCC
@NEEDS_LLVM
@pytest.mark.parametrize("column", tables.read(STACK_BYTES).columns)
def test_no_kernel_takes_more_stack_than_measured(column: str) -> None:
    """The table is a bound, so a kernel that takes less by now is no error."""
    kept = tables.read(STACK_BYTES).column(column)["shared"]
    found = stack_bytes.shared(*column.split())
    assert found.keys() == kept.keys()
    assert {stem: n for stem, n in found.items() if n > kept[stem]} == {}


@NEEDS_ARM_GCC
@NEEDS_LLVM
def test_missing_code_is_measured() -> None:
    before = _lose(CODE_BYTES, CORE, "cortex-m3")
    measure.main(["--missing", "--code"])
    found = tables.read(CODE_BYTES).by_column()
    assert found.keys() == before.keys()
    for core, parts in before.items():
        for part, numbers in parts.items():
            # other versions of compilers make other code
            assert found[core][part] == pytest.approx(numbers, rel=0.25), (core, part)


@NEEDS_ARM_GCC
@NEEDS_LLVM
def test_missing_stack_is_measured() -> None:
    column = f"{CORE} gcc"
    before = _lose(STACK_BYTES, column)
    measure.main(["--missing", "--stack"])
    found = tables.read(STACK_BYTES).by_column()
    assert found.keys() == before.keys()
    assert found[column]["shared"] == pytest.approx(before[column]["shared"], abs=24)
    # Layers that are compiled for their shapes are measured with those of all kernels only.
    assert found[column]["own"] == _without(before[column]["own"], STEM)
    assert found[column]["entry"] == before[column]["entry"]


@pytest.mark.slow
@NEEDS_ARM_GCC
@NEEDS_NINJA
def test_missing_costs_are_measured() -> None:
    """With samples, which say what is waited for."""
    columns = [f"{CORE} {form}" for form in cost.FORMS]
    before = _lose(COSTS, *columns)
    kept = samples.load()
    for form in cost.FORMS:
        samples._write(CORE, form, {SYMBOL: {}})
    measure.main(["--missing", "--costs"])
    found = tables.read(COSTS).by_column()
    assert found.keys() == before.keys()
    for column in columns:
        mine, other = found[column].pop(SYMBOL), before[column].pop(SYMBOL)
        assert mine.keys() == other.keys()
        for kind in cost.COEFFICIENTS:
            assert mine[kind] == pytest.approx(other[kind], rel=0.1)
    assert found == before
    assert samples.load()[CORE].keys() == kept[CORE].keys()
    assert not list(samples.differing(samples.load(), CORE, [SYMBOL]))


Asked = dict[str, dict[str, list[str]]]  # by table and core


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Asked:
    """What the modules that measure are asked for."""
    found: Asked = {}

    def write(name: str, cores: Any) -> None:
        names = cores if isinstance(cores, Mapping) else dict.fromkeys(cores, "")
        found[name] = {core: sorted(each) for core, each in names.items()}

    for module in (code_bytes, stack_bytes, costs, requantizations, samples):
        name = module.__name__.rpartition(".")[2]
        monkeypatch.setattr(module, "write", lambda cores, *_, name=name: write(name, cores))
    return found


def test_a_kernel_is_measured_again_on_all_cores(asked: Asked) -> None:
    measure.main([SYMBOL])
    assert asked == {
        "code_bytes": {core: [STEM] for core in code_bytes.CORES},
        "stack_bytes": {core: [STEM] for core in tables.read(STACK_BYTES).cores},
        "costs": {core: [SYMBOL] for core in cost.cores()},
        "samples": {core: [SYMBOL] for core in cost.cores()},
    }


@pytest.mark.parametrize("options", [[], ["--missing"]])
def test_everything_is_measured_on_a_new_core(options: list[str], asked: Asked) -> None:
    core = "cortex-m4"
    tables.put(CODE_BYTES, core, {})
    text = (measured.FOLDER / f"{CODE_BYTES}.json").read_text()
    (measured.FOLDER / f"{CODE_BYTES}.json").write_text(text.replace(f'"{core}"', '"other"'))
    measure.main([*options, "--core", core])
    names = ("code_bytes", "stack_bytes", "costs", "requantizations", "samples")
    assert asked == {name: {core: []} for name in names}


def test_options_say_what_is_measured(asked: Asked) -> None:
    measure.main(["--code", "--stack", "--core", CORE])
    assert asked.keys() == {"code_bytes", "stack_bytes"}
    asked.clear()
    measure.main(["--costs", "--core", CORE])
    assert asked == {name: {CORE: []} for name in ("costs", "requantizations", "samples")}


def test_a_core_that_qemu_does_not_emulate_has_no_costs(
    asked: Asked, capsys: pytest.CaptureFixture[str]
) -> None:
    measure.main(["--core", "cortex-m0plus"])
    assert asked["costs"] == {}
    assert "cortex-m0plus: no costs, as QEMU emulates no board with it" in capsys.readouterr().out


@pytest.mark.usefixtures("asked")
def test_documents_get_a_new_core(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for path in documents.texts():
        copy = tmp_path / path.relative_to(tables.CHECKOUT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, copy)
    new = replace(CPUS["cortex-m4f"], name="m4g")
    monkeypatch.setattr(documents, "CHECKOUT", tmp_path)
    monkeypatch.setattr(documents, "CPUS", {**CPUS, "m4g": new})
    measure.main(["--missing", "--core", CORE])
    boards, schema = (path.read_text() for path in documents.texts())
    flags = "-mcpu=cortex-m4 -mthumb -mfpu=fpv4-sp-d16 -mfloat-abi=hard"
    row = f"| `m4g` | fpu, dsp, long_multiply | `{flags}` | `thumbv7em-none-eabihf` |"
    assert row in boards.splitlines()
    assert '        "host",\n        "m4g"\n' in schema


def test_what_cannot_be_measured_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments, why in (
        (["mg_none"], "there is no kernel mg_none"),
        (["--missing", SYMBOL], "--missing finds the kernels itself"),
        (["--core", "m99"], "invalid choice: 'm99'"),
    ):
        with pytest.raises(SystemExit):
            measure.main(arguments)
        assert why in capsys.readouterr().err


def test_the_board_of_a_core_has_it_or_one_like_it() -> None:
    found = {core: tables.board(core) for core in CPUS if core != "host"}
    assert all(board.cpu.name == core for core, board in found.items())
    assert found["cortex-m33"].name == "mps2_an505"  # more RAM than musca_b1
    assert found["cortex-m0plus"].name == "rp2040"  # not emulated
    assert found["cortex-m4"].qemu == found["cortex-m4f"].qemu  # no board has it
    assert [core for core in cost.cores() if tables.has_little_ram(core)] == ["cortex-m0"]
