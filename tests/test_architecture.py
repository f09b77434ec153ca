"""Which parts may import which: the layers of docs/explanation/architecture.md."""

from __future__ import annotations

import ast
import collections
import functools
import graphlib
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

import microgen

CHECKOUT = Path(__file__).resolve().parent.parent
PACKAGE = CHECKOUT / "microgen"
MODULES = sorted(PACKAGE.rglob("*.py"))

# The rooms from the ground up: a room imports rooms before it only. docs has the same table.
ROOMS = (
    *("base", "target", "graph", "building", "planner", "relay", "options", "kernels"),
    *("frontends", "compiler", "tvm", "project", "pipeline", "verifier", "running", "interface"),
)

# A part of a room, or a room -> the parts that it may import. Every part may import itself.
ERRORS = {"base.errors", "base.printable"}
TEXTS = {*ERRORS, "base.files", "base.formats", "base.pieces"}
GRAPH = {*ERRORS, "graph.arithmetic", "graph.ir", "graph.ops"}
TARGET = {*ERRORS, "base.formats", "base.resources", "target"}
PROGRAM = {*ERRORS, "graph.ir", "planner.program"}
PROJECT = {*TEXTS, "base.manifest", "base.names", "graph.ir", "graph.params_file"}
MAY_IMPORT = {
    "version": set(),
    "base.memory": set(),
    "base.pieces": set(),
    "base.printable": set(),
    "base.resources": set(),
    "base.west": set(),
    "base.errors": {"base.printable"},
    "base.files": {*ERRORS, "base.pieces"},
    "base.formats": ERRORS,
    "base.names": {*ERRORS, "base.files"},
    "base.output": {*ERRORS, "base.files"},
    "base.manifest": TEXTS,
    "target": TARGET,
    "graph.ir": {*ERRORS, "graph.ops"},
    "graph.ops": GRAPH,
    "graph.arithmetic": {*ERRORS, "graph.ir"},
    "graph.stored": {"graph.arithmetic", "graph.ir"},
    "graph.builder": {*GRAPH, "graph.stored"},
    "graph.unsigned": {*GRAPH, "graph.builder"},
    "graph.qdq": {*GRAPH, "graph.builder", "graph.stored", "graph.unsigned"},
    "graph.rows": GRAPH,
    "graph.ndarray": {*ERRORS, "base.formats", "base.pieces", "graph.ir"},
    "graph.params_file": {*ERRORS, "base.formats", "base.pieces", "graph.ir", "graph.ndarray"},
    "building": {*TARGET, "base.files", "base.manifest"},
    "relay": {*TEXTS, "graph.ir", "graph.ndarray", "graph.params_file"},
    "relay.blob": {*ERRORS, "base.formats", "base.names", "graph.ir", "graph.ndarray"},
    "options": {*TARGET, "base.names", "planner", "planner.program"},
    "planner.program": {"graph.ir"},
    "planner": {*PROGRAM, "base.formats", "base.names"},
    "planner.executors": {*PROGRAM, "base.formats", "planner"},
    "frontends": {*GRAPH, "base.files", "base.memory", "base.pieces", "graph.builder"}
    | {"graph.qdq", "graph.stored", "graph.unsigned", "relay", "target"},
    "kernels": {*GRAPH, "base.resources", "planner.program", "target"},
    "compiler.passes": GRAPH,
    "compiler.codegens": {*GRAPH, *PROGRAM, "base.formats", "base.names", "compiler.passes"}
    | {"graph.rows", "kernels", "planner", "relay", "relay.blob", "target"},
    "compiler.partition": {*GRAPH, "compiler.codegens", "compiler.passes", "relay", "target"},
    "compiler.schedule": {*GRAPH, *TEXTS, "base.manifest", "compiler.codegens", "kernels"}
    | {"compiler.partition", "compiler.passes", "graph.rows", "planner.program", "target"}
    | {"base.output"},  # the progress of a search
    "compiler.lowering": {*PROGRAM, "base.names", "compiler.codegens", "compiler.partition"}
    | {"compiler.passes", "kernels", "target"},
    "compiler.control": {*GRAPH, *PROGRAM, "compiler.codegens", "compiler.lowering", "kernels"}
    | {"compiler.partition", "compiler.schedule", "target"},
    "tvm.mlf": {*PROJECT, *PROGRAM, "target"},
    "tvm.codegens": {*GRAPH, *PROGRAM, "base.formats", "base.names", "compiler.codegens"}
    | {"compiler.passes", "kernels", "planner", "relay", "relay.blob", "target"},
    "project.emit": {*PROGRAM, *TEXTS, "base.names", "base.resources"}
    | {"graph.params_file", "planner.executors", "relay.blob"},
    "project.firmware": {*PROJECT, *PROGRAM, "base.resources", "base.west", "compiler.codegens"}
    | {"compiler.partition", "kernels", "options", "project.emit", "relay.blob", "target"}
    | {"tvm.mlf"},
    "project.exporting": {*ERRORS, "base.files", "base.manifest", "graph.ir", "project.emit"}
    | {"project.firmware", "target", "tvm.mlf"},
    "verifier": {*TARGET, "base.files", "base.manifest", "base.output", "building"}
    | {"compiler.codegens", "compiler.schedule", "graph.ir", "graph.params_file", "kernels"}
    | {"options", "pipeline", "project.exporting", "project.firmware", "relay.blob"}
    | {"graph.arithmetic", "graph.ops"},  # proofs: what the references compute
    "running.timing": {"target", "verifier"},
    "running.runner": {*TARGET, "base.files", "base.manifest", "base.output", "building"}
    | {"graph.ir", "running.timing", "verifier"},
    "running.comparing": {*GRAPH, "base.files", "base.manifest", "base.output", "building"}
    | {"compiler.passes", "frontends", "running.runner", "target"},
}
# These join the parts; they may import anything in the rooms before theirs.
JOINING = {
    *("interface.api", "interface.cli", "interface.commands", "interface.inspection"),
    *("interface.zoo", "pipeline", "__init__", "__main__"),
}
PARTS = {*MAY_IMPORT, *JOINING}

