"""The public API: each function is a command without its arguments and its printing.

Heavy imports wait until a function needs them: ``generate`` does not pay for the ELF reader, nor
``build`` for the compiler.
"""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar

from microgen.base.errors import RunError, StatusRunError, UsageError, of_machine
from microgen.base.files import OWN_MAIN, check_writable
from microgen.base.formats import arguments
from microgen.base.names import module_names
from microgen.options import Options

if TYPE_CHECKING:
    from microgen.building.builder import BuildResult
    from microgen.compiler.schedule import Front
    from microgen.graph.ir.graph import Array
    from microgen.pipeline import Partitioned, Planned
    from microgen.project.firmware.compiled import Compiled, Firmware
    from microgen.relay import IRModule
    from microgen.running.comparing.verdict import Verdict
    from microgen.running.runner import Cycles, RemoteTarget, RunCosts, Sample
    from microgen.running.runner import JobResult as Ran
    from microgen.running.runner.remote.address import Address
    from microgen.target.board import Board
    from microgen.verifier import VerifyReport


Model: TypeAlias = "str | Path | IRModule"
Project = TypeVar("Project", "Compiled", "Firmware")
Made = TypeVar("Made")


@dataclass(frozen=True, slots=True)
class RunResult:
    """The result of a run. ``outputs`` are by their names in the model, in the model's order; with
    several models by ``<module>.<tensor>``. ``instructions`` are retired per sample, ``per_call``
    for each sample per operator call, model after model, and ``per_module`` per model; None unless
    profiled. ``console`` is the text that the firmware printed. ``stack`` is its painted high-water
    mark in bytes. ``verdicts`` are the comparison's, empty unless compared. ``checks`` is verify's
    report, in which the stack bound was compared with the high-water mark. ``modelled``,
    ``cycles`` and ``inside`` are as in ``JobResult``, None unless known. ``left_out``: the
    samples of a comparison's own for which the network has no results."""

    outputs: dict[str, Array]
    instructions: tuple[int, ...] | None
    per_call: tuple[tuple[int, ...], ...] | None
    console: str
    samples: int
    stack: int
    checks: VerifyReport
    per_module: tuple[tuple[int, ...], ...] | None = None
    verdicts: tuple[Verdict, ...] = ()
    modelled: RunCosts | None = None
    cycles: Cycles | None = None
    left_out: int = 0
    inside: tuple[Sample, ...] = ()


@contextlib.contextmanager
def _file(model: Model, options: Options) -> Iterator[Path]:
    """The path of the model's file. For a module it is a temporary file with its text."""
    if isinstance(model, str | Path):
        yield Path(model)
        return
    from microgen import relay

    if not isinstance(model, relay.IRModule):
        raise UsageError(
            f"is a {type(model).__name__}, expected the path of a file or a module of Relay",
            where="model",
        )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"{options.name}.relay"
        relay.save(model, path)
        yield path


def _of_model(
    stage: Callable[[Path, Board, Options], Made],
    model: Model,
    board: str | Path | Board,
    options: Mapping[str, Any],
) -> Made:
    """The result of a ``stage`` of the pipeline for one model."""
    from microgen.pipeline import load_board

    checked = Options.of(options)
    with _file(model, checked) as path:
        return stage(path, load_board(board), checked)


@of_machine()
def compile_model(model: Model, board: str | Path | Board, **options: Any) -> Compiled:
    """Compile a model for a board, in memory: ``.graph``, ``.program``, ``.plan``, ``.files``.

    ``model`` is a file's path, or a module of Relay, which the project keeps as text. ``board`` is
    the name of a board that is installed or in ``MICROGEN_BOARDS``, or the path of its folder.
    ``options`` are the fields of ``microgen.options.Options``. Raises MicrogenError.
    """
    from microgen import pipeline

    return _of_model(pipeline.compile_model, model, board, options)


@of_machine()
def generate(
    model: Model,
    board: str | Path | Board,
    output: str | Path,
    *,
    force: bool = False,
    **options: Any,
) -> Compiled:
    """Compile a model and write the project to ``output``, completely or not at all.

    Raises ProjectError if ``output`` has files that microgen did not generate, unless ``force``.
    """
    return _written(output, force, lambda: compile_model(model, board, **options))


@of_machine()
def compile_models(
    models: Sequence[tuple[Model, str] | Model],
    board: str | Path | Board,
    *,
    shared_workspace: bool = False,
    **options: Any,
) -> Firmware:
    """Compile several models into one firmware, in memory.

    ``models`` are (model, name) pairs, or only files, whose names the modules then get. With
    ``shared_workspace`` all models' workspaces share one memory, because models run one after the
    other; models that keep a state have memory of their own. ``options`` apply to all. Raises
    MicrogenError, also for names that clash.
    """
    from microgen import pipeline

    pairs = arguments.pairs(models)
    paths = [Path(model) if isinstance(model, str | Path) else Path() for model, _ in pairs]
    names = module_names.given([name for _, name in pairs], paths)
    if "name" in options:
        raise UsageError("is given with each model, as a pair (model, name)", where="--name")
    chosen = [Options.of({"name": name, **options}) for name in names]
    with contextlib.ExitStack() as opened:
        files = [
            (opened.enter_context(_file(model, own)), own)
            for (model, _), own in zip(pairs, chosen, strict=True)
        ]
        target = pipeline.load_board(board)
        return pipeline.compile_models(files, target, shared_workspace=shared_workspace)


