"""Tampers with headers, with the places of bytes, and with how the core starts."""

from __future__ import annotations

from tests.tamper.elf32 import (
    PF_R,
    PF_W,
    PF_X,
    PT_NULL,
    SHF_ALLOC,
    SHF_EXECINSTR,
    SHF_WRITE,
    SHT_NOBITS,
    SHT_PROGBITS,
    STT_NOTYPE,
    Elf32,
    Record,
)
from tests.tamper.tampers import UNREADABLE, Table, add, put

TABLE = Table()


# Program headers.
TABLE.rows(
    ("load_of_constants", "layout", lambda e: add(e.segment_of(".rodata"), paddr=0x1000)),
    ("load_of_constants_by_4", "layout", lambda e: add(e.segment_of(".rodata"), paddr=4)),
    ("load_of_code", "layout", lambda e: add(e.segment_of(".text"), paddr=0x20000)),
    ("load_of_stack", "layout", lambda e: add(e.segment_of(".stack"), paddr=16)),
    ("load_of_arena", "layout", lambda e: add(e.segment_of(".bss"), paddr=0x1000)),
    ("load_of_data", "layout", lambda e: add(e.segment_of(".data"), paddr=4)),
    ("constants_cut", "layout", lambda e: add(e.segment_of(".rodata"), filesz=-16)),
    ("constants_cut_by_1", "layout", lambda e: add(e.segment_of(".rodata"), filesz=-1)),
    ("constants_not_in_file", "layout", lambda e: put(e.segment_of(".rodata"), filesz=0)),
    ("code_not_in_file", "layout", lambda e: put(e.segment_of(".text"), filesz=0)),
    ("more_in_file", "layout", lambda e: add(e.segment_of(".rodata"), filesz=16)),
    ("more_in_both", "layout", lambda e: add(e.segment_of(".rodata"), filesz=16, memsz=16)),
    ("more_in_memory", "layout", lambda e: add(e.segment_of(".rodata"), memsz=64)),
    ("code_over_constants", "layout", lambda e: add(e.segment_of(".text"), filesz=96, memsz=96)),
    (
        "bytes_for_bss",
        "layout",
        lambda e: put(e.segment_of(".bss"), filesz=32, offset=e.section(".text")["sh_offset"]),
    ),
    ("data_cut", "layout", lambda e: put(e.segment_of(".data"), filesz=0)),
    ("other_place_in_file", "layout", lambda e: add(e.segment_of(".rodata"), offset=16)),
    ("code_from_other_place", "layout", lambda e: add(e.segment_of(".text"), offset=0x1000)),
    ("past_end_of_file", "layout", lambda e: put(e.segment_of(".rodata"), offset=0x1000000)),
    ("constants_moved", "layout", lambda e: add(e.segment_of(".rodata"), vaddr=16, paddr=16)),
    ("segment_start_earlier", "layout", lambda e: add(e.segment_of(".bss"), vaddr=-16, memsz=16)),
    ("segment_alignment", "layout", lambda e: put(e.segment_of(".rodata"), align=1 << 28)),
    ("constants_no_segment", "layout", lambda e: put(e.segment_of(".rodata"), type=PT_NULL)),
    ("stack_no_segment", "layout", lambda e: put(e.segment_of(".stack"), type=PT_NULL)),
    ("fewer_segments", "layout", lambda e: put(e.header, phnum=e.header["e_phnum"] - 1)),
    ("writable_code", "segments", lambda e: put(e.segment_of(".text"), flags=PF_R | PF_W | PF_X)),
    ("writable_constants", "segments", lambda e: put(e.segment_of(".rodata"), flags=PF_R | PF_W)),
    ("executable_weights", "segments", lambda e: put(e.segment_of(".rodata"), flags=PF_R | PF_X)),
    ("code_without_rights", "segments", lambda e: put(e.segment_of(".text"), flags=PF_R)),
    ("code_unreadable", "segments", lambda e: put(e.segment_of(".text"), flags=PF_X)),
    ("data_read_only", "segments", lambda e: put(e.segment_of(".data"), flags=PF_R)),
    ("executable_bss", "segments", lambda e: put(e.segment_of(".bss"), flags=PF_R | PF_W | PF_X)),
)


@TABLE.caught_by("layout")
def other_code_for_objdump_at_the_same_address(elf: Elf32) -> None:
    code = elf.section(".text")
    put(
        elf.section(".comment"),
        flags=SHF_EXECINSTR,
        addr=code["sh_addr"],
        offset=code["sh_offset"],
        size=code["sh_size"],
    )


@TABLE.caught_by("layout")
def second_segment_over_the_weights(elf: Elf32) -> None:
    elf.add_segment(elf.segment_of(".rodata"))


