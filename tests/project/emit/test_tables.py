"""Large tables of bytes in C: rows of strings, which have exactly the table's bytes."""

from __future__ import annotations

import itertools
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import microgen
from microgen.graph.ir.graph import Array
from microgen.planner.program.types import FirmwareConstant, Transform
from microgen.project.emit import floats, literals, tables
from microgen.project.emit.environment import environment
from microgen.project.emit.layout import WIDTH
from tests.support.tflite_builder import OperatorSpec, TensorSpec, build_model
from tests.support.tools import NEEDS_CC, NEEDS_NINJA

_FLAGS = [
    *("-std=c99", "-pedantic", "-Wall", "-Wextra", "-Wconversion"),
    *("-Wc++-compat", "-Wundef", "-Werror"),
]
_COMPILERS = [name for name in ("cc", "clang") if shutil.which(name)]
# Escapes followed by digits, trigraphs, quotes, comments, conversions.
_TEXTS = b"\x00\x30\x07\x37\x001234567??=??/??'\"\\\\ /* */ // %s \n\r\t\x7f\xff0"


def _constant(array: Array, ctype: str) -> FirmwareConstant:
    transform = Transform("identity", ("p0",), ())
    return FirmwareConstant("p0", ctype, array, transform, "layer", "weight")


def _bytes(nbytes: int) -> Array:
    """All values after all values, then random ones with texts in between."""
    rng = np.random.default_rng(nbytes)
    pairs = np.array(list(itertools.product(range(256), repeat=2)), np.uint8).reshape(-1)
    found = np.concatenate([pairs, rng.integers(0, 256, nbytes, np.uint8)])[:nbytes].copy()
    for _ in range(200):
        start = int(rng.integers(0, nbytes - len(_TEXTS)))
        found[start : start + len(_TEXTS)] = np.frombuffer(_TEXTS, np.uint8)
    for row in range(tables.ROW, nbytes - 8, tables.ROW):
        found[row - 2 : row + 2] = np.frombuffer(b"\x01??=", np.uint8)
    return found


def _text(constants: dict[str, FirmwareConstant]) -> str:
    """The header and the source of these tables."""
    values = [
        {
            "symbol": name,
            "fields": tables.fields(constant),
            "declared": tables.declared(constant, name),
            "defined": f"{tables.declared(constant, name)} = {{",
            "comment": "/* a table */",
            "initialisers": tables.Initialisers(constant),
        }
        for name, constant in constants.items()
    ]
    data = {
        "constants": values,
        "has_rows": True,
        "pools": [],
        "alignment": 4,
        "module": "m",
        "prefix": "tvmgen_m",
        "model": "m",
        "guard": "M_H_",
        "note": "note.h",
    }
    templates = environment("project/model/codegen/host")
    header = templates.get_template("src/params.h.j2").render(data)
    source = templates.get_template("src/params.c.j2").render(data)
    return header + re.sub("#include .*", "", source)


_SIZES = {
    "one_line_less": tables.LARGE - 1,
    "least": tables.LARGE,
    "whole_rows": 17 * tables.ROW,
    "one_more": 17 * tables.ROW + 1,
    "whole_lines": 17 * tables.ROW + 3 * 28,
    "lines_and_rest": 18 * tables.ROW - 1,
}


@NEEDS_CC
@pytest.mark.parametrize("compiler", _COMPILERS)
def test_compiled_tables_have_exactly_their_bytes(compiler: str, tmp_path: Path) -> None:
    constants = {name: _constant(_bytes(size), "uint8_t") for name, size in _SIZES.items()}
    constants |= {
        f"signed_{name}": _constant(constant.array.view(np.int8), "int8_t")
        for name, constant in constants.items()
    }
    main = "".join(
        f"    (void)fwrite({tables.address(constant, name)}, 1U, sizeof {name}, stdout);\n"
        for name, constant in constants.items()
    )
    source = tmp_path / "tables.c"
    text = f"#include <stdio.h>\n{_text(constants)}\nint main(void)\n{{\n{main}    return 0;\n}}\n"
    source.write_text(text)
    command = [compiler, *_FLAGS, "-O1", "-trigraphs", "-o", str(tmp_path / "p"), str(source)]
    subprocess.run(command, check=True)
    found = subprocess.run([tmp_path / "p"], check=True, stdout=subprocess.PIPE).stdout
    assert found == b"".join(constant.array.tobytes() for constant in constants.values())


