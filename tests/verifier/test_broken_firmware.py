"""Each way to break firmware fails its own named check, and no other."""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from microgen.base.manifest import OverlapRecord
from microgen.verifier import VerifyReport, verify
from tests.support.tools import NEEDS_ARM_GCC

pytestmark = NEEDS_ARM_GCC

Make = Callable[..., Any]


def report(project: Any, **options: Any) -> VerifyReport:
    return verify(project.root, project_files=False, **options)


def failed(project: Any, **options: Any) -> list[str]:
    return [check.name for check in report(project, **options).failed]


def test_sid_at_another_address(project: Make) -> None:
    broken = project().edit("default_memory.S", "_workspace + 0", "_workspace + 16").build()
    assert failed(broken) == ["sids"]


def test_sid_that_has_grown(project: Make) -> None:
    broken = project().edit("default_memory.S", "sid_1, 112", "sid_1, 120").build()
    assert failed(broken) == ["sids"]


def test_sid_that_is_global(project: Make) -> None:
    broken = project().build().objcopy("--globalize-symbol=sid_2")
    assert failed(broken) == ["sids"]


def test_sid_under_another_file(project: Make) -> None:
    broken = project().edit("default_memory.S", '"default_memory.S"', '"other.s"').build()
    assert failed(broken) == ["sids"]


def test_sid_that_is_not_in_the_plan(project: Make) -> None:
    more = ".type sid_9, %object\n.set sid_9, tvmgen_default_global_workspace\n.size sid_9, 1\n"
    broken = project().edit("default_memory.S", "    .section .note", f"{more}    .section .note")
    assert failed(broken.build()) == ["sids"]


def test_buffers_that_overlap_in_memory_and_time(project: Make) -> None:
    changed = project()
    buffers = changed.manifest.plan.buffers
    longer = tuple(replace(b, last=3) if b.name == "scratch_0" else b for b in buffers)
    assert failed(changed.plan(buffers=longer).build()) == ["sid_overlap"]


def test_state_that_shares_its_memory(project: Make) -> None:
    changed = project()
    buffers = changed.manifest.plan.buffers
    state = tuple(replace(b, is_state=b.name == "sid_1") for b in buffers)
    assert failed(changed.plan(buffers=state).build()) == []
    state = tuple(replace(b, is_state=b.name == "sid_2") for b in buffers)
    assert failed(changed.plan(buffers=state).build()) == ["sid_overlap"]


def test_in_place_pair_that_is_not_recorded(project: Make) -> None:
    assert failed(project().plan(in_place=()).build()) == ["sid_overlap"]


def test_output_that_begins_after_its_lag(project: Make) -> None:
    needed = (OverlapRecord("sid_2", "sid_3", 4),)
    assert failed(project().plan(in_place=needed).build()) == ["sid_overlap"]


def test_arena_of_another_size(project: Make) -> None:
    broken = project().edit("default_memory.S", "_workspace, 256", "_workspace, 255").build()
    assert failed(broken) == ["arena"]


def test_arena_in_another_section(project: Make) -> None:
    names = ("default_memory.S", ".bss.noinit.tvm", ".bss.arena")
    broken = project().edit(*names).build()
    assert failed(broken) == ["sids", "arena"]


def test_run_symbol_dropped(project: Make) -> None:
    broken = project().build().objcopy("--strip-symbol=tvmgen_default_run")
    assert failed(broken) == ["run_symbol", "runner", "layout"]


def test_run_made_static(project: Make) -> None:
    broken = project().build().objcopy("--localize-symbol=tvmgen_default_run")
    assert failed(broken) == ["run_symbol"]


def test_operator_symbol_dropped(project: Make) -> None:
    broken = project().build().objcopy("--strip-symbol=tvmgen_default_fused_clip")
    assert failed(broken) == ["operators", "runner", "layout"]


def test_entry_symbol_dropped(project: Make) -> None:
    broken = project().build().objcopy("--strip-symbol=Reset_Handler")
    assert failed(broken) == ["entry_point", "vector_table", "layout"]


def test_entry_point_elsewhere(project: Make) -> None:
    assert failed(project().edit("board.ld", "ENTRY(Reset_Handler)", "ENTRY(main)").build()) == [
        "entry_point"
    ]


def test_fault_vector_missing(project: Make) -> None:
    broken = project()
    broken.flags.append("-DFAULT_VECTOR=0")
    assert failed(broken.build()) == ["vector_table"]


def test_stack_pointer_not_aligned(project: Make) -> None:
    broken = project()
    broken.flags.append("-DSTACK_TOP_OFFSET=-4")
    broken.edit("board.ld", f". += {broken.board.stack_bytes}", ". += 8192")
    assert failed(broken.build()) == ["vector_table"]


def test_stack_pointer_outside_of_ram(project: Make) -> None:
    broken = project()
    broken.flags.append("-DSTACK_TOP_OFFSET=0x10000000")
    assert failed(broken.build()) == ["vector_table"]


def test_weight_byte_flipped(project: Make) -> None:
    table = struct.pack("<4i", 1, -2, 300, -70000)
    broken = project().build().patch(table, b"\0" + table[1:])
    assert failed(broken) == ["constants_bytes"]
    found = report(broken).check("constants_bytes").found
    assert found == "tvmgen_default_p1: byte 0 is 0x00, the model's is 0x01"


def test_weights_in_ram(project: Make) -> None:
    broken = project().edit("default_params.c", ".rodata.tvm", ".data.tvm")
    broken.edit("default_params.c", " const ", " ")
    broken.sources["model.h"] = broken.sources["model.h"].replace("extern const", "extern")
    assert failed(broken.build()) == ["constants_section"]


