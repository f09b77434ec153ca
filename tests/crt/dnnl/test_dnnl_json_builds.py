"""How the C runtime of dnnl_json compiles, what it links with, and how large it is."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from microgen.tvm.codegens.dnnl import runtime
from microgen.tvm.codegens.json_graph import JSONGraph, JSONNode
from tests.crt import programs
from tests.crt.dnnl.dnnl_json_cases import CRT, sources
from tests.crt.modules.test_module_blob_builds import BUILDS, GIVEN, SIZES, compiled, symbols
from tests.kernels.conformance.conformance import WARNINGS
from tests.support.each_compiled import each_compiled

OWN = sorted(
    {path for path in sources() if re.match(r"dnnl_|runtime_dnnl|decimal_|json_", path.name)}
)
NEEDED = rf"{GIVEN}|__gnu_thumb1_case_\w+|__(addsf3|mulsf3|subsf3|divsf3|\w+sf2|float\w+sf)"


@pytest.mark.sampled(1)
@pytest.mark.parametrize(("target", "option"), BUILDS)
def test_it_compiles_without_a_warning_and_needs_nothing_else(
    target: str, option: str, tmp_path: Path
) -> None:
    objects = compiled(target, option, list(map(str, sources())), tmp_path)
    listing = symbols(target, objects, tmp_path)
    defined = set(re.findall(r" [A-TV-Z] (\w+)", listing))
    undefined = set(re.findall(r" U (\w+)", listing)) - defined
    assert not [name for name in undefined if not re.fullmatch(NEEDED, name)], undefined
    own = symbols(target, [f"{source.stem}.o" for source in OWN], tmp_path)
    assert not re.findall(r" [bBdDC] (\w+)", own), "variables"
    assert not re.findall(r" U (?:\w*[mc]alloc|free|str\w+|printf)$", own, re.MULTILINE)


def test_a_project_gets_what_the_runtime_needs() -> None:
    assert {source.stem for source in OWN} == {
        *("decimal_f32", "json_keys", "json_reader", "json_text", "runtime_dnnl_json"),
        *("dnnl_attrs", "dnnl_check", "dnnl_graph", "dnnl_json", "dnnl_operators", "dnnl_reader"),
    }


def graph(nodes: int, inputs: int, heads: int, constants: int) -> JSONGraph:
    """A graph with these numbers of nodes. It computes nothing sensible."""
    made = [
        JSONNode("const" if i < constants else "kernel", "x", ((1,),), ("float32",))
        for i in range(nodes)
    ]
    made[-1] = JSONNode("kernel", "x", ((1,),), ("float32",), ((0, 0, 0),) * inputs)
    return JSONGraph(None, tuple(made), ((nodes - 1, 0, 0),) * heads)


@pytest.mark.parametrize(
    ("target", "pointer_bytes"),
    [("gcc", 8), ("cortex-m0", 4), ("cortex-m4", 4), ("cortex-m55", 4), ("riscv", 4)],
)
def test_python_knows_what_a_graph_takes(target: str, pointer_bytes: int, tmp_path: Path) -> None:
    checks = [f"IS(pointer, sizeof(void *) == {pointer_bytes}U);"]
    for counts in [(1, 1, 1, 0), (2, 5, 2, 1), (3, 4, 3, 2), (9, 20, 1, 5), (100, 200, 7, 50)]:
        expected = runtime.pool_bytes(graph(*counts), pointer_bytes)
        macro = f"MG_DNNL_POOL_BYTES({', '.join(f'{n}U' for n in counts)})"
        checks.append(f"IS(pool_{counts[0]}, {macro} == {expected}U);")
    text = "\n".join(['#include "dnnl/dnnl_graph.h"', SIZES, *checks, ""])
    (tmp_path / "sizes.c").write_text(text)
    compiled(target, "-O0", ["sizes.c"], tmp_path)
    (tmp_path / "sizes.c").write_text(text.replace(" == ", " != ", 2))
    with pytest.raises(subprocess.CalledProcessError):
        compiled(target, "-O0", ["sizes.c"], tmp_path)


def test_it_is_as_large_as_its_header_says(tmp_path: Path) -> None:
    header = (CRT / "src" / "dnnl/runtime_dnnl_json.h").read_text()
    limit = re.search(r"Code for a Cortex-M4 with FPU \(-Os\): ([\d.]+) KB", header)
    assert limit
    core = ("-mthumb", "-mcpu=cortex-m4", "-mfpu=fpv4-sp-d16", "-mfloat-abi=hard", "-Os")
    command = ("arm-none-eabi-gcc", *core, *WARNINGS, *programs.INCLUDES)
    objects = each_compiled(command, OWN, tmp_path)
    sizes = subprocess.run(
        ["arm-none-eabi-size", *objects],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    rows = [row.split()[:3] for row in sizes.splitlines()[1:]]
    text, data, bss = (sum(map(int, column)) for column in zip(*rows, strict=True))
    assert data == bss == 0
    assert 0.97 * text <= float(limit[1]) * 1000 <= 1.03 * text, text
