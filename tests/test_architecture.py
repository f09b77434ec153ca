"""Which parts may import which: the layers of docs/architecture.md, checked in the code."""

from __future__ import annotations

import ast
import functools
import graphlib
import statistics
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

import microgen

CHECKOUT = Path(__file__).resolve().parent.parent
PACKAGE = CHECKOUT / "microgen"
MODULES = sorted(PACKAGE.rglob("*.py"))

# A part of the package -> the parts that it may import. Every part may import itself.
BASE = {"errors", "printable"}
GRAPH = {*BASE, "arithmetic", "ir", "ops"}
TARGET = {*BASE, "formats", "resources", "target"}
PROGRAM = {*BASE, "ir", "program"}
MAY_IMPORT = {
    "version": set(),
    "printable": set(),
    "resources": set(),
    "west": set(),
    "errors": {"printable"},
    "files": BASE,
    "ir": {*BASE, "ops"},
    "arithmetic": {*BASE, "ir"},
    "ops": GRAPH,
    "formats": {*BASE, "ir"},
    "names": {*BASE, "files"},
    "output": {*BASE, "files"},
    "target": TARGET,
    "program": {"ir"},
    "manifest": {*BASE, "files", "formats"},
    "options": {*TARGET, "names", "planner", "program"},
    "relay": {*BASE, "files", "formats", "ir"},
    "blob": {*BASE, "formats", "ir", "names"},
    "frontends": {*GRAPH, "files", "relay", "target"},
    "passes": GRAPH,
    "kernels": {*GRAPH, "program", "target"},
    "codegens": {*GRAPH, *PROGRAM, "blob", "formats", "kernels", "names", "passes", "planner"}
    | {"relay", "target"},
    "partition": {*GRAPH, "codegens", "passes", "relay", "target"},
    "schedule": {
        *GRAPH,
        "codegens",
        "files",
        "formats",
        "kernels",
        "manifest",
        "partition",
        "passes",
    }
    | {"target"},
    "lowering": {*PROGRAM, "codegens", "kernels", "names", "partition", "passes", "target"},
    "planner": {*PROGRAM, "formats", "names"},
    "executors": {*PROGRAM, "formats", "planner"},
    "emit": {*PROGRAM, "blob", "executors", "files", "formats", "names", "resources"},
    "mlf": {*PROGRAM, "files", "formats", "manifest", "names", "target"},
    "firmware": {*PROGRAM, "blob", "codegens", "emit", "files", "formats", "kernels", "manifest"}
    | {"mlf", "names"}
    | {"options", "partition", "resources", "target", "west"},
    "exporting": {*BASE, "emit", "files", "firmware", "ir", "manifest", "mlf", "target"},
    "building": {*TARGET, "files", "manifest"},
    "verifier": {*TARGET, "blob", "building", "codegens", "files", "ir", "kernels", "manifest"}
    | {"exporting", "firmware", "options", "output", "pipeline", "schedule"}
    | {"arithmetic", "ops"},  # proofs: what the references compute
    "timing": {"target", "verifier"},
    "runner": {*TARGET, "building", "files", "ir", "manifest", "output", "timing", "verifier"},
    "comparing": {
        *GRAPH,
        "building",
        "files",
        "frontends",
        "manifest",
        "output",
        "passes",
        "runner",
        "target",
    },
}
# These join the parts; they may import anything below them.
JOINING = {"api", "cli", "commands", "inspection", "pipeline", "zoo", "__init__", "__main__"}

# A library -> the only parts that may use it.
ONLY_IN = {
    "jinja2": {"emit", "firmware"},
    "elftools": {"verifier"},
    "subprocess": {"building", "runner", "west"},
    "flatbuffers": {"frontends"},
    "tflite": {"frontends"},
    "ai_edge_litert": {"frontends"},
    "tflite_micro": {"frontends"},
    "onnx": {"frontends"},
    "onnxruntime": {"frontends"},
    "argparse": {"cli", "commands", "west"},
    "jsonschema": {"target"},
    "dask": {"zoo"},
    "distributed": {"zoo"},
    "west": {"west"},
}


def _part(module: Path) -> str:
    return module.relative_to(PACKAGE).parts[0].removesuffix(".py")


def _statements(module: Path) -> Iterator[ast.AST]:
    """All statements of a module. No statement is in an expression, of which there are far more."""
    left: list[ast.AST] = [ast.parse(module.read_text(encoding="utf-8"))]
    while left:
        node = left.pop()
        yield node
        kinds = ast.stmt | ast.excepthandler | ast.match_case
        left += [child for child in ast.iter_child_nodes(node) if isinstance(child, kinds)]


@functools.cache
def _imports(module: Path) -> set[str]:
    """The dotted names that a module imports; ``from a import b`` is ``a.b``."""
    found: set[str] = set()
    for node in _statements(module):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            found.update(f"{node.module}.{alias.name}" for alias in node.names)
    return found


