"""The second names of outputs in C: which there are, and that C and C++ take them."""

from __future__ import annotations

import dataclasses
import subprocess
from pathlib import Path

import pytest

import microgen
from microgen import planner
from microgen.base.names import cnames
from microgen.project.emit.model import emit
from microgen.project.emit.unit import EmitOptions, Unit
from tests.support.compiling import program_of
from tests.support.graphs import Builder
from tests.support.places import SMALL
from tests.support.tools import NEEDS_CC, NEEDS_CXX

HEADER = "model/codegen/host/include/tvmgen_default.h"


@pytest.mark.parametrize(
    ("names", "fields", "expected"),
    [
        (("Identity_int8",), ("output",), ("Identity_int8",)),
        (("StatefulPartitionedCall:0",), ("output",), ("StatefulPartitionedCall_0",)),
        (("a/b", "c"), ("output0", "output1"), ("a_b", "c")),
        (("output",), ("output",), ("",)),
        # Two outputs would have one name.
        (("a:0", "a/0", "b"), ("output0", "output1", "output2"), ("", "", "b")),
        # The field of the other output.
        (("output1", "x"), ("output0", "output1"), ("", "x")),
        # Not identifiers, or those of C, of its library and of the runner.
        (("1", "int", "_x"), ("output0", "output1", "output2"), ("", "", "")),
        (("", "NULL", "status"), ("output0", "output1", "output2"), ("", "", "")),
        # Longer than compilers tell apart.
        (("a" * 129, "b" * 128), ("output0", "output1"), ("", "b" * 128)),
    ],
)
def test_an_output_has_tvms_name_if_it_is_one_of_its_own(
    names: tuple[str, ...], fields: tuple[str, ...], expected: tuple[str, ...]
) -> None:
    found = cnames.aliases([(name,) for name in names], fields)
    assert found == tuple((name,) if name else () for name in expected)


def test_a_port_may_have_several_second_names() -> None:
    assert cnames.aliases((), ("output0", "output1")) == ((), ())
    names = (("serving:0", "x", "serving/0"), ("x", "y"))
    assert cnames.aliases(names, ("a", "b")) == (("serving_0",), ("y",))


def test_a_long_name_is_a_shorter_field() -> None:
    one, other = cnames.field(f"{'a' * 10_000}1"), cnames.field(f"{'a' * 10_000}2")
    assert (len(one), one[:80]) == (97, "a" * 80)
    assert one != other
    assert cnames.field("a" * 128) == "a" * 128


def header(*names: str) -> str:
    """The header of a model whose outputs TVM's frontend would call these names."""
    b = Builder()
    first = b.conv(b.input(1, 4, 4, 2), 2)
    program = program_of(b.graph(*(b.conv(first, 2) for _ in names)))
    fields = [port.name for port in program.outputs]
    second = cnames.aliases([(name,) for name in names], fields)
    outputs = [
        dataclasses.replace(port, second_names=own)
        for port, own in zip(program.outputs, second, strict=True)
    ]
    program = dataclasses.replace(program, outputs=tuple(outputs))
    return emit(Unit(program, planner.plan(program), EmitOptions("m"))).files[HEADER].decode()


def macros(text: str) -> list[str]:
    lines = [line.split() for line in text.splitlines() if line.startswith("#define TVMGEN")]
    return [words[1] for words in lines]


def test_a_size_has_both_names() -> None:
    text = header("Identity", "Identity_1")
    assert "#define TVMGEN_DEFAULT_IDENTITY_SIZE TVMGEN_DEFAULT_OUTPUT0_SIZE\n" in text
    assert "#define TVMGEN_DEFAULT_IDENTITY_1_SIZE TVMGEN_DEFAULT_OUTPUT1_SIZE\n" in text


@pytest.mark.parametrize("names", [("workspace", "x"), ("a", "A"), ("input0", "OUTPUT1")])
def test_no_macro_is_defined_twice(names: tuple[str, str]) -> None:
    """The field is there all the same: only macros are in upper case."""
    text = header(*names)
    assert len(macros(text)) == len(set(macros(text)))
    assert all(f"        void *{name}; /* the same pointer" in text for name in names)


def test_only_models_from_tflite_have_them(tmp_path: Path) -> None:
    (tmp_path / "m.relay").write_text(
        '#[version = "0.0.5"]\ndef @main(%x: Tensor[(1, 8), float32]) {\n  nn.relu(%x)\n}\n'
    )
    of_relay = microgen.compile_model(tmp_path / "m.relay", "native").files.files[HEADER]
    of_tflite = microgen.compile_model(SMALL, "native").files.files[HEADER]
    assert b"union" not in of_relay
    assert b"__extension__" not in of_relay
    assert b"        void *probabilities; /* the same pointer" in of_tflite


FIELDS = """
#include "tvmgen_default.h"
static int8_t a[2], b[2];
struct tvmgen_default_outputs by_name = {.Identity = a, .Identity_1 = b};
struct tvmgen_default_outputs by_number = {.output0 = a, .output1 = b};
"""
PLACES = """
#include "tvmgen_default.h"
static int8_t a[2], b[2];
struct tvmgen_default_outputs by_place = {%s};
typedef char same_size[sizeof(by_place) == 2 * sizeof(void *) ? 1 : -1];
"""
STRICT = ("-pedantic", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-fsyntax-only")


def compiles(folder: Path, source: str, *command: str, names: str = "Identity Identity_1") -> None:
    (folder / "tvmgen_default.h").write_text(header(*names.split()))
    (folder / "x.c").write_text(source)
    subprocess.run([*command, *STRICT, "x.c"], cwd=folder, check=True)


@NEEDS_CC
@pytest.mark.parametrize("standard", ["c99", "c11", "gnu99"])
def test_c_takes_both_names(standard: str, tmp_path: Path) -> None:
    compiles(tmp_path, FIELDS, "cc", f"-std={standard}")
    compiles(tmp_path, PLACES % "{a}, {b}", "cc", f"-std={standard}")


@NEEDS_CC
def test_without_second_names_the_structure_is_tvms(tmp_path: Path) -> None:
    source = PLACES % "a, b"
    compiles(tmp_path, source, "cc", "-std=c99", "-DMICROGEN_NO_OUTPUT_ALIASES")
    with pytest.raises(subprocess.CalledProcessError):
        compiles(tmp_path, FIELDS, "cc", "-std=c99", "-DMICROGEN_NO_OUTPUT_ALIASES")


@NEEDS_CXX
@pytest.mark.parametrize("standard", ["c++11", "c++17", "c++20"])
def test_cpp_takes_both_names(standard: str, tmp_path: Path) -> None:
    command = ("g++", "-x", "c++", f"-std={standard}")
    compiles(tmp_path, PLACES % "{a}, {b}", *command)
    if standard == "c++20":
        compiles(tmp_path, FIELDS, *command)