@of_machine()
def generate_models(
    models: Sequence[tuple[Model, str] | Model],
    board: str | Path | Board,
    output: str | Path,
    *,
    force: bool = False,
    **options: Any,
) -> Firmware:
    """Compile several models into one firmware and write its project. ``options`` are as in
    ``compile_models``. Raises as ``generate`` does."""
    return _written(output, force, lambda: compile_models(models, board, **options))


def _written(output: str | Path, force: bool, made: Callable[[], Project]) -> Project:
    """The project that ``made`` returns, after its files are written to ``output``."""
    place = arguments.output(output, force=force)
    # Before the models are compiled, which takes long.
    check_writable(place, force=force)
    project = made()
    project.files.write_to(place, force=force)
    return project


@of_machine()
def plan(model: Model, board: str | Path | Board, **options: Any) -> Planned:
    """The program of a model, its memory plan and its schedule, whether or not the board can hold
    it."""
    from microgen import pipeline

    return _of_model(pipeline.plan_model, model, board, options)


@of_machine()
def explore(model: Model, board: str | Path | Board, **options: Any) -> Front:
    """The Pareto front of a model's schedules in RAM, cycles and flash, by the measured costs of
    implementations. ``options`` are as in ``compile_model``; ``optimize`` has no effect."""
    from microgen import pipeline

    return _of_model(pipeline.explored, model, board, options)


@of_machine()
def partition(model: Model, board: str | Path | Board, **options: Any) -> Partitioned:
    """The assignment of nodes to code generators: ``.partition``, and for Relay also
    ``.module``."""
    from microgen import pipeline

    return _of_model(pipeline.partitioned, model, board, options)


@of_machine()
def export(project: str | Path, output: str | Path, form: str = "", *, force: bool = False) -> int:
    """Write a project's models for other firmware to ``output``; return the size in bytes.

    ``form`` is one of ``microgen.project.exporting.FORMS``, such as "arduino"; without one
    ``output`` is a Model Library Format archive. Some forms are folders, which must be empty or of
    an earlier export, unless ``force``. Equal projects give equal bytes. Raises ProjectError if a
    file is not
    as it was generated, if the form cannot hold the project, or if ``output`` cannot be written.
    """
    from microgen.project import exporting
    from microgen.tvm.mlf import export as archive

    folder, place = arguments.path("project", project), arguments.output(output, force=force)
    if form:
        return exporting.write(folder, form, place, force=force)
    return archive.export(folder, place)


@of_machine()
def build(project: str | Path, *, sanitize: bool = False) -> BuildResult:
    """Compile a project. The firmware reserves more stack than was expected if its code takes
    more. Raises BuildError, CapacityError or ToolError."""
    from microgen.verifier.again import fitted_stack

    return fitted_stack.built(arguments.path("project", project), sanitize=sanitize)


@of_machine()
def verify(project: str | Path, **options: Any) -> VerifyReport:
    """Check a project's ELF; ``options`` are as in ``microgen.verifier.verify``.

    If the project has no ELF yet, and the caller names none, the project is built first. An
    existing ELF is checked unchanged.
    """
    from microgen import verifier
    from microgen.building import builder

    folder = arguments.path("project", project)
    options = arguments.of_function(verifier.verify, options)
    if options.get("elf") is None and not builder.is_built(folder):
        build(folder)
    return verifier.verify(folder, **options)


@of_machine()
def run(
    project: str | Path,
    inputs: Mapping[str, Array] | None = None,
    *,
    profile: bool = False,
    compare: bool = False,
    sanitize: bool = False,
    timeout: float = 60.0,
    on: str = "",
    scope: Literal["project", "model"] = "project",
    quantize_inputs: bool = False,
    dequantize_outputs: bool = False,
) -> RunResult:
    """Build if necessary, verify, then run the firmware on samples. A build is necessary if there
    is no ELF, if the ELF is older than a file, or if its notes are not the project's.

    ``inputs`` has an array for each input, in names and shapes as docs/guides/samples.md says.
    Without it one sample of zeros runs, but a comparison then uses samples of its own. With
    ``quantize_inputs`` floats for quantized inputs are quantized. Then, or with
    ``dequantize_outputs``, quantized outputs are float32. ``sanitize`` (native only) runs a build
    with ASan and UBSan. ``timeout`` is in seconds without a finished sample. ``on`` names a
    debugger's server whose core runs the firmware (``microgen.running.runner.remote.address``); it
    counts cycles instead of instructions. With ``scope`` "model" main may be another than the
    project's (``microgen.running.comparing.other_main``). Raises UsageError for a wrong option,
    InputError for wrong samples, RunError if a check fails or nothing here runs the board."""
    from microgen.running.comparing import own_data
    from microgen.running.runner.remote import place

    project, real = arguments.path("project", project), quantize_inputs or dequantize_outputs
    _check_run(inputs, timeout, scope)
    where, chooses = place.checked(project, on), compare and scope == "project"
    data = own_data.of(project, inputs, chooses=chooses, quantize=quantize_inputs, dequantize=real)
    elf, runs = _up_to_date(project, sanitize), _run_model if scope == "model" else _run_project
    once = partial(runs, project, elf=elf, where=where, profile=profile, compare=compare)
    data, ran = own_data.run(project, data, partial(once, timeout=timeout))
    return replace(ran, outputs=data.returned(ran.outputs), left_out=data.left_out)


