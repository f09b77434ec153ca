"""Generated C with several pools: what the caller must provide, and the error if it does not."""

from __future__ import annotations

import re
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from microgen import verifier
from microgen.base.errors import UnsupportedError
from microgen.building import builder
from microgen.graph.ir.graph import Graph, Node
from microgen.graph.ir.interpreter import evaluate
from microgen.graph.ops import registry
from microgen.options import Options
from microgen.running import runner
from tests.support.compiling import by_port, write_project
from tests.support.graphs import Builder, random_graph
from tests.support.tools import NEEDS_NINJA

pytestmark = NEEDS_NINJA
SETTINGS = {
    "two inside": (False, ("a:200", "b:*:align=64")),
    "outside": (False, ("dram:*:external",)),
    "both, with inputs and outputs": (True, ("a:100:align=4", "dram:*:external:align=32")),
    "inside, with inputs and outputs": (True, ("w:500:const:align=32", "v:*:const")),
    "constants outside": (False, ("flash:*:external:const", "dram:300:external", "a:*")),
}


def _inputs(graph: Graph, seed: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    return {
        name: rng.integers(-128, 128, (3, *graph.types[name].shape)).astype(np.int8)
        for name in graph.inputs
    }


@pytest.mark.sampled(1)
@pytest.mark.parametrize("setting", SETTINGS)
def test_random_graphs_compute_what_the_reference_does(setting: str, tmp_path: Path) -> None:
    seed = 1100 + list(SETTINGS).index(setting)
    graph = random_graph(seed)
    planner = ("optimal", "greedy", "on-demand")[seed % 3]
    workspace_io, pools = SETTINGS[setting]
    options = Options(pool=pools, workspace_io=workspace_io, planner=planner)
    program = write_project(graph, tmp_path / "p", options)
    plain = builder.build(tmp_path / "p")
    assert not verifier.verify(tmp_path / "p", elf=plain.elf).failed
    built = builder.build(tmp_path / "p", sanitize=True)
    inputs = _inputs(graph, seed)
    result = runner.run(tmp_path / "p", inputs, elf=built.elf)
    for i in range(3):
        values = evaluate(graph, {name: a[i] for name, a in inputs.items()}, registry())
        for name, expected in by_port(program, graph, values).items():
            assert np.array_equal(result.outputs[name][i], expected)


def _chain() -> Graph:
    """A chain whose two sids, of 32 and 48 bytes, are live at once."""
    b = Builder()
    return b.graph(b.conv(b.conv(b.conv(b.input(1, 4, 4, 2), 2), 3), 2))


# Written as in microTVM's documentation: pools' sizes come from macros, and fields are set by name.
MAIN = """
#include "tvmgen_default.h"
#include <stddef.h>
#include <stdio.h>
#include <string.h>
__attribute__((aligned(16))) static uint8_t sram[TVMGEN_DEFAULT_SRAM_WORKSPACE_POOL_SIZE + 1];
__attribute__((aligned(16))) static uint8_t flash[TVMGEN_DEFAULT_FLASH_CONSTANT_POOL_SIZE] = {
    TVMGEN_DEFAULT_FLASH_CONSTANT_POOL_DATA
};
static int8_t in[TVMGEN_DEFAULT_INPUT0_SIZE], out[TVMGEN_DEFAULT_OUTPUT_SIZE];
int main(void)
{
    struct tvmgen_default_inputs inputs = {.input0 = in};
    struct tvmgen_default_outputs outputs = {.output = out};
    struct tvmgen_default_workspace_pools workspace_pools = {.sram = sram, .flash = flash};
    struct tvmgen_default_workspace_pools none = {.sram = NULL, .flash = flash};
    struct tvmgen_default_workspace_pools odd = {.sram = sram + 1, .flash = flash};
    printf("%d %d %d %d;", (int)tvmgen_default_run(&inputs, &outputs, &workspace_pools),
           tvmgen_default_run(&inputs, &outputs, NULL) != 0,
           tvmgen_default_run(&inputs, &outputs, &none) != 0,
           tvmgen_default_run(&inputs, &outputs, &odd) == 0x0803);
    memset(in, 7, sizeof(in));
    if (tvmgen_default_run(&inputs, &outputs, &workspace_pools) != 0) {
        return 1;
    }
    for (int i = 0; i < TVMGEN_DEFAULT_OUTPUT_SIZE; i++) {
        printf(" %d", out[i]);
    }
    return sram[TVMGEN_DEFAULT_WORKSPACE_SIZE];
}
"""


def own_program(project: Path, text: str) -> str:
    """The output of a caller's own program with the files below model/ and the kernels."""
    host = project / "model" / "codegen" / "host"
    (project / "own.c").write_text(text)
    command = ["cc", "-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", "-o", "own"]
    command += [f"-I{host / 'include'}", f"-I{project / 'crt' / 'include'}"]
    sources = [*sorted((host / "src").glob("*.[cS]")), "own.c"]
    subprocess.run([*command, *map(str, sources)], check=True, cwd=project)
    return subprocess.run(["./own"], capture_output=True, text=True, check=True, cwd=project).stdout


def test_a_program_written_for_microtvm_compiles_and_runs(tmp_path: Path) -> None:
    graph = _chain()
    options = Options(pool=("sram:1K:external", "flash:*:external:const"))
    write_project(graph, tmp_path / "p", options)
    codes, numbers = own_program(tmp_path / "p", MAIN).split(";")
    assert codes == "0 1 1 1"
    sevens = np.full((1, 4, 4, 2), 7, np.int8)
    expected = evaluate(graph, {graph.inputs[0]: sevens}, registry())[graph.outputs[0]]
    assert list(map(int, numbers.split())) == expected.reshape(-1).tolist()


MAPPING = """
#include "tvmgen_default.h"
#include <stddef.h>
#include <stdio.h>
#include <string.h>
__attribute__((aligned(16))) static uint8_t dram[TVMGEN_DEFAULT_DRAM_WORKSPACE_POOL_SIZE];
int main(void)
{
    struct tvmgen_default_workspace_pools pools = {dram}, none = {NULL};
    struct tvmgen_default_inputs inputs = tvmgen_default_map_inputs(&pools);
    struct tvmgen_default_outputs outputs = tvmgen_default_map_outputs(&pools);
    uint8_t *first = inputs.input0, *last = outputs.output;
    memset(first, 0, TVMGEN_DEFAULT_INPUT0_SIZE);
    printf("%d %d %d %d %d", first >= dram && first < dram + sizeof(dram),
           last >= dram && last + TVMGEN_DEFAULT_OUTPUT_SIZE <= dram + sizeof(dram),
           tvmgen_default_map_inputs(NULL).input0 == NULL,
           tvmgen_default_map_outputs(&none).output == NULL, (int)tvmgen_default_run(&pools));
    return 0;
}
"""


def test_inputs_and_outputs_are_mapped_into_the_callers_pool(tmp_path: Path) -> None:
    options = Options(pool=("dram:*:external",), workspace_io=True)
    write_project(_chain(), tmp_path / "p", options)
    assert own_program(tmp_path / "p", MAPPING) == "1 1 1 1 0"


def _text(project: Path, name: str) -> str:
    return next(project.rglob(name)).read_text()


def test_the_header_says_what_the_caller_owes(tmp_path: Path) -> None:
    """TVM v0.14 defines WORKSPACE_SIZE for internal pools, too, so users allocate them twice."""
    declared = ("fast:40", "dram:*:external", "flash:*:external:const")
    write_project(_chain(), tmp_path / "p", Options(pool=declared, planner="on-demand"))
    header = _text(tmp_path / "p", "tvmgen_default.h")
    sizes = {k: int(v) for k, v in re.findall(r"#define TVMGEN_DEFAULT_(\w+) (\d+)$", header, re.M)}
    assert sizes["WORKSPACE_SIZE"] > sizes["DRAM_WORKSPACE_POOL_SIZE"] > 0
    assert "FAST" not in header
    inside = sizes["WORKSPACE_SIZE"] - sizes["DRAM_WORKSPACE_POOL_SIZE"]
    assert (
        f"the caller provides the external pools, whose sizes are below; {inside} bytes" in header
    )
    assert "/* of TVMGEN_DEFAULT_DRAM_WORKSPACE_POOL_SIZE bytes, aligned to 16 */" in header
    data = header.split("FLASH_CONSTANT_POOL_DATA \\\n")[1].split("\n\n")[0]
    assert len(re.findall("0x[0-9a-f]{2}", data)) == sizes["FLASH_CONSTANT_POOL_SIZE"]
    order = ("_INPUT0_SIZE", "_inputs {", "_outputs {", "_workspace_pools {", "_run(")
    macros = ("WORKSPACE_SIZE", "DRAM_WORKSPACE_POOL_SIZE", "FLASH_CONSTANT_POOL_SIZE")
    order += tuple(f"#define TVMGEN_DEFAULT_{name} " for name in macros)
    places = [header.index(text) for text in order]
    assert places == sorted(places)


def test_a_workspace_that_is_linked_in_is_owed_by_nobody(tmp_path: Path) -> None:
    write_project(_chain(), tmp_path / "p", Options(pool=("a:100", "b:*")))
    header = _text(tmp_path / "p", "tvmgen_default.h")
    assert "part of the firmware, the caller provides nothing" in header
    assert "workspace_pools" not in header


def _in_one_line(broken: re.Match[str]) -> str:
    return "(" if broken[0].startswith("(") else ", "


def test_mains_parameters_are_inputs_outputs_pools(tmp_path: Path) -> None:
    """TVM v0.14 swaps a pool and a device if there are two devices, and drops external pools from
    packed interfaces.

    Here the order is always the same, and no pool is dropped.
    """
    declared = ("a:40:external", "b:*:external", "w:*:external:const")
    write_project(_chain(), tmp_path / "p", Options(pool=declared, planner="on-demand"))
    runner_text = re.sub(r"\(\n\s+|,\n\s+", _in_one_line, _text(tmp_path / "p", "default_lib0.c"))
    parameters = "void *input0, void *output, uint8_t *a_0_var, uint8_t *b_1_var"
    assert f"___tvm_main__({parameters}, const uint8_t *w_2_var);" in runner_text
    arguments = "inputs->input0, outputs->output, workspace_pools->a, workspace_pools->b"
    assert f"___tvm_main__({arguments}, workspace_pools->w);" in runner_text


def test_macros_of_one_name_are_refused(tmp_path: Path) -> None:
    graph = _chain()
    renamed = {graph.inputs[0]: "dram_workspace_pool"}
    nodes = tuple(
        n if n.inputs[0] not in renamed else _first_input(n, renamed[n.inputs[0]])
        for n in graph.nodes
    )
    types = {renamed.get(name, name): kind for name, kind in graph.types.items()}
    odd = Graph(graph.name, tuple(renamed.values()), graph.outputs, nodes, types, graph.constants)
    with pytest.raises(UnsupportedError, match="DRAM_WORKSPACE_POOL_SIZE would be defined twice"):
        write_project(odd, tmp_path / "p", Options(pool=("dram:*:external",)))


def _first_input(node: Node, name: str) -> Node:
    return replace(node, inputs=(name, *node.inputs[1:]))
