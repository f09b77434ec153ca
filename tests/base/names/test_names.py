"""Names: TVM's rules, legal module names, and tensors with names that C or generated code uses."""

from __future__ import annotations

import dataclasses
import re
import subprocess
from pathlib import Path

import pytest

import microgen
from microgen.base.errors import MicrogenError
from microgen.base.names import cnames, tvm_names
from microgen.building import builder
from microgen.graph.ir.graph import Graph
from microgen.running import runner
from tests.support.compiling import program_of, write_project
from tests.support.graphs import Builder
from tests.support.places import SMALL
from tests.support.tools import NEEDS_CC, NEEDS_CXX, NEEDS_NINJA

LEGAL = ("m", "MyModel", "M2", "a_9", "9a", "int", "a__b", "tvmgen", "x" * 70, "Y" * 96)
STRICT = [
    "-std=c99",
    "-pedantic",
    "-Wall",
    "-Wextra",
    "-Wconversion",
    "-Wshadow",
    "-Wundef",
    "-Werror",
]


@pytest.mark.parametrize(
    ("name", "sane"),
    [("+_+ ", "____"), ("input+", "input_"), ("input++", "input__"), ("woof:1", "woof_1")],
)
def test_names_are_sanitized_character_by_character(name: str, sane: str) -> None:
    assert tvm_names.sanitize_name(name) == sane


def test_names_are_prefixed() -> None:
    assert tvm_names.prefix_name("woof", "Moo", "t") == "TVM_woof_Moo_t"


@pytest.mark.parametrize("segments", [(), ("",), ("a", ""), ("", "a")])
def test_an_empty_segment_is_refused(segments: tuple[str, ...]) -> None:
    with pytest.raises(MicrogenError, match="segment of a name is empty"):
        tvm_names.prefix_name(*segments)
    with pytest.raises(MicrogenError, match="a name is empty"):
        tvm_names.sanitize_name("")


@pytest.mark.parametrize(
    ("name", "function"),
    [
        ("TVM_Woof", "TVMWoof"),
        ("TVM_woof_Woof", "TVMWoofWoof"),
        ("TVMGen_model_Run", "TVMGenModelRun"),
        ("TVM_Device_ethos_u_Activate", "TVMDeviceEthosUActivate"),
        ("TVM_Device_example_target_hook_Open", "TVMDeviceExampleTargetHookOpen"),
        ("TVM_DEVICE_nPU__Open", "TVMDeviceNpuOpen"),
        ("TVM_a-b_c", "TVMAbC"),
    ],
)
def test_functions_are_styled_as_tvm_styles_them(name: str, function: str) -> None:
    assert tvm_names.to_c_function_style(name) == function


def test_hooks_keep_the_digits_that_tvm_drops() -> None:
    hooks = [
        tvm_names.to_c_function_style(tvm_names.prefix_name("Device", kind, "Activate"))
        for kind in ("npu0", "npu1", "8bit_npu")
    ]
    assert hooks == [
        "TVMDeviceNpu0Activate",
        "TVMDeviceNpu1Activate",
        "TVMDevice8BitNpuActivate",
    ]


@pytest.mark.parametrize("name", ["", "Cake_Bakery", "tvm_x"])
def test_a_style_is_of_a_prefixed_name(name: str) -> None:
    with pytest.raises(MicrogenError, match="does not start with TVM"):
        tvm_names.to_c_function_style(name)


@pytest.mark.parametrize(
    "name",
    [
        "",
        "a-b",
        "a.b",
        "a b",
        "été",
        "²",
        "a\0b",
        "a\n",
        "_x",
        "a/b",
        "..",
        "x" * 97,
        "\N{KELVIN SIGN}",
    ],
)
def test_other_module_names_are_refused_with_a_sentence(name: str) -> None:
    with pytest.raises(MicrogenError, match="cannot name a module: expected 1 to 96") as error:
        cnames.module_name(name)
    assert "\n" not in str(error.value)
    assert str(error.value).isprintable()


def test_operator_names_are_cut_and_hashed_the_same_way_everywhere() -> None:
    words = ("nn_conv2d",) * 9
    name = cnames.function_name("tvmgen_default", words)
    whole = "tvmgen_default_fused_" + "_".join(words)
    assert name == f"{whole[:80]}_df0d492cc65ed345_"
    assert name != cnames.function_name("tvmgen_default", (*words, "add"))
    assert cnames.function_name("tvmgen_default", ("add",)) == "tvmgen_default_fused_add"
    assert len(cnames.function_name("tvmgen_" + "x" * 96, words)) < 120


def _sources(project: Path) -> tuple[list[str], list[Path]]:
    """The include flags and the model's C files."""
    host = project / "model/codegen/host"
    return [f"-I{host}/include", f"-I{project}/crt/include"], sorted((host / "src").glob("*.c"))


