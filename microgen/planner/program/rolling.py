"""A primitive function that computes rows in steps: its events, its buffers, and its input if the
caller feeds a few rows at a time."""

from __future__ import annotations

from dataclasses import dataclass

from microgen.planner.program.kernel_call import Inner, KernelCall, Parameter


@dataclass(frozen=True, slots=True)
class Feed:
    """The caller feeds ``rows`` rows of the model's input at a time, of ``row_bytes`` bytes each,
    until it has fed all ``height`` rows of an inference; the last time there may be fewer. Each
    time, the function that reads them computes ``steps`` more steps, and the last time all that are
    left.
    """

    rows: int
    height: int
    row_bytes: int
    steps: int

    @property
    def count(self) -> int:
        """The number of times that rows are fed in an inference."""
        # Rounded up: the last rows may be fewer.
        return -(-self.height // self.rows)

    @property
    def nbytes(self) -> int:
        """Bytes of the rows that are fed at a time."""
        return self.rows * self.row_bytes

    @property
    def last_step(self) -> int:
        """The first step that the function computes when it is called for the last time."""
        return (self.count - 1) * self.steps


@dataclass(frozen=True, slots=True)
class When:
    """The steps of an event: ``count`` of them, the first is ``first``, and each is ``period``
    after the one before."""

    first: int
    period: int
    count: int

    @property
    def end(self) -> int:
        """The step after the last."""
        return self.first + (self.count - 1) * self.period + 1


@dataclass(frozen=True, slots=True)
class Rows:
    """A pointer into a whole tensor: it begins at the function's ``parameter``, and moves by
    ``stride`` elements each time."""

    parameter: str
    stride: int


@dataclass(frozen=True, slots=True)
class BufferedRows:
    """A pointer into the line buffer of ``tensor``, ``start`` bytes from its first row, of C
    elements."""

    tensor: str
    start: int
    ctype: str


@dataclass(frozen=True, slots=True)
class KernelPart:
    """A kernel in a C function of its own, so that debuggers and profilers see each layer. Equal
    parts are emitted once, so ``name`` is empty until lowering has compared them.

    ``words`` make the name. ``args`` are in the order of ``parameters``: the name of a parameter of
    the primitive function, the part's own scratch, rows in a buffer, or rows of a whole tensor.
    A ``patch`` has a loop over columns, with parts of its own, instead of the kernel. Its function
    gets the number of the row as its last argument.
    """

    words: tuple[str, ...]
    parameters: tuple[Parameter, ...]
    kernel: KernelCall | None
    args: tuple[str | Inner | BufferedRows | Rows, ...]
    name: str = ""
    patch: PatchLoop | None = None

    @property
    def leaves(self) -> tuple[KernelPart, ...]:
        """The part itself, or the parts of its patch."""
        return tuple(one.part for one in self.patch.parts) if self.patch else (self,)


@dataclass(frozen=True, slots=True)
class Columns:
    """A pointer to columns of a row of a patch's data or result: it begins at the function's
    ``parameter``, and moves by ``stride`` elements each time."""

    parameter: str
    stride: int


@dataclass(frozen=True, slots=True)
class PatchPart:
    """A part that computes columns of ``tensor`` in some steps of a patch's loop. ``args`` are in
    the order of the part's parameters: the name of a parameter of the patch's function, a place in
    its scratch, or columns of its data or its result."""

    when: When
    part: KernelPart
    args: tuple[str | Inner | Columns, ...]
    tensor: str
    columns: int


@dataclass(frozen=True, slots=True)
class WideColumns:
    """The buffer of a patch's wide tensor, ``offset`` bytes into the patch's scratch: some rows of
    ``nbytes`` bytes, the last ``new`` of which are new columns each time. Before step ``end`` they
    are read. ``fill`` is the byte of the padding."""

    offset: int
    nbytes: int
    new: int
    end: int
    fill: int


@dataclass(frozen=True, slots=True)
class CopiedColumns:
    """The buffer of columns of a patch's data, ``offset`` bytes into the patch's scratch: ``rows``
    rows of ``nbytes`` bytes, which get ``new`` bytes at a time, ``stride`` elements after those of
    the time before. Before step ``end`` they are read. ``fill`` is the byte of the padding. For
    each row of the wide tensor, its layer reads from ``between`` bytes further on."""

    when: When
    offset: int
    rows: int
    nbytes: int
    new: int
    stride: int
    end: int
    fill: int
    between: int


@dataclass(frozen=True, slots=True)
class PatchLoop:
    """A function that computes a row of a result, some columns in each of its ``steps``, from
    ``rows`` rows of a wide tensor. The first of them is row ``stride`` times the number of the row,
    less ``above``; the wide tensor has ``height`` rows, and rows outside are padding. ``count``
    rows are computed. The first of the ``parts`` computes the wide tensor, once for each row, from
    rows of the data of ``pitch`` elements each, or from columns that were ``copied`` from them.
    """

    steps: int
    count: int
    rows: int
    stride: int
    above: int
    height: int
    pitch: int
    wide: WideColumns
    parts: tuple[PatchPart, ...]
    copied: CopiedColumns | None = None


@dataclass(frozen=True, slots=True)
class RowCopy:
    """A copy of ``nbytes`` bytes of a whole tensor into a line buffer."""

    rows: Rows
    nbytes: int


@dataclass(frozen=True, slots=True)
class LineBuffer:
    """The last ``rows`` rows of a tensor, ``nbytes`` bytes ``offset`` bytes into the scratch.

    Each time it gets ``new`` bytes at its end, for which the others move up. After the last time
    they still move, before step ``end``. Its first contents, the new bytes after the last time,
    and the last ``surplus`` bytes of the last time are padding. Each byte of padding is ``fill``,
    which is None if no padding is read."""

    offset: int
    rows: int
    nbytes: int
    new: int
    end: int
    surplus: int
    fill: int | None


@dataclass(frozen=True, slots=True)
class ScratchPlace:
    """``nbytes`` bytes, ``offset`` bytes into the scratch, for the line buffer of ``tensor``, or
    for the kernel that computes it if it ``is_own``. In each step they are live from part ``first``
    to part ``last``. If the place ``is_kept``, they are live in all steps, and between them.
    """

    tensor: str
    is_own: bool
    offset: int
    nbytes: int
    first: int
    last: int
    is_kept: bool


@dataclass(frozen=True, slots=True)
class Event:
    """The computation or the copy of rows in some steps. The rows go into the ``buffer``; without
    one they are the function's output. ``tensor`` is their name, for comments. ``height`` is the
    number of rows at a time; 0 if they are added to the output, which has no rows."""

    when: When
    rows: KernelPart | RowCopy
    buffer: LineBuffer | None
    tensor: str
    height: int


@dataclass(frozen=True, slots=True)
class Rolling:
    """The ``events`` of each of the ``steps``, in order. Before the first, bytes of the scratch may
    be ``cleared``: the offset and the number of bytes. With a ``feed`` each call of the function
    computes only the steps for which it has got rows. ``places`` are the contents of the scratch.
    """

    steps: int
    events: tuple[Event, ...]
    places: tuple[ScratchPlace, ...]
    cleared: tuple[int, int] | None = None
    feed: Feed | None = None

    @property
    def parts(self) -> tuple[KernelPart, ...]:
        """The parts with kernels, in order: those of a patch instead of the patch."""
        parts = (event.rows for event in self.events if isinstance(event.rows, KernelPart))
        return tuple(leaf for part in parts for leaf in part.leaves)

    @property
    def patches(self) -> tuple[KernelPart, ...]:
        """The parts that are patches, in order."""
        parts = (event.rows for event in self.events if isinstance(event.rows, KernelPart))
        return tuple(part for part in parts if part.patch)

    @property
    def kernels(self) -> tuple[KernelCall, ...]:
        """The kernels of the parts, in order."""
        return tuple(part.kernel for part in self.parts if part.kernel)