def _ours(module: Path) -> set[str]:
    """The parts of microgen that a module imports."""
    dotted = {name for name in _imports(module) if name.startswith("microgen.")}
    return {name.split(".")[1] for name in dotted} - {"version"}


def _libraries(module: Path) -> set[str]:
    """The libraries that a module imports and that only some parts may use."""
    return {name.split(".")[0] for name in _imports(module)} & ONLY_IN.keys()


def test_parts_import_only_what_their_layers_allow() -> None:
    parts = {_part(module) for module in MODULES} - JOINING
    unknown = parts - MAY_IMPORT.keys()
    assert not unknown, "give them their places in MAY_IMPORT and docs/architecture.md"
    strayed = {
        str(module.relative_to(PACKAGE)): found
        for module in MODULES
        if (part := _part(module)) not in JOINING
        and (found := _ours(module) - MAY_IMPORT[part] - {part})
    }
    assert not strayed


def test_libraries_are_used_only_in_their_parts() -> None:
    strayed = {
        str(module.relative_to(PACKAGE)): found
        for module in MODULES
        if (found := {x for x in _libraries(module) if _part(module) not in ONLY_IN[x]})
    }
    assert not strayed


def test_model_formats_do_not_import_each_other() -> None:
    frontends = PACKAGE / "frontends"
    formats = {folder.name for folder in frontends.iterdir() if (folder / "__init__.py").exists()}
    strayed = {
        str(module.relative_to(frontends)): found
        for module in frontends.rglob("*.py")
        for found in _imports(module)
        if found.startswith("microgen.frontends.")
        and found.split(".")[2] in formats - {module.relative_to(frontends).parts[0]}
    }
    assert len(formats) >= 2
    assert not strayed


def test_the_check_of_plans_shares_no_code_with_the_planners() -> None:
    assert _ours(PACKAGE / "planner" / "check.py") <= {"program", "errors"}


def test_only_the_pipeline_knows_the_order() -> None:
    stages = {"frontends", "passes", "partition", "lowering", "planner", "emit", "firmware"}
    known: dict[str, set[str]] = {}
    for module in MODULES:
        known.setdefault(_part(module), set()).update(_ours(module) & stages)
    knowing = {part for part, own in known.items() if len(own - {part}) >= 5}
    assert knowing == {"pipeline"}


def test_no_code_asks_which_board() -> None:
    boards = {p.parent.name for p in (CHECKOUT / "boards").glob("*/board.yml")}
    texts = {m: m.read_text(encoding="utf-8") for m in MODULES}
    asking = [
        f"{m.relative_to(PACKAGE)}: {board}"
        for m, text in texts.items()
        for board in boards
        if f'"{board}"' in text and "DEFAULT_BOARD = " not in text
    ]
    assert not asking


def test_modules_stay_small() -> None:
    lengths = {m: len(m.read_text(encoding="utf-8").splitlines()) for m in MODULES}
    assert not [str(m) for m, n in lengths.items() if n > 400]


@functools.cache
def _function_lengths(folder: str) -> Sequence[tuple[int, str]]:
    """The (lines from ``def`` to the last, name) of each function in a folder of the checkout."""
    return [
        (len(range(node.lineno, node.end_lineno or 0)) + 1, node.name)
        for module in (CHECKOUT / folder).rglob("*.py")
        for node in _statements(module)
        if isinstance(node, ast.FunctionDef)
    ]


@pytest.mark.parametrize("folder", ["microgen", "examples", "scripts", "tests"])
def test_functions_stay_small(folder: str) -> None:
    too_long = {name for lines, name in _function_lengths(folder) if lines > 40}
    assert not too_long


def test_most_functions_are_a_few_lines() -> None:
    assert statistics.median(lines for lines, _ in _function_lengths("microgen")) < 8


def test_parts_are_few_and_few_lie_flat() -> None:
    flat = {m for m in MODULES if m.parent == PACKAGE}
    assert len(flat) <= 12
    assert len({_part(m) for m in MODULES}) <= 44


def test_no_part_hides_a_public_function() -> None:
    functions = {name for name in microgen.__all__ if name.islower()}
    assert not functions & {_part(m) for m in MODULES}


def test_only_the_graph_and_its_ops_import_each_other() -> None:
    arrows = {(_part(m), other) for m in MODULES for other in _ours(m)}
    assert {frozenset(a) for a in arrows if a[::-1] in arrows and len(set(a)) == 2} == {
        frozenset({"ir", "ops"})
    }


def _name(module: Path) -> str:
    return ".".join(module.relative_to(CHECKOUT).with_suffix("").parts)


def test_no_modules_import_each_other_in_a_circle() -> None:
    names = {_name(m).removesuffix(".__init__"): m for m in MODULES}
    order = graphlib.TopologicalSorter(
        {
            name: {
                found if found in names else found.rpartition(".")[0] for found in _imports(module)
            }
            & names.keys() - {name}
            for name, module in names.items()
        }
    )
    order.prepare()