@TABLE.caught_by("layout")
def second_segment_with_other_bytes(elf: Elf32) -> None:
    code = elf.segment_of(".text")["p_offset"]
    elf.add_segment(elf.segment_of(".rodata"), offset=code, filesz=256, memsz=256)


@TABLE.caught_by("layout")
def second_segment_loaded_over_code(elf: Elf32) -> None:
    code = elf.segment_of(".text")
    elf.add_segment(
        elf.segment_of(".data"), vaddr=elf.section(".bss")["sh_addr"] + 0x4000, filesz=16,
        memsz=16, paddr=code["p_paddr"],
    )  # fmt: skip


@TABLE.caught_by("layout")
def initialised_data_loaded_in_ram(elf: Elf32) -> None:
    segment = elf.segment_of(".data")
    segment["p_paddr"] = segment["p_vaddr"]


@TABLE.caught_by("segments")
def segment_outside_of_every_memory(elf: Elf32) -> None:
    put(elf.segment_of(".rodata"), vaddr=0x60000000, paddr=0x60000000)


# Section headers.
TABLE.rows(
    ("weights_nobits", "layout", lambda e: put(e.section(".rodata.tvm"), type=SHT_NOBITS)),
    ("weights_not_allocated", "layout", lambda e: put(e.section(".rodata.tvm"), flags=0)),
    ("weights_of_another_type", "layout", lambda e: put(e.section(".rodata.tvm"), type=7)),
    ("weights_other_offset", "layout", lambda e: add(e.section(".rodata.tvm"), offset=16)),
    ("weights_other_address", "layout", lambda e: add(e.section(".rodata.tvm"), addr=16)),
    ("weights_shorter", "layout", lambda e: add(e.section(".rodata.tvm"), size=-32)),
    ("weights_longer", "layout", lambda e: add(e.section(".rodata.tvm"), size=64)),
    ("weights_alignment", "layout", lambda e: put(e.section(".rodata.tvm"), addralign=1 << 20)),
    (
        *("weights_executable", "layout"),
        lambda e: put(e.section(".rodata.tvm"), flags=SHF_ALLOC | SHF_EXECINSTR),
    ),
    (
        *("weights_writable", "constants_section"),
        lambda e: put(e.section(".rodata.tvm"), flags=SHF_ALLOC | SHF_WRITE),
    ),
    ("code_other_offset", "layout", lambda e: add(e.section(".text"), offset=4)),
    ("code_nobits", "layout", lambda e: put(e.section(".text"), type=SHT_NOBITS)),
    ("code_not_allocated", "layout", lambda e: put(e.section(".text"), flags=SHF_EXECINSTR)),
    ("code_not_executable", "run_symbol", lambda e: put(e.section(".text"), flags=SHF_ALLOC)),
    ("code_writable", "segments", lambda e: put(e.section(".text"), flags=7)),
    ("code_shorter", "layout", lambda e: add(e.section(".text"), size=-64)),
    ("vectors_other_offset", "layout", lambda e: add(e.section(".vectors"), offset=64)),
    ("vectors_not_allocated", "layout", lambda e: put(e.section(".vectors"), flags=0)),
    ("rodata_other_offset", "layout", lambda e: add(e.section(".rodata"), offset=-4)),
    ("rodata_not_allocated", "layout", lambda e: put(e.section(".rodata"), flags=0)),
    ("rodata_past_its_segment", "layout", lambda e: add(e.section(".rodata"), size=4096)),
    ("stack_not_allocated", "layout", lambda e: put(e.section(".stack"), flags=SHF_WRITE)),
    ("stack_shorter", "layout", lambda e: add(e.section(".stack"), size=-256)),
    ("stack_over_data", "layout", lambda e: add(e.section(".stack"), size=256)),
    ("bss_shorter", "layout", lambda e: add(e.section(".bss"), size=-32)),
    ("bss_with_bytes", "layout", lambda e: put(e.section(".bss"), type=SHT_PROGBITS)),
    ("bss_not_allocated", "layout", lambda e: put(e.section(".bss"), flags=SHF_WRITE)),
    ("bss_read_only", "layout", lambda e: put(e.section(".bss"), flags=0)),
    ("arena_with_bytes", "layout", lambda e: put(e.section(".bss.noinit.tvm"), type=SHT_PROGBITS)),
    ("arena_shorter", "layout", lambda e: add(e.section(".bss.noinit.tvm"), size=-512)),
    ("arena_longer", "layout", lambda e: add(e.section(".bss.noinit.tvm"), size=512)),
    ("arena_executable", "layout", lambda e: put(e.section(".bss.noinit.tvm"), flags=7)),
    ("data_nobits", "layout", lambda e: put(e.section(".data"), type=SHT_NOBITS)),
    ("data_other_offset", "layout", lambda e: add(e.section(".data"), offset=-8)),
)


