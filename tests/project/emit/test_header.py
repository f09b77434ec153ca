"""The model's header: macros with facts about inputs and outputs, and inline helpers."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import numpy as np
import pytest

import microgen
from microgen import planner
from microgen.graph.ir.graph import Array, ArrayType, DType, Graph, Node, Origin, Quant
from microgen.graph.ops.base import Operands
from microgen.graph.ops.moves import views
from microgen.graph.ops.quantization import conversions
from microgen.project.emit.model import emit
from microgen.project.emit.unit import EmitOptions, Unit
from tests.support.compiling import program_of
from tests.support.places import SMALL
from tests.support.tools import NEEDS_ARM_GCC, NEEDS_CC, NEEDS_CXX

HOST = "model/codegen/host"
PATH = f"{HOST}/include/tvmgen_default.h"
WARNINGS = ["-Wall", "-Wextra", "-pedantic", "-Wconversion", "-Wshadow", "-Wundef", "-Wcast-qual"]
WARNINGS += ["-Wdouble-promotion", "-Wfloat-equal", "-Werror"]
OF_C = ["-std=c99", "-Wstrict-prototypes", "-Wmissing-prototypes"]

INT8 = ArrayType((1, 4), DType.INT8, Quant((0.1,), (-7,)))
INT16 = ArrayType((6,), DType.INT16, Quant((0.003,), (0,)))
INT32 = ArrayType((2, 3), DType.INT32, Quant((1e-6,), (0,)))
SCALAR = ArrayType((), DType.FLOAT32)
UINT8 = ArrayType((3,), DType.UINT8, Quant((0.1,), (200,)))
TYPES = {"a": INT8, "b": INT16, "c": INT32, "s": SCALAR, "f": ArrayType((2,), DType.BOOL)}
TYPES["u"] = UINT8


def _header(interface: str = "c") -> str:
    """The header of a network that copies each input to an output."""
    types = TYPES | {f"{name}_out": kind for name, kind in TYPES.items()}
    nodes = tuple(
        Node("copy", (name,), (f"{name}_out",), views.CopyAttrs(), Origin("m", name))
        for name in TYPES
    )
    program = program_of(
        Graph("m", tuple(TYPES), tuple(f"{n}_out" for n in TYPES), nodes, types, {})
    )
    unit = Unit(program, planner.plan(program), EmitOptions("m.tflite", interface=interface))
    return emit(unit).files[PATH].decode()


def _written(folder: Path, text: str, name: str = "own.c") -> Path:
    (folder / "tvmgen_default.h").write_text(_header())
    (folder / name).write_text(f'#include "tvmgen_default.h"\n{text}')
    return folder / name


def _defined(header: str) -> dict[str, str]:
    return dict(re.findall(r"^#define TVMGEN_DEFAULT_(\w+) (.+)$", header, re.MULTILINE))


@pytest.mark.parametrize("interface", ["c", "packed"])
def test_what_a_program_must_know_of_a_port_is_a_macro(interface: str) -> None:
    found = _defined(_header(interface))
    assert found["A_SIZE"] == found["A_COUNT"] == "4"
    assert (found["A_TYPE"], found["A_RANK"], found["A_SHAPE"]) == ("int8_t", "2", "{1, 4}")
    assert (found["A_SCALE"], found["A_ZERO_POINT"]) == ("0.1F", "(-7)")
    assert (found["B_SIZE"], found["B_COUNT"], found["B_TYPE"]) == ("12", "6", "int16_t")
    assert (found["OUTPUT2_TYPE"], found["OUTPUT2_SHAPE"]) == ("int32_t", "{2, 3}")
    assert (found["S_TYPE"], found["S_RANK"], found["S_COUNT"]) == ("float", "0", "1")
    assert found["F_TYPE"] == "uint8_t"
    assert (found["U_TYPE"], found["U_SCALE"], found["U_ZERO_POINT"]) == ("uint8_t", "0.1F", "200")
    assert not {"S_SHAPE", "S_SCALE", "S_ZERO_POINT", "F_SCALE"} & found.keys()


@NEEDS_CC
def test_the_header_compiles_by_itself_without_a_warning(tmp_path: Path) -> None:
    own = _written(tmp_path, "extern int nothing;\n")
    subprocess.run(
        ["cc", *OF_C, *WARNINGS, "-Wunused-function", "-c", own], check=True, cwd=tmp_path
    )


@NEEDS_CXX
@pytest.mark.parametrize("standard", ["c++11", "c++17"])
def test_the_header_is_cpp_too(standard: str, tmp_path: Path) -> None:
    text = "int8_t element(float x) { return tvmgen_default_quantize_a(x); }\n"
    own = _written(tmp_path, text, "own.cc")
    subprocess.run(["g++", f"-std={standard}", *WARNINGS, "-c", own], check=True, cwd=tmp_path)


USES = """
#include <stdio.h>
int main(void)
{
    static const TVMGEN_DEFAULT_A_TYPE in[TVMGEN_DEFAULT_A_COUNT] = {1, 2, 3, 4};
    static TVMGEN_DEFAULT_OUTPUT0_TYPE out[TVMGEN_DEFAULT_OUTPUT0_COUNT];
    static const int32_t shape[TVMGEN_DEFAULT_C_RANK] = TVMGEN_DEFAULT_C_SHAPE;
    struct tvmgen_default_inputs inputs;
    struct tvmgen_default_outputs outputs;

    tvmgen_default_set_a(&inputs, in);
    tvmgen_default_set_output0(&outputs, out);
    tvmgen_default_get_output0(&outputs)[3] = 5;
    printf("%d %d %d", tvmgen_default_get_a(&inputs)[1], out[3], (int)shape[1]);
    return 0;
}
"""


@NEEDS_CC
def test_pointers_are_set_and_read_with_their_types(tmp_path: Path) -> None:
    own = _written(tmp_path, USES)
    subprocess.run(["cc", *OF_C, *WARNINGS, own, "-o", "own"], check=True, cwd=tmp_path)
    done = subprocess.run([tmp_path / "own"], capture_output=True, text=True, check=True)
    assert done.stdout == "2 5 3"


@NEEDS_CC
@pytest.mark.parametrize(("ctype", "compiles"), [("int8_t", True), ("int16_t", False)])
def test_a_pointer_of_another_type_is_a_warning(ctype: str, compiles: bool, tmp_path: Path) -> None:
    """TVM's ``void *`` accepts any pointer."""
    text = (
        f"void f(struct tvmgen_default_inputs *i, {ctype} *d) {{ tvmgen_default_set_a(i, d); }}\n"
    )
    own = _written(tmp_path, text)
    command = ["cc", "-std=c99", "-Wall", "-Werror", "-c", own]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)
    assert (done.returncode == 0) is compiles


