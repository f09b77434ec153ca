"""The stack that is reserved: what firmware takes, what options and boards say, what is refused."""

from __future__ import annotations

import functools
import json
from dataclasses import replace
from pathlib import Path

import pytest

import microgen
from microgen import kernels, relay, verifier
from microgen.base import manifest
from microgen.base.errors import BoardError, CapacityError, MicrogenError
from microgen.interface import cli
from microgen.kernels import measured, stack
from microgen.options import TOOLCHAINS, Options
from microgen.relay import Function, IRModule
from microgen.target import board as boards
from microgen.target.cpu import CPUS
from tests.support.minimal_project import BUILT_HERE
from tests.support.places import DIGITS, SMALL
from tests.support.tools import NEEDS_ARM, NEEDS_LLVM, NEEDS_NINJA, NEEDS_RISCV

M4 = "mps2_an386"
TABLE = measured.load(measured.STACK_BYTES)
HOW = {
    "c": {},
    "packed": {"interface": "packed"},
    "unpacked": {"interface": "packed", "unpacked_api": True},
    "graph": {"executor": "graph"},
    "shared": {"optimize": "flash"},
    "rows": {"optimize": "ram"},
    "pools": {"pool": ("a:*", "b:*:external"), "optimize": "ram"},
    "planned": {"workspace_io": True},
}
NETWORKS = (
    *("ad01_int8", "kws_ref_model", "pretrainedResnet_quant", "str_ww_ref_model", "vww_96_int8"),
    *("kws_ref_model_float32", "vww_96_float"),
)


def _estimate(model: Path = SMALL, **options: object) -> tuple[manifest.EstimateRecord, int]:
    """The estimate of a firmware for M4, and what it reserves."""
    record = microgen.compile_model(model, M4, **options).manifest
    return record.estimate, record.board["stack_bytes"]


def _firmware() -> list[object]:
    usual = {(M4, "gcc", "c"), (M4, "gcc", "rows"), ("microbit", "gcc", "c")}
    return [
        pytest.param(
            *case,
            id="-".join(case),
            marks=[] if case in usual else [pytest.mark.slow, NEEDS_RISCV, NEEDS_LLVM],
        )
        for board in BUILT_HERE
        for toolchain in TOOLCHAINS
        for how in HOW
        if board != "native" and (board, how) != ("stm32vldiscovery", "graph")  # needs more RAM
        for case in [(board, toolchain, how)]
    ]


def _check(project: Path) -> None:
    """The code takes no more than expected, and at most twice that is reserved for it."""
    microgen.build(project)
    record = manifest.load(project)
    found = verifier.stack_bound(project)
    assert found.problems == ()
    assert found.nbytes <= record.estimate.stack_bound, " -> ".join(found.path)
    assert microgen.verify(project).check("stack").status == "ok"


@pytest.mark.sampled(2)
@NEEDS_NINJA
@NEEDS_ARM
@pytest.mark.parametrize(("board", "toolchain", "how"), _firmware())
def test_firmware_takes_no_more_stack_than_expected(
    board: str, toolchain: str, how: str, tmp_path: Path
) -> None:
    microgen.generate(DIGITS, board, tmp_path / "p", toolchain=toolchain, **HOW[how])
    _check(tmp_path / "p")


@NEEDS_NINJA
@NEEDS_ARM
@NEEDS_RISCV
@NEEDS_LLVM
@pytest.mark.parametrize(
    "board",
    [
        pytest.param(board, marks=() if board == "microbit" else pytest.mark.slow)
        for board in BUILT_HERE
        if board != "native"
    ],
)
def test_llvm_takes_no_more_stack_for_a_small_network(board: str, tmp_path: Path) -> None:
    """LLVM inlines more where a function has few callers."""
    microgen.generate(SMALL, board, tmp_path / "p", toolchain="llvm")
    _check(tmp_path / "p")


@pytest.mark.slow
@NEEDS_NINJA
@NEEDS_ARM
@NEEDS_RISCV
@NEEDS_LLVM
@pytest.mark.parametrize("goal", ["speed", "balanced", "ram", "flash"])
@pytest.mark.parametrize("network", NETWORKS)
@pytest.mark.parametrize("toolchain", TOOLCHAINS)
@pytest.mark.parametrize("board", [b for b in BUILT_HERE if b != "native"])
def test_networks_take_no_more_stack_than_expected(
    board: str, toolchain: str, network: str, goal: str, mlperf_models: Path, tmp_path: Path
) -> None:
    model = mlperf_models / f"{network}.tflite"
    try:
        microgen.generate(model, board, tmp_path / "p", toolchain=toolchain, optimize=goal)
        microgen.build(tmp_path / "p")
    except CapacityError:
        pytest.skip("the board is too small")
    _check(tmp_path / "p")


def _ports() -> list[object]:
    counts = {"packed": (7, 3), "unpacked": (2, 8), "graph": (16, 20)}
    every = [(toolchain, how) for toolchain in TOOLCHAINS for how in HOW]
    return [
        pytest.param(*case, *counts.get(case[1], (30, 4)), id="-".join(case))
        for case in every
        if case[1] not in ("shared", "rows")
    ]