def test_literals_and_lines_are_within_the_limits_of_c99() -> None:
    text = _text({"t": _constant(_bytes(30 * tables.ROW + 5), "uint8_t")})
    assert max(map(len, text.splitlines())) <= WIDTH
    inside = text[text.index("= {") :]
    literals_of_c = re.sub(r'"\s+"', "", inside)
    lengths = [len(each) // 4 for each in re.findall(r'"([^"]*)"', literals_of_c)]
    assert lengths == [tables.ROW] * 30 + [5]
    assert tables.ROW <= 4095


@pytest.mark.parametrize("ctype", ["int8_t", "uint8_t", "int16_t", "int32_t", "float"])
def test_small_tables_are_arrays_of_numbers(ctype: str) -> None:
    dtype = {"float": "float32"}.get(ctype, ctype.removesuffix("_t"))
    constant = _constant((np.arange(1000) % 100).astype(dtype), ctype)
    assert tables.declared(constant, "t") == f"const {ctype} t[1000]"
    assert tables.address(constant, "t") == "t"
    assert "\n".join(tables.Initialisers(constant)) == literals.table(constant.array, ctype)


@pytest.mark.parametrize("ctype", ["int16_t", "int32_t", "int64_t", "float"])
def test_pieces_of_a_table_are_the_table(ctype: str) -> None:
    rng = np.random.default_rng(0)
    dtype = {"float": "float32"}.get(ctype, ctype.removesuffix("_t"))
    array = rng.integers(-(2**14), 2**14, 100_003).astype(dtype)
    pieces = list(tables.Initialisers(_constant(array, ctype)))
    assert len(pieces) > 1
    assert "\n".join(pieces) == literals.table(array, ctype)


def _one_by_one(values: Array) -> str:
    lines = (values[i : i + 6].tolist() for i in range(0, len(values), 6))
    return "\n".join(
        f"    {', '.join(literals.scalar(float(value)) for value in line)}," for line in lines
    )


def test_floats_are_written_as_one_by_one() -> None:
    rng = np.random.default_rng(0)
    bits = rng.integers(0, 2**32, 20_000, np.uint32).view(np.float32)
    limits = np.finfo(np.float32)
    special = [0.0, -0.0, 1, -1, 0.5, limits.max, limits.min, limits.tiny, 1e-45, -1e-45, 1e-40]
    values = np.concatenate([np.float32(special), bits[np.isfinite(bits)]])
    assert floats.lines(values, 6) == _one_by_one(values)
    for count in range(1, 14):
        assert literals.table(values[:count], "float") == _one_by_one(values[:count])


def test_floats_without_a_literal_are_quotients() -> None:
    values = np.float32([1, np.inf, -np.inf, np.nan])
    text = "    0x1.0p+0F, (1.0F / 0.0F), (-1.0F / 0.0F), (0.0F / 0.0F),"
    assert literals.table(values, "float") == text


def _dense() -> bytes:
    rng = np.random.default_rng(0)
    stored = {"scale": (0.05,), "zero_point": (0,)}
    weight = rng.integers(-127, 128, (260, 260)).astype(np.int8)
    tensors = [
        TensorSpec("x", (1, 260), **stored),
        TensorSpec("w", weight.shape, data=weight, scale=(0.001,), zero_point=(0,)),
        TensorSpec("y", (1, 260), **stored),
    ]
    dense = OperatorSpec("FULLY_CONNECTED", ["x", "w"], ["y"], "FullyConnectedOptions")
    return build_model(tensors, [dense], ["x"], ["y"])


@NEEDS_NINJA
@pytest.mark.parametrize("interface", ["c", "packed"])
def test_a_firmware_with_rows_is_verified(interface: str, tmp_path: Path) -> None:
    model, project = tmp_path / "m.tflite", tmp_path / "p"
    model.write_bytes(_dense())
    microgen.generate(model, "native", project, interface=interface)
    source = next(project.rglob("default_params.c"))
    text = source.read_text()
    assert "const struct tvmgen_default_y_weight_rows tvmgen_default_y_weight = {" in text
    microgen.build(project)
    assert microgen.verify(project).ok
    x = np.random.default_rng(1).integers(-128, 128, (1, 260)).astype(np.int8)
    assert microgen.run(project, {"x": x}, compare=True).verdicts[0].ok
    # A byte of a string that differs from the model's is found.
    byte = text[text.index('    "\\') + 5 :][:4]
    source.write_text(text.replace(byte, "\\002" if byte == "\\001" else "\\001", 1))
    microgen.build(project)
    failed = {check.name for check in microgen.verify(project).checks if check.status == "failed"}
    assert "constants_bytes" in failed