def _values(kind: ArrayType) -> Array:
    """Halves and their neighbours, the ends of the range, infinities and NaN."""
    low, high = np.iinfo(kind.dtype.numpy).min, np.iinfo(kind.dtype.numpy).max
    steps = np.arange(-300, 300, 0.5)
    ends = [edge + off for edge in (low, high) for off in (-1, -0.5, 0, 0.5, 1)]
    scaled = np.float32(kind.scale) * np.concatenate([steps, ends, [0.49999997, -0.49999997]])
    plain = scaled.astype(np.float32)
    near = [np.nextafter(plain, np.float32(end)) for end in (-np.inf, np.inf)]
    odd = np.array([np.inf, -np.inf, np.nan, 3e38, -3e38, 1e-45, 0.0, -0.0], np.float32)
    return np.concatenate([plain, *near, odd]).astype(np.float32)


CONVERT = """
#include <stdio.h>
int main(void)
{{
    float value;
    while (fread(&value, sizeof(value), 1, stdin) == 1) {{
        const {ctype} element = tvmgen_default_quantize_{port}(value);
        const float back = tvmgen_default_dequantize_{port}(element);
        (void)fwrite(&element, sizeof(element), 1, stdout);
        (void)fwrite(&back, sizeof(back), 1, stderr);
    }}
    return 0;
}}
"""


@NEEDS_CC
@pytest.mark.parametrize("port", ["a", "b", "c", "u"])
def test_helpers_compute_what_a_quantize_operator_does(port: str, tmp_path: Path) -> None:
    kind = TYPES[port]
    text = CONVERT.format(ctype=f"{kind.dtype.value}_t", port=port)
    own = _written(tmp_path, text)
    flags = ["-fsanitize=undefined", "-fno-sanitize-recover=all", "-ffp-contract=off"]
    subprocess.run(["cc", "-std=c99", *flags, own, "-o", "own"], check=True, cwd=tmp_path)
    values = _values(kind)
    done = subprocess.run(
        [tmp_path / "own"], input=values.tobytes(), capture_output=True, check=True
    )
    found = np.frombuffer(done.stdout, kind.dtype.numpy)
    real = ArrayType(values.shape, DType.FLOAT32)
    stored = ArrayType(values.shape, kind.dtype, kind.quant)
    operands = Operands((values,), (real,), (stored,))
    (expected,) = conversions.quantize_reference(conversions.QuantizeAttrs(), operands)
    np.testing.assert_array_equal(found, expected)
    back = (found.astype(np.float32) - np.float32(kind.zero_point)) * np.float32(kind.scale)
    np.testing.assert_array_equal(np.frombuffer(done.stderr, np.float32), back)


@NEEDS_ARM_GCC
@pytest.mark.parametrize(("use", "needs_floats"), [("", False), ("quantize_a(1.5F)", True)])
def test_only_who_calls_a_helper_needs_floating_point(
    use: str, needs_floats: bool, tmp_path: Path
) -> None:
    value = f"tvmgen_default_{use}" if use else "0"
    text = f"int8_t f(float x) {{ (void)x; return {value.replace('1.5F', 'x')}; }}\n"
    own = _written(tmp_path, text)
    flags = ["-mcpu=cortex-m0", "-mthumb", "-O0", "-c", "-o", "own.o"]
    subprocess.run(["arm-none-eabi-gcc", *flags, own], check=True, cwd=tmp_path)
    listing = ["arm-none-eabi-nm", "own.o"]
    done = subprocess.run(listing, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert ("__aeabi_f" in done.stdout) is needs_floats


@NEEDS_CXX
@pytest.mark.parametrize("options", [{"interface": "packed"}, {"executor": "graph"}, {}])
def test_every_header_is_cpp_and_names_are_cs(options: dict[str, str], tmp_path: Path) -> None:
    microgen.generate(SMALL, "native", tmp_path / "p", **options)
    folders = [
        f"-Ip/{path}" for path in (f"{HOST}/include", f"{HOST}/src", "crt/include", "crt/src")
    ]
    for header in sorted((tmp_path / "p" / HOST).rglob("*.h")):
        declares = not header.name.endswith("_note.h")
        assert ('extern "C" {' in header.read_text()) is declares
        (tmp_path / "own.cc").write_text(f'#include "{header.name}"\n')
        command = ["g++", "-std=c++11", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", *folders]
        subprocess.run([*command, "own.cc"], check=True, cwd=tmp_path)