@NEEDS_CC
@NEEDS_CXX
@pytest.mark.parametrize("name", LEGAL)
def test_any_legal_module_name_compiles_as_c_and_its_header_as_cpp(
    name: str, tmp_path: Path
) -> None:
    microgen.generate(SMALL, "native", tmp_path / "p", name=name)
    flags, files = _sources(tmp_path / "p")
    subprocess.run(["cc", *STRICT, *flags, "-fsyntax-only", *files], check=True)
    use = tmp_path / "use.cc"
    use.write_text(
        f'#include "tvmgen_{name}.h"\n'
        f"struct tvmgen_{name}_inputs in;\nstruct tvmgen_{name}_outputs out;\n"
        f'static_assert(TVMGEN_{name.upper()}_WORKSPACE_SIZE > 0, "");\n'
        f"int32_t go() {{ return tvmgen_{name}_run(&in, &out); }}\n"
    )
    subprocess.run(["g++", "-Wall", "-Werror", *flags, "-fsyntax-only", use], check=True)


@NEEDS_NINJA
def test_upper_case_stays_in_files_structs_and_symbols(tmp_path: Path) -> None:
    """TVM names the header in lower case, and includes it in upper case."""
    microgen.generate(SMALL, "native", tmp_path / "p", name="MyModel")
    elf = builder.build(tmp_path / "p").elf
    symbols = subprocess.run(["nm", elf], capture_output=True, text=True, check=True).stdout
    assert re.search(r" T tvmgen_MyModel_run$", symbols, re.MULTILINE)
    assert re.search(r" T tvmgen_MyModel___tvm_main__$", symbols, re.MULTILINE)
    assert "tvmgen_mymodel" not in symbols
    host = tmp_path / "p/model/codegen/host"
    assert (host / "include/tvmgen_MyModel.h").is_file()
    assert '#include "tvmgen_MyModel.h"' in (host / "src/MyModel_lib0.c").read_text()


def _with_inputs(*names: str) -> Graph:
    """A sum of inputs with those names."""
    b = Builder()
    total = b.input(1, 2, 2, 1)
    for _ in names[1:]:
        total = b.add(total, b.input(1, 2, 2, 1))
    new = dict(zip(b.inputs, names, strict=True))
    graph = b.graph(total)
    nodes = [
        dataclasses.replace(node, inputs=tuple(new.get(i, i) for i in node.inputs))
        for node in graph.nodes
    ]
    types = {new.get(name, name): kind for name, kind in graph.types.items()}
    return dataclasses.replace(graph, inputs=names, nodes=tuple(nodes), types=types)


RESERVED = (
    *("status", "NULL", "NULL_POINTER", "int32_t", "uint8_t", "size_t", "INT8_MAX", "memset"),
    *("inputs", "outputs", "output", "input", "workspace", "Workspace", "default", "class"),
    *("a", "A", "a.b", "a/b", "3d", "p0", "sid_3", "_Bool", "__x", "params", "seconds"),
)


@NEEDS_NINJA
def test_tensors_named_as_c_and_the_runner_name_things_compile_and_run(tmp_path: Path) -> None:
    graph = _with_inputs(*RESERVED)
    program = write_project(graph, tmp_path / "p")
    built = builder.build(tmp_path / "p")
    assert runner.run(tmp_path / "p", None, elf=built.elf).samples == 1
    assert [port.tensor for port in program.inputs] == list(RESERVED)
    header = (tmp_path / "p/model/codegen/host/include/tvmgen_default.h").read_text()
    macros = re.findall(r"#define (\w+_SIZE)\b", header)
    assert len(macros) == len(set(macros)) == len(RESERVED) + 2


@pytest.mark.parametrize("name", ["memory", "input_t", "int8_input_t", "null", "INT8", "x"])
def test_names_that_only_look_reserved_stay(name: str) -> None:
    assert cnames.identifier(name) == name


def test_names_that_differ_in_case_have_macros_of_their_own() -> None:
    program = program_of(_with_inputs("data", "Data", "workspace"))
    assert [port.name for port in program.inputs] == ["data", "Data_1", "workspace_1"]


def test_a_single_output_has_one_name_everywhere(tmp_path: Path) -> None:
    """For a tuple of one field, TVM's header says output0 and its runner says output."""
    microgen.generate(SMALL, "native", tmp_path / "p")
    host = tmp_path / "p/model/codegen/host"
    assert "void *output;" in (host / "include/tvmgen_default.h").read_text()
    assert "outputs->output)" in (host / "src/default_lib0.c").read_text()
    assert '"output": {' in (tmp_path / "p/model/metadata.json").read_text()