@TABLE.caught_by("layout")
def stack_over_the_arena(elf: Elf32) -> None:
    arena, segment = elf.section(".bss.noinit.tvm")["sh_addr"], elf.segment_of(".stack")
    elf.section(".stack")["sh_addr"] = segment["p_vaddr"] = segment["p_paddr"] = arena


@TABLE.caught_by("layout")
def bss_over_the_arena(elf: Elf32) -> None:
    elf.section(".bss")["sh_addr"] = elf.section(".bss.noinit.tvm")["sh_addr"]


def _grow_last(elf: Elf32, nbytes: int) -> None:
    segment = elf.segment_of(".bss")
    add(elf.section(".bss"), size=nbytes)
    add(segment, memsz=nbytes)


TABLE.rows(
    ("bss_grown_by_3_megabytes", "layout", lambda e: _grow_last(e, 3 << 20)),
    ("bss_grown_by_4_bytes", "layout", lambda e: _grow_last(e, 4)),
    ("bss_past_the_end_of_ram", "sections_fit", lambda e: _grow_last(e, 64 << 20)),
)


@TABLE.caught_by("layout")
def two_sections_of_one_name(elf: Elf32) -> None:
    elf.section(".rodata")["sh_name"] = elf.section(".rodata.tvm")["sh_name"]


# What some read otherwise than others: `tests/verifier/test_header_rules.py` has all forms.
TABLE.rows(
    ("number_of_segments_elsewhere", UNREADABLE, lambda e: put(e.header, phnum=0xFFFF)),
    ("number_of_sections_elsewhere", UNREADABLE, lambda e: put(e.header, shnum=0)),
    ("number_of_names_elsewhere", UNREADABLE, lambda e: put(e.header, shstrndx=0xFFFF)),
    ("other_size_of_headers", UNREADABLE, lambda e: put(e.header, phentsize=56)),
    ("two_symbol_tables", UNREADABLE, lambda e: put(e.section(".comment"), type=2)),
    ("weights_of_no_type", "layout", lambda e: put(e.section(".rodata.tvm"), type=0)),
    ("code_of_type_shlib", "layout", lambda e: put(e.section(".text"), type=10)),
    ("vectors_of_type_strtab", "layout", lambda e: put(e.section(".vectors"), type=3)),
    ("data_compressed", "layout", lambda e: add(e.section(".data"), flags=0x800)),
    ("code_excluded", "layout", lambda e: add(e.section(".text"), flags=1 << 31)),
    ("another_machine", "layout", lambda e: put(e.header, machine=62)),
    ("interpreter", "layout", lambda e: e.add_segment(e.segment_of(".rodata"), type=3)),
    ("dynamic", "layout", lambda e: e.add_segment(e.segment_of(".data"), type=2)),
    ("thread_variables", "layout", lambda e: e.add_segment(e.segment_of(".data"), type=7)),
)


@TABLE.caught_by("layout", UNREADABLE)  # objdump refuses it, too
def rodata_of_an_unknown_type(elf: Elf32) -> None:
    put(elf.section(".rodata"), type=0xB00)


@TABLE.caught_by("layout")
def code_called_constants(elf: Elf32) -> None:
    """Unnamed bytes are allowed in constants only, whatever a section is called."""
    code, constants = elf.section(".text"), elf.section(".rodata")
    code["sh_name"], constants["sh_name"] = constants["sh_name"], code["sh_name"]


# Bytes of nothing.
TABLE.rows(
    ("function_without_a_size", "layout", lambda e: put(e.symbol("mg_io_exit"), size=0)),
    ("function_half", "layout", lambda e: _half(e.symbol("tvmgen_default_run"))),
    ("function_over_others", "layout", lambda e: put(e.symbol("main"), size=0x400)),
    ("function_over_a_part", "layout", lambda e: add(e.symbol("mg_io_exit"), size=2)),
    ("function_of_no_type", "layout", lambda e: e.set_kind("mg_io_exit", kind=STT_NOTYPE)),
    ("data_of_no_name", "layout", lambda e: e.set_kind("tuned", kind=STT_NOTYPE)),
    ("code_in_padding", "layout", lambda e: e.put(e.padding(".text"), b"\x5a")),
    ("bytes_between_constants", "layout", lambda e: e.put(e.padding(".rodata.tvm"), b"\x01")),
)


def _half(symbol: Record) -> None:
    symbol["st_size"] //= 2


