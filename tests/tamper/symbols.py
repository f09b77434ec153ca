"""Tampers with buffers, constants, functions, and other symbols."""

from __future__ import annotations

from tests.tamper.elf32 import (
    SHN_ABS,
    STB_GLOBAL,
    STB_LOCAL,
    STB_WEAK,
    STT_FUNC,
    STT_NOTYPE,
    STT_OBJECT,
    Elf32,
    Record,
)
from tests.tamper.tampers import Table, add, put

ARENA = "tvmgen_default_global_workspace"
RUN = "tvmgen_default_run"
OPERATOR = "tvmgen_default_fused_nn_softmax"
MEMORY_FILE = "default_memory.S"

# Of the tampers with planned buffers, those that need no name of a file.
STILL_FOUND_AFTER_STRIP = (
    *("extra_sid", "extra_global_sid", "extra_sid_in_bss", "extra_scratch", "sid_twice"),
    *("sid_moved", "sid_longer", "sid_function", "sid_global", "sid_in_bss", "sid_gone"),
)

TABLE = Table()


def _input_buffer(elf: Elf32) -> str:
    return elf.names("image_buffer")[0]


# Planned buffers and their arena.
def _extra_sid(elf: Elf32, name: str = "sid_99", **options: int | str) -> None:
    elf.add_symbol(name, elf.names("sid_")[0], **options)  # type: ignore[arg-type]


def _first_sid(elf: Elf32) -> Record:
    return elf.symbol(elf.names("sid_")[0])


TABLE.rows(
    ("extra_sid", "sids", lambda e: _extra_sid(e)),
    ("extra_sid_under_main", "sids", lambda e: _extra_sid(e, file="main.c")),
    ("extra_global_sid", "sids", lambda e: _extra_sid(e, binding=STB_GLOBAL)),
    ("extra_sid_in_bss", "sids", lambda e: _extra_sid(e, shndx=e.section_index(".bss"))),
    ("extra_absolute_sid", "sids", lambda e: _extra_sid(e, file="main.c", shndx=SHN_ABS)),
    ("extra_scratch", "sids", lambda e: _extra_sid(e, "scratch_77")),
    ("extra_scratch_under_main", "sids", lambda e: _extra_sid(e, "scratch_77", file="main.c")),
    ("sid_twice", "sids", lambda e: _extra_sid(e, e.names("sid_")[0])),
    ("sid_twice_under_main", "sids", lambda e: _extra_sid(e, e.names("sid_")[0], file="main.c")),
    ("sid_moved", "sids", lambda e: add(_first_sid(e), value=16)),
    ("sid_longer", "sids", lambda e: add(_first_sid(e), size=16)),
    ("sid_shorter", "sids", lambda e: add(_first_sid(e), size=-1)),
    ("sid_function", "sids", lambda e: e.set_kind(e.names("sid_")[0], kind=STT_FUNC)),
    ("sid_global", "sids", lambda e: e.set_kind(e.names("sid_")[0], binding=STB_GLOBAL)),
    ("sid_in_bss", "sids", lambda e: put(_first_sid(e), shndx=e.section_index(".bss"))),
    ("sid_gone", "sids", lambda e: e.rename(e.names("sid_")[0], "other")),
    ("sid_renamed", "sids", lambda e: e.rename(e.names("sid_")[0], "sid_98")),
    ("sids_under_another_file", "sids", lambda e: e.rename(MEMORY_FILE, "other.s")),
    ("arena_moved", "sids", lambda e: add(e.symbol(ARENA), value=16)),
    ("arena_misaligned", "arena", lambda e: add(e.symbol(ARENA), value=4)),
    ("arena_object_longer", "arena", lambda e: add(e.symbol(ARENA), size=16)),
    ("arena_object_shorter", "arena", lambda e: add(e.symbol(ARENA), size=-16)),
    ("arena_gone", "arena", lambda e: e.rename(ARENA, "other")),
    ("arena_twice", "arena", lambda e: e.add_symbol(ARENA, ARENA)),
    ("arena_function", "arena", lambda e: e.set_kind(ARENA, kind=STT_FUNC)),
    ("arena_in_bss", "arena", lambda e: put(e.symbol(ARENA), shndx=e.section_index(".bss"))),
    ("arena_in_the_stack", "arena", lambda e: _into_stack(e, ARENA)),
    ("object_in_the_arena", "layout", lambda e: e.add_symbol("other", ARENA)),
    ("buffer_in_the_stack", "layout", lambda e: _into_stack(e, _input_buffer(e))),
)


def _into_stack(elf: Elf32, name: str) -> None:
    section = elf.section(".stack")
    put(elf.symbol(name), value=section["sh_addr"] + 64, shndx=elf.section_index(".stack"))


@TABLE.caught_by("layout")
def arena_and_buffers_moved(elf: Elf32) -> None:
    for name in (ARENA, *elf.names("sid_")):
        add(elf.symbol(name), value=0x100000)


# Constants.
def _largest(elf: Elf32) -> Record:
    return elf.symbol(elf.constants()[0])


def _flip(elf: Elf32, position: int) -> None:
    symbol = _largest(elf)
    address = symbol["st_value"] + position % symbol["st_size"]
    elf.put(address, bytes([elf.get(address, 1)[0] ^ 0x80]))