def test_constant_in_another_read_only_section(project: Make) -> None:
    broken = project().edit("default_params.c", ".rodata.tvm", ".rodata.other").build()
    assert failed(broken) == ["constants_section"]


def test_segment_writable_and_executable(project: Make) -> None:
    broken = project().edit("board.ld", "data PT_LOAD FLAGS(6)", "data PT_LOAD FLAGS(7)")
    broken.add(
        "int32_t table[4] = {1, 2, 3, 4}; int32_t extra(int32_t n) { return table[n & 3]++; }"
    )
    assert failed(broken.build()) == ["segments"]


def test_segment_outside_of_every_memory(project: Make) -> None:
    broken = project().edit(
        "board.ld", "ram (rw) : ORIGIN = 536870912", "ram (rw) : ORIGIN = 0x60000000"
    )
    # The stack and the initial stack pointer are there, too.
    assert failed(broken.build()) == ["vector_table", "arena", "segments"]


def test_flash_exceeded(project: Make) -> None:
    broken = project("microbit").edit("board.ld", "LENGTH = 262144", "LENGTH = 0x100000")
    broken.add("const int8_t t[300000] = {1}; int32_t extra(int32_t n) { return t[n & 65535]; }")
    broken.build()
    assert failed(broken) == ["sections_fit"]
    assert "largest: t 300000" in report(broken).check("sections_fit").found


def test_ram_exceeded(project: Make) -> None:
    broken = project("microbit").edit("board.ld", "LENGTH = 16384", "LENGTH = 32768")
    broken.add("int8_t t[20000]; int32_t extra(int32_t n) { return t[n & 4095]++; }")
    # The stack and the initial stack pointer are above it.
    assert failed(broken.build()) == ["vector_table", "sections_fit"]


def test_stack_reserve_too_small(project: Make) -> None:
    broken = project()
    broken.edit("board.ld", f". += {broken.board.stack_bytes}", ". += 1024")
    assert failed(broken.build()) == ["layout", "sections_fit"]


def test_malloc_linked(project: Make) -> None:
    broken = project().add(
        "#include <stdlib.h>\n"
        "static char pool[64]; void* _sbrk(int n) { return pool + n; }\n"
        "int32_t extra(int32_t n) { char* p = malloc((size_t)n); p[0] = 1; free(p); return p[0]; }"
    )
    broken.libraries = ["--specs=nosys.specs", "-lc", "-lgcc"]
    assert failed(broken.build()) == ["heap"]


def test_malloc_of_the_users_own(project: Make) -> None:
    broken = project().add(
        "void* malloc(unsigned n); static char pool[64];\n"
        "__attribute__((noinline)) void* malloc(unsigned n) { return pool + n; }\n"
        "int32_t extra(int32_t n) { return *(volatile char*)malloc((unsigned)n); }"
    )
    assert failed(broken.build()) == ["heap"]


def test_libc_linked(project: Make) -> None:
    broken = project().add(
        "#include <string.h>\nextern char names[]; char names[8];\n"
        "int32_t extra(int32_t n) { names[0] = (char)n; return (int32_t)strlen(names); }"
    )
    broken.libraries = ["-lc", "-lgcc"]
    broken.build()
    assert failed(broken) == ["libc"]
    assert report(broken).check("libc").found == "strlen is linked"


@pytest.mark.parametrize("board", ["microbit", "mps2_an386"])
def test_soft_float_linked(project: Make, board: str) -> None:
    broken = project(board).add("int32_t extra(int32_t n) { return (int32_t)((double)n * 1.5); }")
    assert failed(broken.build()) == ["soft_float"]


def test_built_for_another_cpu(project: Make) -> None:
    built = project("mps2_an385").build()
    other = project("mps2_an386")
    other.manifest = replace(other.manifest, board=other.board.to_json())
    other.write()
    assert failed(other, elf=built.elf) == ["built_from", "build_attributes"]


def test_kernel_that_nothing_calls(project: Make) -> None:
    broken = project().add(
        "int32_t mg_softmax_s8(int32_t n);\n"
        "__attribute__((noinline)) int32_t mg_softmax_s8(int32_t n) { return n * n; }\n"
        "int32_t extra(int32_t n) { return mg_softmax_s8(n); }"
    )
    assert failed(broken.build()) == ["kernels"]


def test_operator_that_nothing_calls(project: Make) -> None:
    broken = project().add(
        "int32_t tvmgen_default_fused_add(int32_t n);\n"
        "__attribute__((noinline)) int32_t tvmgen_default_fused_add(int32_t n) { return n * n; }\n"
        "int32_t extra(int32_t n) { return tvmgen_default_fused_add(n); }"
    )
    assert failed(broken.build()) == ["kernels"]


def test_budgets(project: Make) -> None:
    built = project().build()
    assert failed(built, flash=100) == ["flash_budget"]
    assert failed(built, ram=4000) == ["ram_budget"]
    assert failed(built, ram=40000, flash=40000) == []
    found = report(built, ram=4000).check("ram_budget").found
    assert "largest: stack 4096, tvmgen_default_global_workspace 256" in found


def test_budget_of_the_manifest(project: Make) -> None:
    built = project()
    estimate = replace(built.manifest.estimate, flash_budget=100)
    built.manifest = replace(built.manifest, estimate=estimate)
    assert failed(built.build()) == ["flash_budget"]


def test_file_changed(project: Make) -> None:
    built = project().build()
    (built.root / "main.c").write_text("int main(void) { return 1; }\n")
    assert [c.name for c in verify(built.root).failed] == ["project_files"]
    assert verify(built.root).check("project_files").found == "main.c has changed"


def test_parameters_missing(project: Make) -> None:
    built = project().build()
    (built.root / "model/parameters/default.params").unlink()
    assert failed(built) == ["constants_bytes"]
