"""The layers that one call of a primitive function computes, and where it leaves their results."""

from __future__ import annotations

from dataclasses import dataclass

from microgen.graph.ir.graph import ArrayType, Origin


@dataclass(frozen=True, slots=True)
class Output:
    """A result that is the call's output number ``index``, counted from 0."""

    index: int = 0


@dataclass(frozen=True, slots=True)
class InnerBuffer:
    """A result in the call's scratch, ``offset`` bytes from its start. ``overwritten_by``: the
    layer, as people read it, that uses its bytes before the function returns; empty if they are
    left alone."""

    offset: int
    overwritten_by: str = ""


@dataclass(frozen=True, slots=True)
class Around:
    """A result whose last part is the call's output number ``index``. It begins ``before`` bytes
    before that output; other calls have computed its other parts."""

    index: int
    before: int


@dataclass(frozen=True, slots=True)
class NotStored:
    """A result that is not in memory when the function returns, or whose place is not known.
    ``why`` is a clause for reports, for example "mg_x computes it together with the next layer"."""

    why: str


@dataclass(frozen=True, slots=True)
class InRows:
    """A result that part number ``part`` of the call computes, ``rows`` rows at a time. If it
    ``is_last``, only the rows of the last time are the result. In a patch, it computes a few
    columns of a row at a time."""

    part: int
    rows: int
    is_last: bool = False


@dataclass(frozen=True, slots=True)
class InRound:
    """A result that the operator's inner call number ``call`` leaves in output number ``index``,
    once in each round of the loops around it. ``loops`` has the number and the rounds of each of
    these, the outermost first. ``why`` is empty, or a clause that says why the result is not read
    there."""

    call: int
    index: int
    loops: tuple[tuple[int, int], ...]
    why: str = ""


Place = Output | Around | InnerBuffer | InRows | InRound | NotStored


@dataclass(frozen=True, slots=True)
class Step:
    """One layer of a primitive function.

    ``tensor`` is the model's name of its result, ``kernel`` the code that computes it (several
    steps have the same if it computes them together), ``reason`` why it was chosen and ``refusals``
    why better ones were not. ``summary`` has the types of the data that it reads and writes:
    ``int8[1,8] -> int8[1,4]``.
    """

    op: str
    origin: Origin
    tensor: str
    tensor_type: ArrayType
    summary: str
    kernel: str
    reason: str
    refusals: tuple[str, ...] = ()
    place: Place = Output()

    @property
    def unseen(self) -> str:
        """Why the result is not in memory when the function returns; empty if it is."""
        match self.place:
            case NotStored(why) | InRound(why=why):
                return why
            case InnerBuffer(_, layer) if layer:
                return f'layer "{layer}" overwrites it in the same function'
        return ""
