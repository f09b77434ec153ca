"""The records of schedules, in a manifest and in files for ``--schedule``, of results that are
computed row by row, and of inputs that are passed row by row."""

from __future__ import annotations

from dataclasses import dataclass

SPECIALISED, SHARED, ASSEMBLED = FORMS = "specialised", "shared", "assembled"
FROM_FILE = "file"  # a goal


@dataclass(frozen=True, slots=True)
class KernelSource:
    """The sources of a kernel of the firmware: its header, as C includes it, and the modules of
    microgen that describe the kernel."""

    kernel: str
    header: str
    modules: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ChoiceRecord:
    """How nodes that follow one another are computed.

    ``computes`` names the results of the nodes in the kernel graph (`microgen partition` prints
    it). ``implementation`` is the kernel's C symbol, or empty if an external code generator
    computes the nodes. ``form`` is "specialised" for a body compiled for the operator's shape, or
    "shared" for the out-of-line form. It is "assembled" for a concatenation whose parts are
    computed in its result's bytes, so that no kernel is called. ``in_place``: the result may take
    the place of an input. If ``rows`` is not 0, the kernel computes ``rows`` rows at a time. Then
    all choices of the function are computed by rows, and the tensors between them never exist
    whole. If ``columns`` is not 0, the nodes are in a patch, which computes ``columns`` columns of
    its result at a time, and ends with the next choice without columns.
    """

    computes: tuple[str, ...]
    implementation: str = ""
    form: str = SPECIALISED
    in_place: bool = True
    rows: int = 0
    columns: int = 0

    def __post_init__(self) -> None:
        # A file for --schedule may be written by hand, so its values are checked where they are
        # read.
        if not self.computes:
            raise ValueError("a choice computes nothing")
        if self.form not in FORMS:
            raise ValueError(f"the form {self.form!r} is none of {', '.join(FORMS)}")
        if self.rows < 0:
            raise ValueError(f"{self.rows} rows at a time make no sense")
        if self.columns < 0:
            raise ValueError(f"{self.columns} columns at a time make no sense")


@dataclass(frozen=True, slots=True)
class FunctionChoices:
    """One function: its code generator, and its choices in execution order."""

    codegen: str
    choices: tuple[ChoiceRecord, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduleRecord:
    """A schedule: ``functions`` in the order of their calls; the other fields describe the search.

    ``goal`` is the goal of ``--optimize``, or "file". ``considered`` counts the schedules that were
    compared. ``ram_bound`` is the certificate: a lower bound of the bytes of workspace, inputs and
    outputs of all schedules of the search, or 0 if it is not known. ``instructions`` and ``cycles``
    of an inference, and ``flash`` in bytes of the operators' code and the constants, are estimates,
    without ``unmeasured`` layers.
    """

    functions: tuple[FunctionChoices, ...]
    goal: str = FROM_FILE
    considered: int = 1
    ram_bound: int = 0
    instructions: int = 0
    cycles: int = 0
    flash: int = 0
    unmeasured: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class FrontOrigin:
    """The origin of a front: the SHA-256 of the model's file, the core, and, as texts, the options
    that can change the set of schedules and do not have their default values."""

    model: str
    core: str
    options: dict[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class PointRecord:
    """A schedule of a front. ``ram`` is its bytes of workspace, inputs and outputs. ``goals`` are
    the values of ``--optimize`` that choose it."""

    ram: int
    goals: tuple[str, ...]
    schedule: ScheduleRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class FrontRecord:
    """The Pareto front of schedules in RAM, cycles and flash, fastest first."""

    origin: FrontOrigin
    points: tuple[PointRecord, ...]


@dataclass(frozen=True, slots=True)
class PatchRecord:
    """How a row of a patch is computed. The ELF symbol ``function``, which is event ``number`` of
    the call's loop, computes ``columns`` columns of the layer in step ``first`` of its own loop and
    then every ``period`` steps, ``count`` times.
    Each time it computes them in ``rows`` rows. The first of these is row ``stride`` times the
    number of the patch's row, less ``above``; rows outside the result are left out."""

    function: str
    number: int
    columns: int
    first: int
    period: int
    count: int
    rows: int
    stride: int
    above: int


@dataclass(frozen=True, slots=True)
class RowsRecord:
    """How a call computes a result row by row: the ELF symbol ``function`` computes ``rows`` rows
    each time, the last time perhaps fewer, and writes them where argument number ``argument``
    points. That happens ``count`` times, in step ``first`` of the call and then every ``period``
    steps. If it ``is_last``, the last time writes the final result, and the times before write
    parts of it. In a ``patch``, it computes some columns of the rows at a time."""

    function: str
    argument: int
    rows: int
    first: int
    period: int
    count: int
    is_last: bool = False
    patch: PatchRecord | None = None


@dataclass(frozen=True, slots=True)
class FeedRecord:
    """How an input is fed: ``rows`` rows of ``nbytes`` bytes at a time, ``count`` times in an
    inference; the last time there may be fewer rows."""

    rows: int
    nbytes: int
    count: int

    def __post_init__(self) -> None:
        if min(self.rows, self.nbytes, self.count) < 1:
            raise ValueError(f"{self.rows} rows of {self.nbytes} bytes are fed {self.count} times")

    def __str__(self) -> str:
        rows = "1 row" if self.rows == 1 else f"{self.rows:,} rows"
        return f"the input is fed {rows} at a time: {self.nbytes:,} bytes, {self.count:,} times"
