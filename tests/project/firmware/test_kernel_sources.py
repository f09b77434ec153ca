"""The generated sources of out-of-line kernels have no other kernels of their headers."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from onnx import TensorProto, helper

import microgen
from microgen.kernels import registry
from microgen.planner.program.kernel_call import KernelCode
from microgen.project.firmware.crt_files import kernel_sources
from tests.support.tools import NEEDS_ARM_GCC

# Each op with a type, its operands, and the kernel that two nodes of it share.
SHARED = [
    ("Div", TensorProto.INT32, 2, "mg_divide_s32"),
    ("Ceil", TensorProto.FLOAT, 1, "mg_ceil_f32"),
    ("Sin", TensorProto.FLOAT, 1, "mg_sin_f32"),
]


def _network(op: str, kind: int, operands: int) -> bytes:
    """Two nodes of an op, of which the second reads the negated result of the first."""
    nodes = [
        helper.make_node(op, ["x", "w"][:operands], ["a"]),
        helper.make_node("Neg", ["a"], ["b"]),
        helper.make_node(op, ["b", "w"][:operands], ["y"]),
    ]
    x, w, y = (helper.make_tensor_value_info(name, kind, [1, 64]) for name in "xwy")
    graph = helper.make_graph(nodes, "g", [x, w][:operands], [y])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])
    return bytes(model.SerializeToString())


def _defined(source: Path) -> set[str]:
    """The functions of a source, compiled as by a firmware that keeps all of an object."""
    made = source.with_suffix(".o")
    core = (
        "-mthumb",
        "-mcpu=cortex-m4",
        "-mfpu=fpv4-sp-d16",
        "-mfloat-abi=hard",
        "-Os",
        "-std=c99",
    )
    crt = source.parents[1]
    strict = ("-Wall", "-Wextra", "-Wconversion", "-Werror")
    command = ("arm-none-eabi-gcc", *core, *strict, f"-I{crt / 'include'}", "-c", source)
    subprocess.run([*command, "-o", made], check=True)
    names = subprocess.run(["arm-none-eabi-nm", made], check=True, capture_output=True, text=True)
    return set(re.findall(r" T (\w+)$", names.stdout, re.MULTILINE))


@NEEDS_ARM_GCC
@pytest.mark.parametrize(("op", "kind", "operands", "shared"), SHARED)
def test_a_project_defines_only_the_kernels_that_it_calls(
    op: str, kind: int, operands: int, shared: str, tmp_path: Path
) -> None:
    (tmp_path / "m.onnx").write_bytes(_network(op, kind, operands))
    microgen.generate(tmp_path / "m.onnx", "mps2_an386", tmp_path / "p", optimize="flash")
    (operators,) = (tmp_path / "p").rglob("default_lib1.c")
    called = set(re.findall(r"\b(mg_\w+)\(", operators.read_text()))
    sources = (tmp_path / "p/crt/kernels").glob("*.c")
    defined = {name for source in sources for name in _defined(source)}
    assert {shared} <= defined <= called


def _code(symbol: str) -> KernelCode:
    (found,) = {k.code for each in registry().values() for k in each if k.code.symbol == symbol}
    return found


def test_kernels_of_a_header_are_named_one_by_one() -> None:
    codes = [_code("mg_ceil_f32"), _code("mg_exp_f32")]
    ((path, text),) = kernel_sources(codes).items()
    assert path == "kernels/unary_f32.c"
    assert text.split("*/\n")[-1] == (
        "#define MG_UNARY_F32_IMPLEMENTATION\n"
        "#define MG_ONLY ,\n"
        "#define MG_ONLY_mg_ceil_f32 ,\n"
        "#define MG_ONLY_mg_exp_f32 ,\n"
        '#include "microgen/unary/unary_f32.h"\n'
    )