# A library -> the only parts that may use it.
ONLY_IN = {
    "jinja2": {"project.emit", "project.firmware"},
    "elftools": {"verifier"},
    "subprocess": {"building", "running.runner", "base.west"},
    "flatbuffers": {"frontends"},
    "tflite": {"frontends"},
    "ai_edge_litert": {"frontends"},
    "tflite_micro": {"frontends"},
    "onnx": {"frontends"},
    "onnxruntime": {"frontends"},
    "argparse": {"interface.cli", "interface.commands", "base.west"},
    "jsonschema": {"target"},
    "dask": {"interface.zoo"},
    "distributed": {"interface.zoo"},
    "west": {"base.west"},
}


@functools.cache
def _part_of(name: str) -> str:
    """The part in which a dotted name below microgen is: the longest that the name begins with. A
    room's own ``__init__`` belongs to none of its parts, and may import nothing."""
    words = name.split(".")
    starts = [".".join(words[:n]) for n in range(len(words), 0, -1)]
    return next((start for start in starts if start in PARTS), words[0])


def _part(module: Path) -> str:
    return _part_of(".".join(module.relative_to(PACKAGE).with_suffix("").parts))


def _room(part: str) -> str:
    return part.split(".")[0]


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
    return {_part_of(name.partition(".")[2]) for name in dotted} - {"version"}


def _libraries(module: Path) -> set[str]:
    """The libraries that a module imports and that only some parts may use."""
    return {name.split(".")[0] for name in _imports(module)} & ONLY_IN.keys()


