"""The defects of TVM v0.14, numbered as in docs/reference/tvm-parity.md: microgen has none."""

from __future__ import annotations

import dataclasses
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from microgen import relay
from microgen.base import resources
from microgen.base.errors import MicrogenError
from microgen.base.names import tvm_names
from microgen.options import Options
from microgen.planner import plan
from microgen.planner.program.plan import Pool
from microgen.project.firmware import conventions
from microgen.project.firmware.compiled import Compiled
from microgen.relay import Function, blob
from microgen.relay.blob import LIBRARY, Module
from microgen.tvm.mlf import metadata
from tests.aot.native import CRT, compiled
from tests.devices import sequences, stubs
from tests.devices.networks import BOTH, chain
from tests.planner import builder as programs
from tests.support.compiling import program_of
from tests.support.tools import NEEDS_NINJA

HOST = "model/codegen/host"
A = relay.var("a", shape=(5, 7))
TWO = Function([A], relay.tanh(relay.exp(A)))


def _text(made: Compiled, name: str) -> str:
    return made.files.files[f"{HOST}/{name}"].decode()


def _header(made: Compiled) -> str:
    return _text(made, f"include/tvmgen_{made.program.module}.h")


@NEEDS_NINJA
def test_01_upper_case_in_a_modules_name(tmp_path: Path) -> None:
    compiled(TWO, name="MyModel").files.write_to(tmp_path)
    flags = ["-std=c99", "-Werror", f"-I{tmp_path / HOST / 'include'}", f"-I{CRT / 'include'}"]
    sources = map(str, (tmp_path / HOST / "src").glob("*.c"))
    subprocess.run(["cc", *flags, "-fsyntax-only", *sources], check=True)
    for name in ("my-model", "my.model"):
        with pytest.raises(MicrogenError, match=re.escape(name)):
            Options(name=name)


def test_02_digits_in_the_names_of_hooks() -> None:
    program = program_of(chain("npu0", "npu1"), Options(targets=BOTH))
    assert len({d.activate for d in program.devices}) == 2
    assert tvm_names.to_c_function_style("TVM_Device_npu0_Open") == "TVMDeviceNpu0Open"


@NEEDS_NINJA
def test_03_an_error_between_the_hooks(tmp_path: Path) -> None:
    """The operator, which is the fourth call, fails."""
    program = stubs.fallible(program_of(chain("npu0", "npu1"), Options(targets=BOTH)))
    called, status = stubs.run(stubs.build(program, tmp_path), {4: 7})
    assert status == 7
    hooks = [call.split()[-1] for call in sequences.hooks(called)]
    assert hooks == ["Activate", "Activate", "Open", "Close", "Deactivate", "Deactivate"]


def test_04_devices_after_a_target_that_is_none() -> None:
    targets = ("npu0:device-api", "dsp", "npu1:device-api")
    program = program_of(chain("npu0", "dsp", "npu1"), Options(targets=targets))
    assert [d.name for d in program.devices] == ["npu0", "npu1"]


def test_05_unpacked_operators_in_the_registry() -> None:
    half = compiled(TWO, "packed entry, unpacked operators")
    assert "_fused_" not in _text(half, "src/default_registry.c")
    whole = _text(compiled(TWO, "packed"), "src/default_registry.c")
    assert "tvmgen_default_fused_exp," in whole
    assert "(TVMBackendPackedCFunc)" not in whole


def _preprocessed(option: str) -> str:
    command = ["cc", "-E", "-P", option, f"-I{CRT / 'include'}", str(CRT / "src/stack_allocator.c")]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


@NEEDS_NINJA
def test_06_the_macro_that_turns_the_allocators_check_on() -> None:
    """TVM's template has FIFO in its name, its code LIFO. Both work here."""
    name = "TVM_CRT_STACK_ALLOCATOR_ENABLE_{}_CHECK"
    on = {_preprocessed(f"-D{name.format(kind)}") for kind in ("FIFO", "LIFO")}
    assert len(on) == 1
    assert on != {_preprocessed(f"-D{name.format('NO')}")}


_ALLOCATOR = """
#include "tvm/runtime/crt/stack_allocator.h"
int main(void)
{
    static uint8_t memory[256];
    tvm_workspace_t space;
    void *a, *b, *c;
    int failed = StackMemoryManager_Init(&space, memory, sizeof memory) != 0;
    failed |= StackMemoryManager_Allocate_Body(&space, 5, &a, 1) != 0;
    failed |= StackMemoryManager_Allocate_Body(&space, 5, &b, 1) != 0;
    failed |= ((uintptr_t)a | (uintptr_t)b) % 16 != 0;
    failed |= StackMemoryManager_Allocate_Body(&space, SIZE_MAX, &c, 1) == 0;
    failed |= StackMemoryManager_Allocate_Body(&space, SIZE_MAX - 40, &c, 0) == 0;
    return failed;
}
"""