def _check_run(inputs: object, timeout: object, scope: str) -> None:
    if not (isinstance(timeout, int | float) and timeout > 0):  # NaN is not, either
        raise UsageError(f"is {timeout}, expected more than 0 seconds", where="--timeout")
    arguments.check_arrays(inputs)
    if scope not in ("project", "model"):
        raise UsageError(f"is {scope!r}, expected project or model", where="--scope")


def _run_project(
    project: Path,
    inputs: Mapping[str, Array] | None,
    elf: Path,
    where: Address | None,
    timeout: float,
    **asked: bool,
) -> RunResult:
    """Run the project's own main."""
    from microgen import verifier
    from microgen.running.runner.remote import place

    checks = _sound(project, verify(project, elf=elf, scope="project"))
    with place.opened(where, elf, timeout) as target:
        ran = _ran(project, inputs, elf, target, profile=asked["profile"], timeout=timeout)
        if ran.stack:  # the proven bound must hold in the run, too; the host paints none
            checks = _sound(project, verifier.with_painted_stack(checks, ran.stack))
        verdicts = _compared(project, inputs, ran, elf, target) if asked["compare"] else ()
    return replace(_result(ran, checks), verdicts=verdicts)


def _run_model(
    project: Path,
    inputs: Mapping[str, Array] | None,
    elf: Path,
    where: Address | None,
    timeout: float,
    **asked: bool,
) -> RunResult:
    """Run a firmware whose main may be another than the project's."""
    from microgen.running.comparing import other_main

    other_main.check(inputs, elf, where, **asked)
    checks = _sound(project, verify(project, elf=elf, scope="model"))
    ran, verdicts = other_main.run(project, inputs, elf, where, **asked, timeout=timeout)
    return replace(_result(ran, checks), verdicts=verdicts)


def _up_to_date(project: Path, sanitize: bool) -> Path:
    """The project's ELF, built if necessary."""
    from microgen.building import builder
    from microgen.verifier.again import built_from, fitted_stack

    elf = builder.up_to_date(project, sanitize=sanitize)
    if elf and built_from.is_of(project, elf):
        return elf
    return fitted_stack.built(project, sanitize=sanitize, anew=elf is not None).elf


def _ran(
    project: Path,
    inputs: Mapping[str, Array] | None,
    elf: Path,
    target: RemoteTarget | None,
    **options: Any,
) -> Ran:
    """The result of a run. If a model returns a status, the error explains its cause."""
    from microgen.running import runner

    try:
        return runner.run(project, inputs, elf=elf, target=target, **options)
    except StatusRunError as error:
        from microgen.running.comparing import blame

        raise blame.explained(error, project, inputs, elf, target) from error


def _sound(project: Path, report: VerifyReport) -> VerifyReport:
    """The report. Raises RunError if a check failed."""
    if report.ok:
        return report
    failed = "; ".join(f"{c.name}: expected {c.expected}, found {c.found}" for c in report.failed)
    hint = f"see `microgen verify {project}`"
    if report.scope == "project" and f"{OWN_MAIN} has changed" in failed:
        hint += f"; if {OWN_MAIN} was replaced on purpose, add --scope model"
    raise RunError(f"the firmware is not what was planned: {failed}", where=str(project), hint=hint)


def _result(ran: Ran, checks: VerifyReport) -> RunResult:
    # All fields but the checks and verdicts, which the run itself does not have.
    own = [f.name for f in fields(RunResult) if hasattr(ran, f.name)]
    return RunResult(**{name: getattr(ran, name) for name in own}, checks=checks)


def _compared(
    project: Path,
    inputs: Mapping[str, Array] | None,
    ran: Ran,
    elf: Path,
    target: RemoteTarget | None,
) -> tuple[Verdict, ...]:
    from microgen.running.comparing import compare

    assert inputs is not None, "a comparison without samples has chosen some"
    return compare.compare(project, inputs, ran.outputs, elf, target)
