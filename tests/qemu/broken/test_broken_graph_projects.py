"""Breaks generated projects with a graph executor: a check of its own finds each broken promise."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import microgen
from microgen.building import builder
from microgen.graph import params_file
from tests.qemu.broken import broken
from tests.qemu.broken.test_broken_projects import DIGITS, MEMORY, SOURCES, _edit, _into_main
from tests.support.tools import NEEDS_ARM, NEEDS_NINJA

pytestmark = [NEEDS_NINJA, NEEDS_ARM]
REGISTRY = f"{SOURCES}/default_registry.c"
DATA = "model/executor-config/graph"
PACKED = "TVMValue *args, int *codes, int count, TVMValue *value, int *code, void *resource_handle"
SOFTMAX = "tvmgen_default_fused_nn_softmax"


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    project = tmp_path_factory.mktemp("graph") / "sound"
    microgen.generate(DIGITS, "mps2_an386", project, executor="graph")
    builder.build(project)
    report = microgen.verify(project)
    assert report.ok
    assert report.check("graph").status == report.check("registry").status == "ok"
    return project


def _move_a_storage(project: Path) -> None:
    """Moves the first one into the second one, which the same call uses."""
    first = re.search(r"\.set sid_\d+, \S+ \+ (\d+)", (project / MEMORY).read_text())
    assert first
    moved = int(first[1]) + 32
    _edit(project, MEMORY, r"(\.set sid_\d+, \S+ \+) \d+", rf"\1 {moved}")


def _grow_the_pool(project: Path) -> None:
    size = re.search(r"\.skip (\d+)", (project / MEMORY).read_text())
    assert size
    larger = int(size[1]) + 16
    _edit(project, MEMORY, rf"(\.size tvmgen_default_graph_pool,) {size[1]}", rf"\1 {larger}")
    _edit(project, MEMORY, rf"\.skip {size[1]}", f".skip {larger}")


def _flip_a_constant(project: Path) -> None:
    path = project / DATA / "default.params"
    arrays = params_file.loads(path.read_bytes())
    name = next(name for name, array in arrays.items() if array.ndim > 1)
    weights = arrays[name].copy()
    weights.flat[0] ^= 1
    path.write_bytes(params_file.dumps({**arrays, name: weights}))


def _drop_an_entry(project: Path) -> None:
    _edit(project, REGISTRY, r'"\\007\\000"', r'"\\006\\000"')
    _edit(project, REGISTRY, rf'    "{SOFTMAX}\\0";', '    "";')
    _edit(project, REGISTRY, rf"^    {SOFTMAX},\n", "")
    _edit(project, REGISTRY, r"tvm_functions\[7\]", "tvm_functions[6]")


def _exchange_a_function(project: Path) -> None:
    """Puts a function into the table that takes more stack than the board has."""
    deep = f"""
static int deep({PACKED})
{{
    volatile char frame[5000];
    frame[0] = (char)(count + (args != 0) + (codes != 0));
    return frame[0] + (value != 0) + (code != 0) + (resource_handle != 0);
}}

static const TVMBack"""
    _edit(project, REGISTRY, r"^static const TVMBack", deep)
    _edit(project, REGISTRY, rf"^    {SOFTMAX},", "    deep,")


def _make_the_table_writable(project: Path) -> None:
    _edit(project, REGISTRY, r"^static const TVMBackendPackedCFunc", "extern TVMBackendPackedCFunc")
    _edit(project, REGISTRY, r"^extern (TVMBackend\w+ tvm_functions\[7\])", r"extern \1;\n\1")


def _another_registry(project: Path) -> None:
    """Makes the firmware ask for another registry, so the right one is not linked."""
    _edit(project, REGISTRY, r"^static const TVMModule", _OTHER + "static const TVMModule")
    _edit(project, REGISTRY, r"\{\.registry = &tvm_function_registry\}", "{.registry = &other}")


_OTHER = """static const TVMBackendPackedCFunc others[7];
static const TVMFuncRegistry other = {
    .names = tvm_function_names,
    .funcs = others,
};
extern const TVMFuncRegistry *unused;
const TVMFuncRegistry *unused = &tvm_function_registry;

