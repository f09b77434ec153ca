"""Tampers with the runner, with what it calls and passes, and with the notes."""

from __future__ import annotations

from tests.tamper.elf32 import Elf32, Record
from tests.tamper.encodings import call, calls, halves
from tests.tamper.tampers import Table, put

OPERATOR = "tvmgen_default_fused_nn_softmax"  # the last that the plan calls
RUNNER = "tvmgen_default___tvm_main__"
NOTES = ".note.microgen"

TABLE = Table()


# Calls.
def _call_softmax(elf: Elf32, number: int) -> None:
    at = calls(elf, RUNNER)[number]
    elf.put(at, call(elf, at, OPERATOR))


def _succeed(elf: Elf32, number: int) -> None:
    """``movs r0, #0; mov r8, r8`` or ``li a0, 0; nop`` in place of a call."""
    nothing = halves(0x2000, 0x46C0) if elf.is_arm else halves(0x4501, 0x0001)
    elf.put(calls(elf, RUNNER)[number], nothing)


def _return(elf: Elf32, function: str) -> None:
    """``movs r0, #0; bx lr`` or ``li a0, 0; ret``."""
    returned = halves(0x2000, 0x4770) if elf.is_arm else halves(0x4501, 0x8082)
    elf.put(elf.symbol(function)["st_value"] & ~1, returned)


TABLE.rows(
    ("first_call_of_another_operator", "runner", lambda e: _call_softmax(e, 0)),
    ("second_call_of_another_operator", "runner", lambda e: _call_softmax(e, 1)),
    ("third_call_of_another_operator", "runner", lambda e: _call_softmax(e, 2)),
    ("first_call_left_out", "runner", lambda e: _succeed(e, 0)),
    ("second_call_left_out", "runner", lambda e: _succeed(e, 1)),
    ("third_call_left_out", "runner", lambda e: _succeed(e, 2)),
    ("main_returns_at_once", "runner", lambda e: _return(e, "main")),
    ("run_returns_at_once", "runner", lambda e: _return(e, "tvmgen_default_run")),
    ("runner_returns_at_once", "runner", lambda e: _return(e, RUNNER)),
    ("operators_exchanged", "runner", lambda e: _exchange_names(e)),
    ("constants_exchanged_with_symbols", "runner", lambda e: _exchange_constants(e)),
)


def _exchange_names(elf: Elf32) -> None:
    names = [name for name in elf.names("tvmgen_default_fused_") if name != OPERATOR]
    first, second = elf.symbol(names[0]), elf.symbol(OPERATOR)
    first["st_name"], second["st_name"] = second["st_name"], first["st_name"]


def _exchange_constants(elf: Elf32) -> None:
    """Two constants of one size change places, both their symbols and their bytes."""
    first, second = elf.alike_constants()
    places = [record["st_value"] for record in (first, second)]
    data = [elf.get(at, first["st_size"]) for at in places]
    for record, at, new in zip((second, first), places, reversed(data), strict=True):
        elf.put(at, new)
        record["st_value"] = at


# Notes.
def _replace(elf: Elf32, old: bytes, new: bytes) -> None:
    """Change the first note."""
    at = elf.data.index(old, elf.section(NOTES)["sh_offset"])
    assert len(old) == len(new)
    elf.data[at : at + len(old)] = new


def _digest_changed(elf: Elf32, field: bytes) -> None:
    start = elf.data.index(field + b'":"', elf.section(NOTES)["sh_offset"]) + len(field) + 3
    elf.data[start] = ord("1" if elf.data[start] == ord("0") else "0")


def _notes(elf: Elf32) -> Record:
    return elf.section(NOTES)


TABLE.rows(
    ("note_of_another_build", "built_from", lambda e: _digest_changed(e, b"built_from")),
    ("note_of_another_model", "built_from", lambda e: _digest_changed(e, b"model")),
    ("note_of_another_name", "built_from", lambda e: _replace(e, b'"default"', b'"defauld"')),
    ("note_of_other_options", "built_from", lambda e: _replace(e, b'"gcc"', b'"gcd"')),
    ("note_of_another_compiler", "built_from", lambda e: _digest_changed(e, b"compiler")),
    ("note_of_another_owner", "built_from", lambda e: _replace(e, b"FDO\0", b"GNU\0")),
    ("note_without_an_end", "built_from", lambda e: _replace(e, b'"}', b'""')),
    ("notes_lost", "built_from", lambda e: put(_notes(e), type=1)),
    ("notes_cut", "built_from", lambda e: put(_notes(e), size=_notes(e)["sh_size"] // 2)),
)