@pytest.mark.sampled(1)
@NEEDS_NINJA
@NEEDS_ARM
@NEEDS_LLVM
@pytest.mark.parametrize(("toolchain", "how", "inputs", "outputs"), _ports())
def test_many_inputs_and_outputs_take_stack(
    toolchain: str, how: str, inputs: int, outputs: int, tmp_path: Path
) -> None:
    """Each takes a pointer or more in three functions. What is expected is close to that: of one
    input and output, and of many, as much too much is reserved."""
    more = []
    for number, counts in enumerate([(1, 1), (inputs, outputs)]):
        project = tmp_path / str(number)
        microgen.generate(_network(*counts), M4, project, toolchain=toolchain, **HOW[how])
        _check(project)
        bound = manifest.load(project).estimate.stack_bound
        more.append(bound - verifier.stack_bound(project).nbytes)
    assert more[1] - more[0] <= 128


def _network(inputs: int, outputs: int) -> IRModule:
    """Sums, each of which reads several inputs."""
    variables = [relay.var(f"x{i}", shape=(8,), dtype="int32") for i in range(inputs)]
    sums = []
    for number in range(outputs):
        terms = [variables[i % inputs] for i in range(number, inputs + outputs + 1, outputs)]
        sums.append(functools.reduce(relay.add, terms))
    body = sums[0] if outputs == 1 else relay.Tuple(sums)
    return IRModule.from_expr(Function(variables, body))


@NEEDS_NINJA
@NEEDS_ARM
@pytest.mark.slow
def test_several_models_take_the_most_of_all(mlperf_models: Path, tmp_path: Path) -> None:
    pairs = [(DIGITS, "digits"), (mlperf_models / "ad01_int8.tflite", "ad")]
    done = microgen.generate_models(pairs, M4, tmp_path / "p", optimize="ram")
    alone = [microgen.compile_model(path, M4, optimize="ram") for path, _ in pairs]
    bounds = [one.manifest.estimate.stack_bound for one in alone]
    assert done.manifest.estimate.stack_bound == max(bounds)
    _check(tmp_path / "p")


def test_what_is_reserved_is_what_is_expected_and_the_margin() -> None:
    usual, reserve = _estimate()
    assert usual.stack_margin == 512
    assert reserve == -(-(usual.stack_bound + 512) // 16) * 16
    small, less = _estimate(stack_margin=100)
    assert (small.stack_bound, small.stack_margin) == (usual.stack_bound, 100)
    assert less == -(-(usual.stack_bound + 100) // 16) * 16
    assert small.ram == usual.ram - reserve + less


def test_an_option_says_what_is_reserved() -> None:
    made = microgen.compile_model(SMALL, M4, stack=4096)
    assert made.manifest.board["stack_bytes"] == 4096
    assert b". += 4096;" in made.files.files[f"boards/{M4}.ld"]
    assert made.doubts == ()
    (doubt,) = microgen.compile_model(SMALL, M4, stack=256).doubts
    bound = made.manifest.estimate.stack_bound
    assert doubt == (
        f"the stack of 256 bytes may be too small: it needs up to {bound:,} and a margin of 512"
    )


def test_a_board_that_names_its_stack_keeps_it() -> None:
    own = replace(boards.load(M4), stack_bytes=3000, has_stack=True)
    made = microgen.compile_model(SMALL, own).manifest
    assert (made.board["stack_bytes"], made.estimate.stack_margin) == (3000, 512)
    assert microgen.compile_model(SMALL, own, stack=1024).manifest.board["stack_bytes"] == 1024


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"stack": 0}, "--stack: 0 bytes is not a stack: expected 256 or more, and a multiple"),
        ({"stack": -16}, "--stack: -16 bytes is not a stack"),
        ({"stack": 240}, "--stack: 240 bytes is not a stack"),
        ({"stack": 1004}, "--stack: 1004 bytes is not a stack"),
        ({"stack_margin": -1}, "--stack-margin: -1 bytes is not a margin: expected 0 or more"),
    ],
    ids=str,
)
def test_what_no_stack_can_be_is_refused(options: dict[str, int], said: str) -> None:
    with pytest.raises(MicrogenError) as error:
        Options(**options)
    assert said in str(error.value)


@pytest.mark.parametrize("options", [{"stack": 8 << 20}, {"stack_margin": 1 << 40}], ids=str)
def test_a_stack_that_is_larger_than_ram_is_refused(options: dict[str, int]) -> None:
    with pytest.raises(CapacityError) as error:
        microgen.compile_model(SMALL, M4, **options)
    assert "largest: stack " in str(error.value)


def test_nothing_is_reserved_on_the_host() -> None:
    record = microgen.compile_model(SMALL, "native").manifest
    sizes = record.estimate
    assert (record.board["stack_bytes"], sizes.stack_bound, sizes.stack_margin) == (0, 0, 0)
    with pytest.raises(BoardError) as error:
        microgen.compile_model(SMALL, "native", stack=1024)
    assert "--stack: native is the host, whose stack is not reserved" in str(error.value)