def test_parts_import_only_what_their_layers_allow() -> None:
    parts = {_part(module) for module in MODULES if len(_ours(module)) > 0} - JOINING
    unknown = parts - MAY_IMPORT.keys()
    assert not unknown, "give them their places in MAY_IMPORT and docs/explanation/architecture.md"
    strayed = {
        str(module.relative_to(PACKAGE)): found
        for module in MODULES
        if (part := _part(module)) not in JOINING
        and (found := _ours(module) - MAY_IMPORT.get(part, set()) - {part})
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
    assert _ours(PACKAGE / "planner" / "check.py") <= {"planner.program", "base.errors"}


def test_bounds_of_ram_share_no_code_with_the_search() -> None:
    schedule = PACKAGE / "compiler" / "schedule"
    for name in ("certificate", "patch_demand", "row_demand"):
        module = schedule / f"{name}.py"
        assert "graph.rows" not in _ours(module)
        own = {found for found in _imports(module) if ".compiler.schedule." in found}
        assert {found.split(".")[3] for found in own} <= {"patch_demand", "row_demand"}


def test_what_reads_an_elf_file_knows_nothing_of_checks() -> None:
    below = {
        "elf": set[str](),
        "instructions": {"elf"},
        "runner_walk": {"elf", "instructions", "subject"},
    }
    verifier = "microgen.verifier."
    strayed = {
        str(module.relative_to(PACKAGE)): found
        for folder, allowed in below.items()
        for module in (PACKAGE / "verifier" / folder).rglob("*.py")
        for found in (name for name in _imports(module) if name.startswith(verifier))
        if found.split(".")[2] not in {*allowed, folder}
    }
    assert not strayed


def test_only_the_pipeline_knows_the_order() -> None:
    stages = {"frontends", "planner", "project.emit", "project.firmware"}
    stages |= {f"compiler.{name}" for name in ("passes", "partition", "lowering")}
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


def test_rooms_are_few_and_few_modules_lie_flat() -> None:
    flat = {module.stem for module in MODULES if module.parent == PACKAGE}
    assert flat == {"__init__", "__main__", "options", "version"}
    assert {_room(_part(module)) for module in MODULES} - flat == {*ROOMS} - {"options"}
    assert len(ROOMS) <= 18


def test_rooms_import_only_rooms_before_them() -> None:
    places = {room: place for place, room in enumerate(ROOMS)}
    arrows = {
        (_room(_part(module)), _room(other))
        for module in MODULES
        if _room(_part(module)) in places
        for other in _ours(module)
    }
    assert not [(a, b) for a, b in arrows if places[b] > places[a]]
    assert len([1 for a, b in arrows if a != b]) <= 90


@pytest.mark.parametrize("suffix", ["py", "c", "h"])
def test_no_folder_has_more_than_thirty_files(suffix: str) -> None:
    roots = ("microgen", "crt", "tests", "scripts", "examples")
    files = [path for root in roots for path in (CHECKOUT / root).rglob(f"*.{suffix}")]
    counts = collections.Counter(path.parent.relative_to(CHECKOUT) for path in files)
    assert not {str(folder): count for folder, count in counts.items() if count > 30}


def test_no_room_hides_a_public_function() -> None:
    to_come = {"plan", "explore", "inspect", "partition", "report", "diff", "boards", "ops"}
    functions = {name for name in microgen.__all__ if name.islower()} | to_come | {"doctor"}
    assert not functions & {*ROOMS}


def test_only_the_graph_and_its_ops_import_each_other() -> None:
    arrows = {(_part(m), other) for m in MODULES for other in _ours(m)}
    assert {frozenset(a) for a in arrows if a[::-1] in arrows and len(set(a)) == 2} == {
        frozenset({"graph.ir", "graph.ops"})
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


def test_the_budget_of_ram_takes_one_way() -> None:
    """One module reads ``options.ram``. Other modules get a limit in bytes, or the record."""
    readers = set()
    for module in MODULES:
        for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Attribute) and node.attr == "ram":
                owner = ast.unparse(node.value).rpartition(".")[2]
                readers |= {_name(module)} if owner == "options" else set()
    assert readers == {"microgen.project.firmware.capacity"}