"""


def _graph_edited(change: Callable[[dict[str, Any]], None]) -> Callable[[Path], None]:
    def breakage(project: Path) -> None:
        path = project / DATA / "default.graph"
        graph = json.loads(path.read_text())
        change(graph)
        text = json.dumps(graph, separators=(",", ":"))
        path.write_text(text)
        _edit(project, f"{SOURCES}/default_lib0.c", r"JSON_BYTES \d+U", f"JSON_BYTES {len(text)}U")

    return breakage


def _results(graph: dict[str, Any]) -> tuple[int, int]:
    """The storages of the first two calls' results, which have equal sizes."""
    ids, shapes = (graph["attrs"][name][1] for name in ("storage_id", "shape"))
    first, second = [n for n, node in enumerate(graph["nodes"]) if node["op"] != "null"][:2]
    assert shapes[first] == shapes[second]
    return ids[first], ids[second]


def _swap_storages(graph: dict[str, Any]) -> None:
    ids, (a, b) = graph["attrs"]["storage_id"][1], _results(graph)
    graph["attrs"]["storage_id"][1] = [{a: b, b: a}.get(i, i) for i in ids]


def _swap_arguments(graph: dict[str, Any]) -> None:
    add = next(n for n in graph["nodes"] if n["name"].endswith("fused_add_clip"))
    add["inputs"].reverse()


def _call_another(graph: dict[str, Any]) -> None:
    calls = [n for n in graph["nodes"] if n["op"] != "null"]
    calls[-1]["attrs"]["func_name"] = calls[0]["attrs"]["func_name"]


def _widen_a_storage(graph: dict[str, Any]) -> None:
    shapes = graph["attrs"]["shape"][1]
    ids = graph["attrs"]["storage_id"][1]
    shapes[ids.index(_results(graph)[1])] = [1, 8, 8, 17]


def _call_through_a_pointer(project: Path) -> None:
    """Adds such a call to a function of the executor's family."""
    own = """
extern int32_t (*volatile anything)(void);
int32_t (*volatile anything)(void);
int32_t TVMGraphExecutor_RunAll(void);
__attribute__((noinline)) int32_t TVMGraphExecutor_RunAll(void)
{
    return anything() + 1;
}
"""
    _into_main(project, own, "status += TVMGraphExecutor_RunAll();")


def _make_another_executor(project: Path) -> None:
    own = """
static const TVMModule unknown = {0};
static uint8_t pool[8000];
"""
    _into_main(
        project,
        own,
        "{ TVMGraphExecutor *e; const DLDevice d = {kDLCPU, 0};\n"
        '    status += TVMGraphExecutor_CreateIn(pool, 8000U, "{}", 2U, &unknown, d, &e); }',
    )


BREAKAGES: dict[str, tuple[Callable[[Path], None], set[str]]] = {
    "a storage moved": (_move_a_storage, {"sids", "sid_overlap"}),
    "the pool grown": (_grow_the_pool, {"arena"}),
    "a constant flipped": (_flip_a_constant, {"constants_bytes"}),
    "an entry dropped": (_drop_an_entry, {"registry", "operators", "runner"}),
    "a function exchanged": (_exchange_a_function, {"registry", "operators", "runner", "stack"}),
    "a writable table": (_make_the_table_writable, {"registry", "stack"}),
    "another registry": (_another_registry, {"registry", "operators", "runner", "stack"}),
    "storages swapped": (_graph_edited(_swap_storages), {"graph"}),
    "arguments swapped": (_graph_edited(_swap_arguments), {"graph"}),
    "another call": (_graph_edited(_call_another), {"graph"}),
    "a storage widened": (_graph_edited(_widen_a_storage), {"graph"}),
    "a pointer called": (_call_through_a_pointer, {"stack"}),
    "another executor": (_make_another_executor, {"stack"}),
}


@pytest.mark.sampled(8)
@pytest.mark.parametrize("what", BREAKAGES)
def test_a_broken_promise_fails_its_own_check_only(what: str, sound: Path) -> None:
    breakage, wanted = BREAKAGES[what]
    # Ninja does not know that a source includes the file of the graph.
    broken.check(breakage, wanted, sound, anew=True)


def test_the_stack_counts_the_deepest_function_of_the_registry(sound: Path, tmp_path: Path) -> None:
    """An operator with a larger frame increases the bound by the same number of bytes."""
    project = tmp_path / "p"
    shutil.copytree(sound, project, ignore=shutil.ignore_patterns("build"))
    source = project / SOURCES / "default_packed.c"
    larger = 'char frame[2800];\n    void *data[3];\n    __asm__("" : : "r"(frame));'
    text, count = re.subn(r"void \*data\[3\];", larger, source.read_text())
    assert count == 1
    source.write_text(text)
    builder.build(project)
    before, after = (microgen.verifier.stack_bound(p) for p in (sound, project))
    assert after.nbytes > before.nbytes
    assert any(step.startswith("TVMGraphExecutor_RunNode ") for step in after.path)
    assert not before.problems
    assert not after.problems