@NEEDS_NINJA
@NEEDS_ARM
def test_verify_names_the_stack_to_type(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    project = tmp_path / "p"
    microgen.generate(SMALL, M4, project, stack=256)
    microgen.build(project)
    check = microgen.verify(project).check("stack")
    needed = verifier.stack_bound(project).nbytes
    enough = -(-(needed + 512) // 16) * 16
    assert check.status == "failed"
    assert check.found.startswith(
        f"{needed} bytes, with the margin {needed + 512}; "
        f"generate again with --stack {enough}: Reset_Handler"
    )
    assert check.values == {"bound": needed, "margin": 512, "reserve": 256}
    microgen.generate(SMALL, M4, project, force=True, stack=enough)
    microgen.build(project)
    assert microgen.verify(project).check("stack").status == "ok"
    microgen.generate(SMALL, M4, project, force=True, stack=enough - 16)
    assert cli.main(["build", str(project)]) == 0
    capsys.readouterr()
    assert cli.main(["verify", str(project), "--json"]) == 1
    used = json.loads(capsys.readouterr().out)["ram"]
    assert used["stack"] == enough - 16
    assert (used["stack_bound"], used["stack_margin"]) == (needed, 512)


@NEEDS_NINJA
@NEEDS_ARM
def test_no_exception_needs_no_margin(tmp_path: Path) -> None:
    microgen.generate(SMALL, M4, tmp_path / "p", stack_margin=0)
    _check(tmp_path / "p")


@NEEDS_NINJA
@NEEDS_ARM
@pytest.mark.parametrize("nbytes", [64, 65536])
def test_a_manifest_that_says_another_stack_is_noticed(nbytes: int, tmp_path: Path) -> None:
    project = tmp_path / "p"
    microgen.generate(SMALL, M4, project)
    microgen.build(project)
    path = project / "microgen.json"
    data = json.loads(path.read_text(encoding="utf-8"))
    data["board"]["stack_bytes"] = nbytes
    path.write_text(manifest.digested(data), encoding="utf-8")
    failed = {check.name for check in microgen.verify(project).failed}
    assert failed >= ({"stack"} if nbytes == 64 else {"sections_fit"})


def test_a_budget_counts_the_stack() -> None:
    usual, reserve = _estimate(DIGITS, optimize="speed")
    budget = usual.ram_most - reserve // 2
    small, _ = _estimate(DIGITS, optimize="speed", ram=budget)
    assert small.ram_most <= budget


def test_a_large_margin_makes_the_budget_smaller() -> None:
    usual, _ = _estimate()
    _, reserve = _estimate(ram=usual.ram_most)
    with pytest.raises(CapacityError) as error:
        _estimate(ram=usual.ram_most, stack_margin=usual.ram_most)
    assert reserve < usual.ram_most
    assert "the --ram budget is" in str(error.value)


def test_kernels_with_arrays_on_the_stack_are_not_for_ram(mlperf_models: Path) -> None:
    model = mlperf_models / "ad01_int8.tflite"
    fast, small = (
        microgen.compile_model(model, M4, optimize=goal).manifest for goal in ("speed", "ram")
    )
    assert any("stack" in kernel for kernel in fast.kernels)
    assert not any("stack" in kernel for kernel in small.kernels)
    assert small.estimate.ram + 1000 < fast.estimate.ram


@pytest.mark.parametrize("column", TABLE.columns)
def test_every_kernel_of_a_core_is_measured(column: str) -> None:
    core = CPUS[column.partition(" ")[0]]
    every = [kernel for found in kernels.registry().values() for kernel in found]
    stems = {kernel.code.stem for kernel in every if kernel.needs <= core.features}
    missing = stems - TABLE.column(column, "shared").keys()
    assert not missing, "run scripts/measure.py --missing"
    entries = stack.column(core, column.partition(" ")[2])
    names = ("c call", "c other", "packed call", "graph call", "graph other", "handler", "rolled")
    assert [name for name in names if entries.entry(name) == stack.UNKNOWN] == []


def test_a_core_that_is_not_measured_has_the_most_of_the_others() -> None:
    other = CPUS["cortex-m85"]
    assert other.name not in TABLE.cores
    found = stack.column(other, "gcc")
    arm = [TABLE.column(name) for name in TABLE.columns if not name.startswith("rv32")]
    assert found.entry("handler") == max(rows["entry"]["handler"] for rows in arm)
    for stem in ("dense_s8", "softmax_s8"):
        most = max(rows["own"][stem] for rows in arm if stem in rows["own"])
        assert found.kernel(stem, is_shared=False) == most


def test_code_of_which_nothing_is_known_takes_stack() -> None:
    found = stack.MeasuredColumn({"shared": {"known": 100}})
    assert found.kernel("new", is_shared=False) == stack.UNKNOWN
    assert found.kernel("new", is_shared=True) == stack.UNKNOWN
    assert found.kernel("known", is_shared=False) > 100
    assert found.entry("c call") == stack.UNKNOWN