@NEEDS_NINJA
def test_07_blocks_after_the_allocators_tag_are_aligned_and_sizes_do_not_wrap(
    tmp_path: Path,
) -> None:
    (tmp_path / "a.c").write_text(_ALLOCATOR)
    command = ["cc", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    command += [f"-I{CRT / 'include'}", "-o", str(tmp_path / "a"), str(tmp_path / "a.c")]
    subprocess.run([*command, str(CRT / "src/stack_allocator.c")], check=True)
    subprocess.run([str(tmp_path / "a")], check=True)


def test_08_sizes_of_storage_ids_that_are_used_again() -> None:
    graph = {
        "nodes": [{"op": "null", "name": "x", "inputs": []}]
        + [{"op": "tvm_op", "name": f"f{i}", "inputs": [[i, 0, 0]]} for i in range(3)],
        "arg_nodes": [0],
        "node_row_ptr": [0, 1, 2, 3, 4],
        "attrs": {
            "storage_id": ["list_int", [0, 1, 1, 2]],
            "shape": ["list_shape", [[4], [9], [2], [7]]],
            "dltype": ["list_str", ["int8", "int8", "int8", "int16"]],
        },
    }
    assert [s["size_bytes"] for s in metadata.sids(graph)] == [4, 9, 14]


def test_09_two_targets_of_one_device_type_have_an_entry_each() -> None:
    text = """def @main(%a: Tensor[(5, 7), float32]) { %0 = @f(%a); exp(%0) }
def @f(%y: Tensor[(5, 7), float32], Compiler="dsp", Primitive=1, Inline=1, global_symbol="f")
    -> Tensor[(5, 7), float32] { %0 = exp(%y); tanh(%0) }
"""
    made = compiled(text, targets=("dsp:device-type=1",))
    record = json.loads(made.files.files["model/metadata.json"])["modules"]["default"]
    found = record["memory"]["functions"]["main"]
    assert [(e["target"], e["device"]) for e in found] == [("c -keys=host", 1), ("dsp", 1)]
    assert [e["workspace_size_bytes"] for e in found] == [made.plan.peak, 140]


_HASHES = """
import hashlib, microgen
from microgen import relay
a = relay.var("a", shape=(5, 7))
two = relay.Function([a], relay.tanh(relay.exp(a)))
made = microgen.compile_model(relay.IRModule.from_expr(two), "native", name="x" * 60)
files = made.files.files
print(hashlib.sha256(repr(sorted(files.items())).encode()).hexdigest())
"""


def test_10_equal_models_give_equal_bytes() -> None:
    """Hashes of strings and the time of day differ between the two runs."""
    found = set()
    for seed, zone in (("1", "UTC"), ("2", "Asia/Tokyo")):
        own = {"PYTHONHASHSEED": seed, "TZ": zone, "PYTHONPATH": str(CRT.parent)}
        command = [sys.executable, "-c", _HASHES]
        done = subprocess.run(command, env={**os.environ, **own}, capture_output=True, check=True)
        found.add(done.stdout)
    assert len(found) == 1


def test_11_a_tuple_of_one_output() -> None:
    made = compiled(Function([A], relay.Tuple([relay.exp(A)])))
    assert "void *output;" in _header(made)
    assert "outputs->output)" in _text(made, "src/default_lib0.c")


def test_12_a_workspace_that_is_linked_in_is_said_to_be_owed_by_nobody() -> None:
    (comment,) = re.findall(
        r"brief (Workspace size.*)\n.*\n#define \w+ 140\n", _header(compiled(TWO))
    )
    assert "part of the firmware, the caller provides nothing" in comment
    owed = _header(compiled(TWO, pool=("sram:*:external",)))
    assert "#define TVMGEN_DEFAULT_SRAM_WORKSPACE_POOL_SIZE 140\n" in owed
    assert "the caller provides nothing" not in owed


def test_13_too_many_arguments_are_refused_when_a_model_is_generated() -> None:
    inputs = [relay.var(f"x{i}", shape=(2,)) for i in range(10)]
    body = relay.concatenate(inputs, axis=0)
    compiled(Function(inputs, body))
    with pytest.raises(MicrogenError, match=r"11 inputs and outputs.*TVM_CRT_MAX_ARGS"):
        compiled(Function(inputs, body), "packed")


def test_14_hints_without_effect_are_refused_and_offsets_have_their_own_pools_alignment() -> None:
    for hint in ("clock_frequency_hz=1", "read_latency_cycles=1", "target_burst_bytes=4"):
        with pytest.raises(MicrogenError, match="has no effect on any planner"):
            Options(pool=(f"sram:*:{hint}",))
    made = programs.Builder().call(["input"], {"a": 5}).call(["a"], {"b": 5, "c": 100})
    program = made.call(["a", "b", "c"], ["output"]).build()
    planned = plan(program, pools=[Pool("tight", 0, 4, capacity=20), Pool("wide", 0, 64)])
    assert {p.name: p.offset for p in planned.placements} == {"a": 0, "b": 8, "c": 0}


def test_15_constants_of_external_and_native_functions_have_names_of_their_own() -> None:
    text = """def @main(%a: Tensor[(3), float32]) {
  %0 = @f(%a);
  add(%0, meta[relay.Constant][1])
}
def @f(%y: Tensor[(3), float32], Compiler="npu", Primitive=1, Inline=1, global_symbol="f")
    -> Tensor[(3), float32] { add(%y, meta[relay.Constant][0]) }
"""
    arrays = {f"relay.Constant.{i}": np.full(3, i, np.float32) for i in range(2)}
    made = compiled(relay.parse(text, "t.relay", arrays), targets=("npu",))
    assert [c.array[0] for c in made.program.constants] == [0, 1]
    assert len({c.name for c in made.program.constants}) == 2


def test_16_no_blob_counts_modules_that_are_not_in_it() -> None:
    """A module that cannot be in a blob is refused. If no module needs a blob, there is none."""
    counted = Module("const_loader", b"", (Module(LIBRARY), Module("cuda")))
    with pytest.raises(MicrogenError, match=r"\('cuda'\) is neither compiled in nor has a payload"):
        blob.dumps(counted)
    made = compiled(TWO)
    assert made.get_external_modules() == ()
    assert not [name for name, text in made.files.files.items() if b"__tvm_dev_mblob" in text]


def test_17_a_packed_entry_point_drops_neither_pools_nor_devices() -> None:
    for unpacked in (True, False):
        with pytest.raises(MicrogenError, match="no place for a caller's pools"):
            Options(interface="packed", unpacked_api=unpacked, pool=("sram:*:external",))
        options = Options(interface="packed", unpacked_api=unpacked, targets=BOTH)
        with pytest.raises(MicrogenError, match="contexts of devices"):
            conventions.check(program_of(chain("npu0"), dataclasses.replace(options)), options)


def test_18_the_platform_formats_nothing_without_a_bound_and_ends_without_the_c_library() -> None:
    for source in sorted(resources.folder("crt").rglob("*.[ch]")):
        assert not re.search(r"\bv?sprintf\b", source.read_text()), source.name
    abort = (CRT / "src" / "platform/io.c").read_text().partition("void TVMPlatformAbort")[2]
    assert not re.search(r"\b(exit|abort)\(", abort)
    assert "mg_io_print_hex((uint32_t)code)" in abort


def test_19_pools_stand_before_all_devices_everywhere() -> None:
    text = """def @main(%a: Tensor[(3), float32]) {
  %0 = @f(%a);
  @g(%0)
}
"""
    for name, target in (("f", "npu0"), ("g", "npu1")):
        text += (
            f'def @{name}(%y: Tensor[(3), float32], Compiler="{target}", Primitive=1, Inline=1,'
            f' global_symbol="{name}") -> Tensor[(3), float32] {{ exp(%y) }}\n'
        )
    made = compiled(text, targets=BOTH, pool=("sram:*:external",))
    code = re.sub(r"\s+", " ", _text(made, "src/default_lib0.c")).replace("( ", "(")
    (declared,) = set(re.findall(r"int32_t \w+___tvm_main__\(([^)]*)\)", code))
    order = ["a", "output", "sram_0_var", "device_context_npu0", "device_context_npu1"]
    assert re.findall(r"\*(\w+)", declared) == order
    (passed,) = re.findall(r"status = \w+___tvm_main__\(([^)]*)\);", code)
    assert re.findall(r"->(\w+)", passed) == ["a", "output", "sram", "npu0", "npu1"]