# The ELF header, the entry point, the vectors.
TABLE.rows(
    ("not_an_executable", "layout", lambda e: put(e.header, type=1)),
    ("position_independent", "layout", lambda e: put(e.header, type=3)),
    ("entry_elsewhere", "entry_point", lambda e: add(e.header, entry=8)),
    ("entry_in_data", "entry_point", lambda e: put(e.header, entry=e.section(".bss")["sh_addr"])),
    ("entry_nowhere", "entry_point", lambda e: put(e.header, entry=0xDEAD0001)),
    ("entry_main", "entry_point", lambda e: put(e.header, entry=e.symbol("main")["st_value"])),
)


def _vector(elf: Elf32, number: int, value: int) -> None:
    elf.put_word(elf.section(".vectors")["sh_addr"] + 4 * number, value)


def _stack_top(elf: Elf32, value: int) -> None:
    """Move the initial stack pointer; RISC-V's is the linker script's symbol."""
    _vector(elf, 0, value) if elf.is_arm else put(elf.symbol("__stack_top"), value=value)


def _into_handler(elf: Elf32, number: int) -> None:
    _vector(elf, number, elf.symbol("Fault_Handler")["st_value"] + 4)


def _trap(elf: Elf32) -> Record:
    return elf.symbol("Trap_Handler")


@TABLE.caught_by("layout")
def stack_pointer_in_the_arena(elf: Elf32) -> None:
    _stack_top(elf, elf.section(".bss.noinit.tvm")["sh_addr"] + 1024)


@TABLE.caught_by("layout")
def stack_pointer_above_bss(elf: Elf32) -> None:
    _stack_top(elf, elf.section(".bss")["sh_addr"] + 512)


@TABLE.caught_by("vector_table")
def stack_pointer_not_aligned(elf: Elf32) -> None:
    _stack_top(elf, elf.symbol("__stack_top")["st_value"] - 4)


@TABLE.caught_by("vector_table")
def stack_pointer_outside_of_ram(elf: Elf32) -> None:
    _stack_top(elf, 0x70000000)


@TABLE.caught_by("sections_fit")
def less_stack(elf: Elf32) -> None:
    _stack_top(elf, elf.symbol("__stack_top")["st_value"] - 512)


TABLE.rows(
    ("arm_reset_to_main", "entry_point", lambda e: _vector(e, 1, e.symbol("main")["st_value"])),
    ("arm_reset_without_thumb", "vector_table", lambda e: _vector(e, 1, 0x40)),
    ("arm_fault_without_thumb", "vector_table", lambda e: _vector(e, 3, 0x40)),
    ("arm_fault_in_ram", "vector_table", lambda e: _vector(e, 3, 0x20000001)),
    ("arm_fault_inside_its_handler", "vector_table", lambda e: _into_handler(e, 3)),
    ("arm_tick_inside_its_handler", "vector_table", lambda e: _into_handler(e, 15)),
    ("arm_reserved_vector", "vector_table", lambda e: _into_handler(e, 9)),
    ("riscv_trap_inside_its_handler", "vector_table", lambda e: add(_trap(e), value=-4, size=4)),
    ("arm_no_fault_vector", "vector_table", lambda e: _vector(e, 3, 0)),
    ("arm_another_core", "build_attributes", lambda e: _change_attributes(e, b"\x06", 8)),
    ("arm_attributes_lost", "build_attributes", lambda e: _change_attributes(e, b"\x06", 0)),
    ("riscv_float_abi", "build_attributes", lambda e: put(e.header, flags=5)),
    ("riscv_fewer_registers", "build_attributes", lambda e: put(e.header, flags=9)),
    ("riscv_unknown_flag", "build_attributes", lambda e: put(e.header, flags=1 << 24 | 1)),
    ("riscv_no_compressed_code", "build_attributes", lambda e: put(e.header, flags=0)),
    ("arm_float_abi", "build_attributes", lambda e: _flip(e, 0x600)),
    ("arm_both_float_abis", "build_attributes", lambda e: put(e.header, flags=0x5000600)),
    ("arm_no_float_abi", "build_attributes", lambda e: put(e.header, flags=0x5000000)),
    ("arm_older_abi", "build_attributes", lambda e: _flip(e, 0x1000000)),
    ("arm_code_of_the_other_order", "build_attributes", lambda e: _flip(e, 0x800000)),
    (
        *("riscv_attributes_lost", "build_attributes"),
        lambda e: put(e.section(".riscv.attributes"), type=SHT_PROGBITS),
    ),
)


def _flip(elf: Elf32, bits: int) -> None:
    elf.header["e_flags"] ^= bits


def _change_attributes(elf: Elf32, tag: bytes, value: int) -> None:
    """Tag_CPU_arch follows Tag_CPU_name, a text. Source: Arm IHI 0045."""
    section = elf.section(".ARM.attributes")
    start = section["sh_offset"]
    text = bytes(elf.data[start : start + section["sh_size"]])
    at = text.index(b"\0" + tag, text.index(b"aeabi") + 6) + 2
    elf.data[start + at] = value
