"""The README of crt/ describes the graph executor rightly."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest

from microgen.graph import params_file
from tests.crt import programs
from tests.crt.executor.executor_graphs import CRT, EXECUTOR_SOURCES, SOURCES, Entry, graph
from tests.kernels.conformance.conformance import UNOPTIMIZED
from tests.support.each_compiled import each_compiled
from tests.support.tools import NEEDS_ARM_GCC

README = (CRT / "README.md").read_text()
ROW = (1, 4)
GRAPH = graph(
    [
        ("x", "", [], [Entry(ROW, "float32", 0)]),
        ("p0", "", [], [Entry(ROW, "float32", 1)]),
        ("sum", "add", [(0, 0), (1, 0)], [Entry(ROW, "float32", 2)]),
    ],
    [(2, 0)],
)
OPERATORS = """
static int add(TVMValue *args, int *codes, int count, TVMValue *ret, int *ret_code, void *resource)
{
    const float *a = ((const DLTensor *)args[0].v_handle)->data;
    const float *b = ((const DLTensor *)args[1].v_handle)->data;
    float *y = ((const DLTensor *)args[2].v_handle)->data;
    int i;

    (void)codes;
    (void)ret;
    (void)ret_code;
    (void)resource;
    for (i = 0; i < 4; i++) {
        y[i] = a[i] + b[i];
    }
    return count != 3;
}

static const TVMBackendPackedCFunc functions[] = {add};
static const TVMFuncRegistry registry = {"\\1\\0add\\0", functions};
extern const TVMModule graph_module;
const TVMModule graph_module = {&registry};
"""


def _bytes(name: str, data: bytes, padding: int = 0) -> str:
    """C for an array that begins ``padding`` bytes after an aligned address."""
    values = ",".join(str(byte) for byte in data)
    return f"""
static const struct {{
    char padding[{padding + 8}];
    unsigned char data[{len(data)}];
}} {name}_block __attribute__((aligned(8))) = {{{{0}}, {{{values}}}}};
"""


def _program(folder: Path, names: int, padding: int) -> Path:
    """The program of the README's main.c, with a parameter whose name has ``names`` bytes."""
    (source,) = re.findall(r"^```C\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
    name = "p" * names
    GRAPH["nodes"][1]["name"] = name
    text = json.dumps(GRAPH).encode()
    params = params_file.dumps({name: np.full(ROW, 10, np.float32)})
    source = source.replace("extern const char graph_json[];\n", "")
    source = source.replace("extern const char graph_params[];\n", "")
    (folder / "main.c").write_text(
        '#include "tvm/runtime/crt/graph_executor.h"\n'
        f"{_bytes('json', text)}{_bytes('params', params, padding)}"
        f"static const char *const graph_json = (const char *)json_block.data;\n"
        f"static const char *const graph_params = (const char *)params_block.data;\n"
        f"extern const size_t graph_json_bytes;\nconst size_t graph_json_bytes = {len(text)};\n"
        "extern const uint32_t graph_params_bytes;\n"
        f"const uint32_t graph_params_bytes = {len(params)};\n{OPERATORS}{source}"
    )
    platform = CRT / "src" / "platform/platform_posix.c"
    sources = (folder / "main.c", *EXECUTOR_SOURCES, platform)
    return programs.linked(folder / "main", sources, UNOPTIMIZED)


@pytest.mark.parametrize("names", [2, 5])
def test_its_program_runs_in_exactly_its_pool(names: int, tmp_path: Path) -> None:
    # The README says that (address + bytes of names) % 8 == 0, so that no parameter needs memory.
    binary = _program(tmp_path, names, -names % 8)
    done = subprocess.run([binary], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (0, "14\n"), done.stderr


def test_a_parameter_elsewhere_does_not_fit(tmp_path: Path) -> None:
    done = subprocess.run([_program(tmp_path, 2, 1)], timeout=60, check=False)
    assert done.returncode == 1


@NEEDS_ARM_GCC
def test_its_sizes(tmp_path: Path) -> None:
    numbers = re.search(
        r"executor (\d+) \(once\), node (\d+), entry (\d+) and\s+4 .*storage (\d+),", README
    )
    assert numbers
    types = ("TVMGraphExecutor", "TVMGraphExecutorNode", "DLTensor", "TVMGraphExecutorStorage")
    checks = "".join(
        f"extern char t{i}[sizeof({name}) == {size} ? 1 : -1];\n"
        for i, (name, size) in enumerate(zip(types, numbers.groups(), strict=True))
    )
    (tmp_path / "sizes.c").write_text(f'#include "tvm/runtime/crt/graph_executor.h"\n{checks}')
    gcc = ("arm-none-eabi-gcc", "-mthumb", "-mcpu=cortex-m4", "-std=c99", "-Os", *programs.INCLUDES)
    _, *objects = each_compiled(gcc, (tmp_path / "sizes.c", *SOURCES), tmp_path)
    listing = subprocess.run(
        ["arm-none-eabi-size", *objects], cwd=tmp_path, capture_output=True, text=True, check=True
    ).stdout
    rows = [[int(word) for word in line.split()[:3]] for line in listing.splitlines()[1:]]
    text, data, bss = (sum(column) for column in zip(*rows, strict=True))
    limit = re.search(r"all of the files are under ([\d.]+) KB, (\d+) bytes of them RAM", README)
    assert limit
    assert text <= float(limit[1]) * 1000
    assert data + bss == int(limit[2])
