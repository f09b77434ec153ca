"""Ways to tamper with a firmware, and for each the check that has to notice it.

To add one, write a function that changes an ``Elf32``, and put ``@caught_by`` with the name of a
check in front of it. If its name begins with ``arm_`` or ``riscv_``, it is for these cores only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tests.tamper.elf32 import (
    PF_R,
    PF_W,
    PF_X,
    PT_NULL,
    SHF_ALLOC,
    SHF_EXECINSTR,
    SHF_WRITE,
    SHN_ABS,
    SHT_NOBITS,
    SHT_PROGBITS,
    STB_GLOBAL,
    STB_LOCAL,
    STB_WEAK,
    STT_FUNC,
    STT_NOTYPE,
    STT_OBJECT,
    Elf32,
    Record,
)

ARENA = "tvmgen_default_global_workspace"
RUN = "tvmgen_default_run"
OPERATOR = "tvmgen_default_fused_nn_softmax"
MEMORY_FILE = "default_memory.S"

# Of the tampers with planned buffers, those that need no name of a file.
STILL_FOUND_AFTER_STRIP = (
    *("extra_sid", "extra_global_sid", "extra_sid_in_bss", "extra_scratch", "sid_twice"),
    *("sid_moved", "sid_longer", "sid_function", "sid_global", "sid_in_bss", "sid_gone"),
)


@dataclass(frozen=True)
class Tamper:
    """A way to change an ELF file. At least one of ``checks`` has to fail."""

    name: str
    checks: tuple[str, ...]
    apply: Callable[[Elf32], None]

    def boards(self, names: Sequence[str]) -> list[str]:
        """Those of the boards whose cores it is for."""
        is_of = {"arm_": lambda name: "riscv" not in name, "riscv_": lambda name: "riscv" in name}
        only = next((is_of[prefix] for prefix in is_of if self.name.startswith(prefix)), None)
        return [name for name in names if only is None or only(name)]


TAMPERS: list[Tamper] = []


def caught_by(*checks: str) -> Callable[[Callable[[Elf32], None]], Callable[[Elf32], None]]:
    def add(function: Callable[[Elf32], None]) -> Callable[[Elf32], None]:
        TAMPERS.append(Tamper(function.__name__, checks, function))
        return function

    return add


def _table(*rows: tuple[str, str, Callable[[Elf32], object]]) -> None:
    for name, check, change in rows:
        TAMPERS.append(Tamper(name, (check,), change))


def _add(record: Record, **fields: int) -> None:
    """Add to fields of a record, named without their prefix."""
    for field, value in fields.items():
        name = next(n for n in (f"{p}_{field}" for p in ("p", "sh", "st", "e")) if _has(record, n))
        record[name] = (record[name] + value) & 0xFFFFFFFF


def _set(record: Record, **fields: int) -> None:
    for field, value in fields.items():
        name = next(n for n in (f"{p}_{field}" for p in ("p", "sh", "st", "e")) if _has(record, n))
        record[name] = value


def _has(record: Record, name: str) -> bool:
    try:
        record[name]
    except KeyError:
        return False
    return True


def _input_buffer(elf: Elf32) -> str:
    return elf.names("image_buffer")[0]


# Program headers.
_table(
    ("load_of_constants", "layout", lambda e: _add(e.segment_of(".rodata"), paddr=0x1000)),
    ("load_of_constants_by_4", "layout", lambda e: _add(e.segment_of(".rodata"), paddr=4)),
    ("load_of_code", "layout", lambda e: _add(e.segment_of(".text"), paddr=0x20000)),
    ("load_of_stack", "layout", lambda e: _add(e.segment_of(".stack"), paddr=16)),
    ("load_of_arena", "layout", lambda e: _add(e.segment_of(".bss"), paddr=0x1000)),
    ("load_of_data", "layout", lambda e: _add(e.segment_of(".data"), paddr=4)),
    ("constants_cut", "layout", lambda e: _add(e.segment_of(".rodata"), filesz=-16)),
    ("constants_cut_by_1", "layout", lambda e: _add(e.segment_of(".rodata"), filesz=-1)),
    ("constants_not_in_file", "layout", lambda e: _set(e.segment_of(".rodata"), filesz=0)),
    ("code_not_in_file", "layout", lambda e: _set(e.segment_of(".text"), filesz=0)),
    ("more_in_file", "layout", lambda e: _add(e.segment_of(".rodata"), filesz=16)),
    ("more_in_both", "layout", lambda e: _add(e.segment_of(".rodata"), filesz=16, memsz=16)),
    ("more_in_memory", "layout", lambda e: _add(e.segment_of(".rodata"), memsz=64)),
    ("code_over_constants", "layout", lambda e: _add(e.segment_of(".text"), filesz=96, memsz=96)),
    ("bytes_for_bss", "layout", lambda e: _set(e.segment_of(".bss"), filesz=32)),
    ("data_cut", "layout", lambda e: _set(e.segment_of(".data"), filesz=0)),
    ("other_place_in_file", "layout", lambda e: _add(e.segment_of(".rodata"), offset=16)),
    ("code_from_other_place", "layout", lambda e: _add(e.segment_of(".text"), offset=0x1000)),
    ("past_end_of_file", "layout", lambda e: _set(e.segment_of(".rodata"), offset=0x1000000)),
    ("constants_moved", "layout", lambda e: _add(e.segment_of(".rodata"), vaddr=16, paddr=16)),
    ("segment_start_earlier", "layout", lambda e: _add(e.segment_of(".bss"), vaddr=-16, memsz=16)),
    ("segment_alignment", "layout", lambda e: _set(e.segment_of(".rodata"), align=1 << 28)),
    ("constants_no_segment", "layout", lambda e: _set(e.segment_of(".rodata"), type=PT_NULL)),
    ("stack_no_segment", "layout", lambda e: _set(e.segment_of(".stack"), type=PT_NULL)),
    ("fewer_segments", "layout", lambda e: _set(e.header, phnum=e.header["e_phnum"] - 1)),
    ("writable_code", "segments", lambda e: _set(e.segment_of(".text"), flags=PF_R | PF_W | PF_X)),
    ("writable_constants", "segments", lambda e: _set(e.segment_of(".rodata"), flags=PF_R | PF_W)),
    ("executable_weights", "segments", lambda e: _set(e.segment_of(".rodata"), flags=PF_R | PF_X)),
    ("code_without_rights", "segments", lambda e: _set(e.segment_of(".text"), flags=PF_R)),
    ("code_unreadable", "segments", lambda e: _set(e.segment_of(".text"), flags=PF_X)),
    ("data_read_only", "segments", lambda e: _set(e.segment_of(".data"), flags=PF_R)),
    ("executable_bss", "segments", lambda e: _set(e.segment_of(".bss"), flags=PF_R | PF_W | PF_X)),
)


@caught_by("layout")
def second_segment_over_the_weights(elf: Elf32) -> None:
    elf.add_segment(elf.segment_of(".rodata"))


@caught_by("layout")
def second_segment_with_other_bytes(elf: Elf32) -> None:
    code = elf.segment_of(".text")["p_offset"]
    elf.add_segment(elf.segment_of(".rodata"), offset=code, filesz=256, memsz=256)


@caught_by("layout")
def second_segment_loaded_over_code(elf: Elf32) -> None:
    code = elf.segment_of(".text")
    elf.add_segment(
        elf.segment_of(".data"), vaddr=elf.section(".bss")["sh_addr"] + 0x4000, filesz=16,
        memsz=16, paddr=code["p_paddr"],
    )  # fmt: skip


@caught_by("layout")
def initialised_data_loaded_in_ram(elf: Elf32) -> None:
    segment = elf.segment_of(".data")
    segment["p_paddr"] = segment["p_vaddr"]


@caught_by("segments")
def segment_outside_of_every_memory(elf: Elf32) -> None:
    _set(elf.segment_of(".rodata"), vaddr=0x60000000, paddr=0x60000000)


# Section headers.
_table(
    ("weights_nobits", "layout", lambda e: _set(e.section(".rodata.tvm"), type=SHT_NOBITS)),
    ("weights_not_allocated", "layout", lambda e: _set(e.section(".rodata.tvm"), flags=0)),
    ("weights_of_another_type", "layout", lambda e: _set(e.section(".rodata.tvm"), type=7)),
    ("weights_other_offset", "layout", lambda e: _add(e.section(".rodata.tvm"), offset=16)),
    ("weights_other_address", "layout", lambda e: _add(e.section(".rodata.tvm"), addr=16)),
    ("weights_shorter", "layout", lambda e: _add(e.section(".rodata.tvm"), size=-32)),
    ("weights_longer", "layout", lambda e: _add(e.section(".rodata.tvm"), size=64)),
    ("weights_alignment", "layout", lambda e: _set(e.section(".rodata.tvm"), addralign=1 << 20)),
    (
        *("weights_executable", "layout"),
        lambda e: _set(e.section(".rodata.tvm"), flags=SHF_ALLOC | SHF_EXECINSTR),
    ),
    (
        *("weights_writable", "constants_section"),
        lambda e: _set(e.section(".rodata.tvm"), flags=SHF_ALLOC | SHF_WRITE),
    ),
    ("code_other_offset", "layout", lambda e: _add(e.section(".text"), offset=4)),
    ("code_nobits", "layout", lambda e: _set(e.section(".text"), type=SHT_NOBITS)),
    ("code_not_allocated", "layout", lambda e: _set(e.section(".text"), flags=SHF_EXECINSTR)),
    ("code_not_executable", "run_symbol", lambda e: _set(e.section(".text"), flags=SHF_ALLOC)),
    ("code_writable", "segments", lambda e: _set(e.section(".text"), flags=7)),
    ("code_shorter", "layout", lambda e: _add(e.section(".text"), size=-64)),
    ("vectors_other_offset", "layout", lambda e: _add(e.section(".vectors"), offset=64)),
    ("vectors_not_allocated", "layout", lambda e: _set(e.section(".vectors"), flags=0)),
    ("rodata_other_offset", "layout", lambda e: _add(e.section(".rodata"), offset=-4)),
    ("rodata_not_allocated", "layout", lambda e: _set(e.section(".rodata"), flags=0)),
    ("rodata_past_its_segment", "layout", lambda e: _add(e.section(".rodata"), size=4096)),
    ("stack_not_allocated", "layout", lambda e: _set(e.section(".stack"), flags=SHF_WRITE)),
    ("stack_shorter", "layout", lambda e: _add(e.section(".stack"), size=-256)),
    ("stack_over_data", "layout", lambda e: _add(e.section(".stack"), size=256)),
    ("bss_shorter", "layout", lambda e: _add(e.section(".bss"), size=-32)),
    ("bss_with_bytes", "layout", lambda e: _set(e.section(".bss"), type=SHT_PROGBITS)),
    ("bss_not_allocated", "layout", lambda e: _set(e.section(".bss"), flags=SHF_WRITE)),
    ("bss_read_only", "layout", lambda e: _set(e.section(".bss"), flags=0)),
    ("arena_with_bytes", "layout", lambda e: _set(e.section(".bss.noinit.tvm"), type=SHT_PROGBITS)),
    ("arena_shorter", "layout", lambda e: _add(e.section(".bss.noinit.tvm"), size=-512)),
    ("arena_longer", "layout", lambda e: _add(e.section(".bss.noinit.tvm"), size=512)),
    ("arena_executable", "layout", lambda e: _set(e.section(".bss.noinit.tvm"), flags=7)),
    ("data_nobits", "layout", lambda e: _set(e.section(".data"), type=SHT_NOBITS)),
    ("data_other_offset", "layout", lambda e: _add(e.section(".data"), offset=-8)),
)


@caught_by("layout")
def stack_over_the_arena(elf: Elf32) -> None:
    arena, segment = elf.section(".bss.noinit.tvm")["sh_addr"], elf.segment_of(".stack")
    elf.section(".stack")["sh_addr"] = segment["p_vaddr"] = segment["p_paddr"] = arena


@caught_by("layout")
def bss_over_the_arena(elf: Elf32) -> None:
    elf.section(".bss")["sh_addr"] = elf.section(".bss.noinit.tvm")["sh_addr"]


def _grow_last(elf: Elf32, nbytes: int) -> None:
    segment = elf.segment_of(".bss")
    _add(elf.section(".bss"), size=nbytes)
    _add(segment, memsz=nbytes)


_table(
    ("bss_grown_by_3_megabytes", "layout", lambda e: _grow_last(e, 3 << 20)),
    ("bss_grown_by_4_bytes", "layout", lambda e: _grow_last(e, 4)),
    ("bss_past_the_end_of_ram", "sections_fit", lambda e: _grow_last(e, 64 << 20)),
)


@caught_by("layout")
def two_sections_of_one_name(elf: Elf32) -> None:
    elf.section(".rodata")["sh_name"] = elf.section(".rodata.tvm")["sh_name"]


# The ELF header, the entry point, the vectors.
_table(
    ("not_an_executable", "layout", lambda e: _set(e.header, type=1)),
    ("position_independent", "layout", lambda e: _set(e.header, type=3)),
    ("entry_elsewhere", "entry_point", lambda e: _add(e.header, entry=8)),
    ("entry_in_data", "entry_point", lambda e: _set(e.header, entry=e.section(".bss")["sh_addr"])),
    ("entry_nowhere", "entry_point", lambda e: _set(e.header, entry=0xDEAD0001)),
    ("entry_main", "entry_point", lambda e: _set(e.header, entry=e.symbol("main")["st_value"])),
)


def _vector(elf: Elf32, number: int, value: int) -> None:
    elf.put_word(elf.section(".vectors")["sh_addr"] + 4 * number, value)


def _stack_top(elf: Elf32, value: int) -> None:
    """Move the initial stack pointer; RISC-V's is the linker script's symbol."""
    _vector(elf, 0, value) if elf.is_arm else _set(elf.symbol("__stack_top"), value=value)


@caught_by("layout")
def stack_pointer_in_the_arena(elf: Elf32) -> None:
    _stack_top(elf, elf.section(".bss.noinit.tvm")["sh_addr"] + 1024)


@caught_by("layout")
def stack_pointer_above_bss(elf: Elf32) -> None:
    _stack_top(elf, elf.section(".bss")["sh_addr"] + 1024)


@caught_by("vector_table")
def stack_pointer_not_aligned(elf: Elf32) -> None:
    _stack_top(elf, elf.symbol("__stack_top")["st_value"] - 4)


@caught_by("vector_table")
def stack_pointer_outside_of_ram(elf: Elf32) -> None:
    _stack_top(elf, 0x70000000)


@caught_by("sections_fit")
def less_stack(elf: Elf32) -> None:
    _stack_top(elf, elf.symbol("__stack_top")["st_value"] - 512)


_table(
    ("arm_reset_to_main", "entry_point", lambda e: _vector(e, 1, e.symbol("main")["st_value"])),
    ("arm_reset_without_thumb", "vector_table", lambda e: _vector(e, 1, 0x40)),
    ("arm_fault_without_thumb", "vector_table", lambda e: _vector(e, 3, 0x40)),
    ("arm_fault_in_ram", "vector_table", lambda e: _vector(e, 3, 0x20000001)),
    ("arm_no_fault_vector", "vector_table", lambda e: _vector(e, 3, 0)),
    ("arm_another_core", "build_attributes", lambda e: _change_attributes(e, b"\x06", 8)),
    ("arm_attributes_lost", "build_attributes", lambda e: _change_attributes(e, b"\x06", 0)),
    ("riscv_float_abi", "build_attributes", lambda e: _set(e.header, flags=5)),
    (
        *("riscv_attributes_lost", "build_attributes"),
        lambda e: _set(e.section(".riscv.attributes"), type=SHT_PROGBITS),
    ),
)


def _change_attributes(elf: Elf32, tag: bytes, value: int) -> None:
    """Tag_CPU_arch follows Tag_CPU_name, a text. Source: Arm IHI 0045."""
    section = elf.section(".ARM.attributes")
    start = section["sh_offset"]
    text = bytes(elf.data[start : start + section["sh_size"]])
    at = text.index(b"\0" + tag, text.index(b"aeabi") + 6) + 2
    elf.data[start + at] = value


# Planned buffers and their arena.
def _extra_sid(elf: Elf32, name: str = "sid_99", **options: int | str) -> None:
    elf.add_symbol(name, elf.names("sid_")[0], **options)  # type: ignore[arg-type]


def _first_sid(elf: Elf32) -> Record:
    return elf.symbol(elf.names("sid_")[0])


_table(
    ("extra_sid", "sids", lambda e: _extra_sid(e)),
    ("extra_sid_under_main", "sids", lambda e: _extra_sid(e, file="main.c")),
    ("extra_global_sid", "sids", lambda e: _extra_sid(e, binding=STB_GLOBAL)),
    ("extra_sid_in_bss", "sids", lambda e: _extra_sid(e, shndx=e.section_index(".bss"))),
    ("extra_absolute_sid", "sids", lambda e: _extra_sid(e, file="main.c", shndx=SHN_ABS)),
    ("extra_scratch", "sids", lambda e: _extra_sid(e, "scratch_77")),
    ("extra_scratch_under_main", "sids", lambda e: _extra_sid(e, "scratch_77", file="main.c")),
    ("sid_twice", "sids", lambda e: _extra_sid(e, e.names("sid_")[0])),
    ("sid_twice_under_main", "sids", lambda e: _extra_sid(e, e.names("sid_")[0], file="main.c")),
    ("sid_moved", "sids", lambda e: _add(_first_sid(e), value=16)),
    ("sid_longer", "sids", lambda e: _add(_first_sid(e), size=16)),
    ("sid_shorter", "sids", lambda e: _add(_first_sid(e), size=-1)),
    ("sid_function", "sids", lambda e: e.set_kind(e.names("sid_")[0], kind=STT_FUNC)),
    ("sid_global", "sids", lambda e: e.set_kind(e.names("sid_")[0], binding=STB_GLOBAL)),
    ("sid_in_bss", "sids", lambda e: _set(_first_sid(e), shndx=e.section_index(".bss"))),
    ("sid_gone", "sids", lambda e: e.rename(e.names("sid_")[0], "other")),
    ("sid_renamed", "sids", lambda e: e.rename(e.names("sid_")[0], "sid_98")),
    ("sids_under_another_file", "sids", lambda e: e.rename(MEMORY_FILE, "other.s")),
    ("arena_moved", "sids", lambda e: _add(e.symbol(ARENA), value=16)),
    ("arena_misaligned", "arena", lambda e: _add(e.symbol(ARENA), value=4)),
    ("arena_object_longer", "arena", lambda e: _add(e.symbol(ARENA), size=16)),
    ("arena_object_shorter", "arena", lambda e: _add(e.symbol(ARENA), size=-16)),
    ("arena_gone", "arena", lambda e: e.rename(ARENA, "other")),
    ("arena_twice", "arena", lambda e: e.add_symbol(ARENA, ARENA)),
    ("arena_function", "arena", lambda e: e.set_kind(ARENA, kind=STT_FUNC)),
    ("arena_in_bss", "arena", lambda e: _set(e.symbol(ARENA), shndx=e.section_index(".bss"))),
    ("arena_in_the_stack", "arena", lambda e: _into_stack(e, ARENA)),
    ("object_in_the_arena", "layout", lambda e: e.add_symbol("other", ARENA)),
    ("buffer_in_the_stack", "layout", lambda e: _into_stack(e, _input_buffer(e))),
)


def _into_stack(elf: Elf32, name: str) -> None:
    section = elf.section(".stack")
    _set(elf.symbol(name), value=section["sh_addr"] + 64, shndx=elf.section_index(".stack"))


@caught_by("layout")
def arena_and_buffers_moved(elf: Elf32) -> None:
    for name in (ARENA, *elf.names("sid_")):
        _add(elf.symbol(name), value=0x100000)


# Constants.
def _largest(elf: Elf32) -> Record:
    return elf.symbol(elf.constants()[0])


def _flip(elf: Elf32, position: int) -> None:
    symbol = _largest(elf)
    address = symbol["st_value"] + position % symbol["st_size"]
    elf.put(address, bytes([elf.get(address, 1)[0] ^ 0x80]))


def _exchange(elf: Elf32, *, symbols: bool) -> None:
    """Two constants of one size change places, either their symbols or their bytes."""
    named = [elf.symbol(name) for name in elf.constants()]
    a, b = next(
        (a, b)
        for i, a in enumerate(named)
        for b in named[i + 1 :]
        if a["st_size"] == b["st_size"]
        if elf.get(a["st_value"], a["st_size"]) != elf.get(b["st_value"], b["st_size"])
    )
    first, second = a["st_value"], b["st_value"]
    if symbols:
        a["st_value"], b["st_value"] = second, first
    else:
        bytes_of = [elf.get(at, a["st_size"]) for at in (first, second)]
        elf.put(first, bytes_of[1])
        elf.put(second, bytes_of[0])


_table(
    ("first_byte", "constants_bytes", lambda e: _flip(e, 0)),
    ("last_byte", "constants_bytes", lambda e: _flip(e, -1)),
    ("byte_in_the_middle", "constants_bytes", lambda e: _flip(e, 100)),
    ("constants_symbols_exchanged", "constants_bytes", lambda e: _exchange(e, symbols=True)),
    ("constants_bytes_exchanged", "constants_bytes", lambda e: _exchange(e, symbols=False)),
    ("constant_moved", "constants_bytes", lambda e: _add(_largest(e), value=4)),
    ("constant_misaligned", "constants_section", lambda e: _add(_largest(e), value=1)),
    ("constant_shorter", "constants_section", lambda e: _add(_largest(e), size=-1)),
    ("constant_longer", "constants_section", lambda e: _add(_largest(e), size=64)),
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
        lambda e: _set(_largest(e), shndx=e.section_index(".rodata")),
    ),
    (
        *("constant_in_ram", "constants_section"),
        lambda e: _set(_largest(e), value=e.section(".bss")["sh_addr"]),
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
_table(
    ("run_gone", "run_symbol", lambda e: e.rename(RUN, "other")),
    ("run_twice", "run_symbol", lambda e: e.add_symbol(RUN, RUN)),
    ("run_local", "run_symbol", lambda e: e.set_kind(RUN, binding=STB_LOCAL)),
    ("run_weak", "run_symbol", lambda e: e.set_kind(RUN, binding=STB_WEAK)),
    ("run_object", "run_symbol", lambda e: e.set_kind(RUN, kind=STT_OBJECT)),
    (
        *("run_in_rodata", "run_symbol"),
        lambda e: _set(e.symbol(RUN), value=e.section(".rodata")["sh_addr"]),
    ),
    ("run_of_another_section", "layout", lambda e: _set(e.symbol(RUN), shndx=1)),
    ("run_absolute", "layout", lambda e: _set(e.symbol(RUN), shndx=SHN_ABS)),
    ("run_past_its_section", "layout", lambda e: _add(e.symbol(RUN), size=1 << 20)),
    ("operator_gone", "operators", lambda e: e.rename(OPERATOR, "other")),
    ("operator_twice", "operators", lambda e: e.add_symbol(OPERATOR, OPERATOR)),
    ("operator_object", "operators", lambda e: e.set_kind(OPERATOR, kind=STT_OBJECT)),
    (
        *("operator_in_ram", "operators"),
        lambda e: _set(e.symbol(OPERATOR), value=e.section(".bss")["sh_addr"]),
    ),
    ("operator_outside", "layout", lambda e: _add(e.symbol(OPERATOR), value=0x10000)),
    ("operator_unknown", "kernels", lambda e: e.add_symbol(f"{OPERATOR}_2", OPERATOR)),
    ("kernel_unknown", "kernels", lambda e: e.add_symbol("mg_tanh_s8", OPERATOR)),
    ("malloc", "heap", lambda e: e.add_symbol("malloc", OPERATOR)),
    ("strlen", "libc", lambda e: e.add_symbol("strlen", OPERATOR)),
    ("soft_double", "soft_float", lambda e: e.add_symbol("__adddf3", OPERATOR)),
    ("buffers_overlap", "layout", lambda e: _onto(e, _input_buffer(e), "output_buffer")),
    ("buffer_too_long", "layout", lambda e: _add(e.symbol("output_buffer"), size=8192)),
    ("bss_end_lower", "layout", lambda e: _add(e.symbol("__bss_end"), value=-16)),
    ("bss_start_higher", "layout", lambda e: _add(e.symbol("__bss_start"), value=16)),
    ("data_end_higher", "layout", lambda e: _add(e.symbol("__data_end"), value=64)),
    ("data_copied_from_elsewhere", "layout", lambda e: _add(e.symbol("__data_load"), value=-4)),
    ("stack_limit_higher", "layout", lambda e: _add(e.symbol("__stack_limit"), value=64)),
)


def _onto(elf: Elf32, name: str, other: str) -> None:
    elf.symbol(name)["st_value"] = elf.symbol(other)["st_value"]