def _exchange(elf: Elf32, *, symbols: bool) -> None:
    """Two constants of one size change places, either their symbols or their bytes."""
    a, b = elf.alike_constants()
    first, second = a["st_value"], b["st_value"]
    if symbols:
        a["st_value"], b["st_value"] = second, first
    else:
        bytes_of = [elf.get(at, a["st_size"]) for at in (first, second)]
        elf.put(first, bytes_of[1])
        elf.put(second, bytes_of[0])


TABLE.rows(
    ("first_byte", "constants_bytes", lambda e: _flip(e, 0)),
    ("last_byte", "constants_bytes", lambda e: _flip(e, -1)),
    ("byte_in_the_middle", "constants_bytes", lambda e: _flip(e, 100)),
    ("constants_symbols_exchanged", "constants_bytes", lambda e: _exchange(e, symbols=True)),
    ("constants_bytes_exchanged", "constants_bytes", lambda e: _exchange(e, symbols=False)),
    ("constant_moved", "constants_bytes", lambda e: add(_largest(e), value=4)),
    ("constant_misaligned", "constants_section", lambda e: add(_largest(e), value=1)),
    ("constant_shorter", "constants_section", lambda e: add(_largest(e), size=-1)),
    ("constant_longer", "constants_section", lambda e: add(_largest(e), size=64)),
    (
        *("constant_without_type", "constants_section"),
        lambda e: e.set_kind(e.constants()[0], kind=STT_NOTYPE),
    ),
    ("constant_gone", "constants_section", lambda e: e.rename(e.constants()[0], "other")),
    (
        *("constant_twice", "constants_section"),
        lambda e: e.add_symbol(e.constants()[0], e.constants()[0]),
    ),
    ("constant_unplanned", "layout", lambda e: e.rename(e.constants()[0], "other")),
    (
        *("constant_in_rodata", "constants_section"),
        lambda e: put(_largest(e), shndx=e.section_index(".rodata")),
    ),
    (
        *("constant_in_ram", "constants_section"),
        lambda e: put(_largest(e), value=e.section(".bss")["sh_addr"]),
    ),
    (
        *("constants_zeroed", "constants_bytes"),
        lambda e: e.put(_largest(e)["st_value"], bytes(_largest(e)["st_size"])),
    ),
    ("hidden_object", "layout", lambda e: e.add_symbol("other", e.constants()[-1], size=1)),
    (
        *("local_hidden_object", "layout"),
        lambda e: e.add_symbol("other", e.constants()[-1], binding=STB_LOCAL, file="main.c"),
    ),
)


# Functions and other symbols.
TABLE.rows(
    ("run_gone", "run_symbol", lambda e: e.rename(RUN, "other")),
    ("run_twice", "run_symbol", lambda e: e.add_symbol(RUN, RUN)),
    ("run_local", "run_symbol", lambda e: e.set_kind(RUN, binding=STB_LOCAL)),
    ("run_weak", "run_symbol", lambda e: e.set_kind(RUN, binding=STB_WEAK)),
    ("run_object", "run_symbol", lambda e: e.set_kind(RUN, kind=STT_OBJECT)),
    (
        *("run_in_rodata", "run_symbol"),
        lambda e: put(e.symbol(RUN), value=e.section(".rodata")["sh_addr"]),
    ),
    ("run_of_another_section", "layout", lambda e: put(e.symbol(RUN), shndx=1)),
    ("run_absolute", "layout", lambda e: put(e.symbol(RUN), shndx=SHN_ABS)),
    ("run_past_its_section", "layout", lambda e: add(e.symbol(RUN), size=1 << 20)),
    ("operator_gone", "operators", lambda e: e.rename(OPERATOR, "other")),
    ("operator_twice", "operators", lambda e: e.add_symbol(OPERATOR, OPERATOR)),
    ("operator_object", "operators", lambda e: e.set_kind(OPERATOR, kind=STT_OBJECT)),
    (
        *("operator_in_ram", "operators"),
        lambda e: put(e.symbol(OPERATOR), value=e.section(".bss")["sh_addr"]),
    ),
    ("operator_outside", "layout", lambda e: add(e.symbol(OPERATOR), value=0x10000)),
    ("operator_unknown", "kernels", lambda e: e.add_symbol(f"{OPERATOR}_2", OPERATOR)),
    ("kernel_unknown", "kernels", lambda e: e.add_symbol("mg_tanh_s8", OPERATOR)),
    ("malloc", "heap", lambda e: e.add_symbol("malloc", OPERATOR)),
    ("strlen", "libc", lambda e: e.add_symbol("strlen", OPERATOR)),
    ("soft_double", "soft_float", lambda e: e.add_symbol("__adddf3", OPERATOR)),
    ("buffers_overlap", "layout", lambda e: _onto(e, _input_buffer(e), "output_buffer")),
    ("buffer_too_long", "layout", lambda e: add(e.symbol("output_buffer"), size=8192)),
    ("bss_end_lower", "layout", lambda e: add(e.symbol("__bss_end"), value=-16)),
    ("bss_start_higher", "layout", lambda e: add(e.symbol("__bss_start"), value=16)),
    ("data_end_higher", "layout", lambda e: add(e.symbol("__data_end"), value=64)),
    ("data_copied_from_elsewhere", "layout", lambda e: add(e.symbol("__data_load"), value=-4)),
    ("stack_limit_higher", "layout", lambda e: add(e.symbol("__stack_limit"), value=64)),
)


def _onto(elf: Elf32, name: str, other: str) -> None:
    elf.symbol(name)["st_value"] = elf.symbol(other)["st_value"]
