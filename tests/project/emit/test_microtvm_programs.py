"""Applications written for microTVM compile unchanged with our headers, and run.

They are formatted and typed as their authors would do it, not like this project's C.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest

from microgen.graph.ir.graph import Graph
from microgen.graph.ir.interpreter import evaluate
from microgen.graph.ops import registry
from microgen.options import Options
from tests.crt.executor.executor_graphs import SOURCES
from tests.planner.executors.handmade import compiled
from tests.support.compiling import write_project
from tests.support.each_compiled import UNOPTIMIZED
from tests.support.graphs import Builder
from tests.support.tools import NEEDS_NINJA

pytestmark = NEEDS_NINJA
CRT = Path(__file__).resolve().parents[3] / "crt"
HERE = Path(__file__).resolve().parent
RUNTIME = (
    *("crt", "func_registry", "module", "packed_func", "platform/platform_memory"),
    "stack_allocator",
)


def _graph() -> Graph:
    b = Builder()
    return b.graph(b.conv(b.conv(b.input(1, 4, 4, 2), 2), 3))


def _expected(graph: Graph) -> list[int]:
    inputs = {"input0": np.full((1, 4, 4, 2), 5, np.int8)}
    values = evaluate(graph, inputs, registry())
    return list(map(int, values[graph.outputs[0]].reshape(-1)))


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("source", "options", "lines"),
    [
        ("microtvm_c.c", Options(), 1),
        ("microtvm_packed.c", Options(interface="packed"), 2),
        ("microtvm_packed.c", Options(interface="packed", unpacked_api=True), 2),
    ],
    ids=["c", "packed", "packed entry point"],
)
def test_an_application_for_microtvm_runs_unchanged(
    source: str, options: Options, lines: int, tmp_path: Path
) -> None:
    graph = _graph()
    write_project(graph, tmp_path / "p", options)
    host = tmp_path / "p" / "model" / "codegen" / "host"
    command = ["cc", *UNOPTIMIZED, "-std=c99", "-Wall", "-Wextra", "-Werror"]
    command += ["-fsanitize=address,undefined"]
    command += [f"-I{host / 'include'}", f"-I{CRT / 'include'}", "-o", str(tmp_path / "app")]
    sources = [*sorted((host / "src").glob("*.[cS]")), HERE / source]
    if source == "microtvm_c.c":
        sources.append(CRT / "src" / "stack_allocator.c")
    else:
        sources += [CRT / "src" / f"{name}.c" for name in RUNTIME]
    subprocess.run([*command, *map(str, sources)], check=True)
    done = subprocess.run([str(tmp_path / "app")], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = [list(map(int, line.split())) for line in done.stdout.splitlines()]
    assert found == [_expected(graph)] * lines


def test_an_application_for_the_graph_executor_runs_unchanged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The application reads graph and parameters as files, and runs them in its own memory."""
    graph = _graph()
    made = compiled(graph, Options(executor="graph"), tmp_path, monkeypatch)
    made.files.write_to(tmp_path / "p")
    host, data = (tmp_path / "p" / "model" / name for name in ("codegen/host", "executor-config"))
    command = ["cc", *UNOPTIMIZED, "-std=c99", "-Wall", "-Wextra", "-Werror"]
    command += ["-fsanitize=address,undefined"]
    command += [f"-I{host / 'include'}", f"-I{data / 'graph'}", f"-I{CRT / 'include'}"]
    command += [f"-I{CRT / 'src'}", "-o", str(tmp_path / "app")]
    sources = [*sorted((host / "src").glob("*.[cS]")), HERE / "microtvm_graph.c"]
    sources += [*SOURCES, CRT / "src" / "platform/platform_posix.c"]
    subprocess.run([*command, *map(str, sources)], check=True)
    files = [str(data / "graph" / f"default.{name}") for name in ("graph", "params")]
    done = subprocess.run([tmp_path / "app", *files], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = [list(map(int, line.split())) for line in done.stdout.splitlines()]
    assert found == [_expected(graph)] * 2
