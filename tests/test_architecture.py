"""Who may import whom: the layers of docs/architecture.md, read from the code."""

from __future__ import annotations

import ast
import functools
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent.parent / "microgen"
MODULES = sorted(PACKAGE.rglob("*.py"))

# A part of the package -> the parts that it may import (itself always).
BASE = {"errors", "printable"}
GRAPH = {*BASE, "ir", "ops", "quantize", "quantize16"}
TARGET = {*BASE, "byte_sizes", "target", "resources"}
PROGRAM = {*BASE, "external_modules", "ir", "program"}
MAY_IMPORT = {
    "printable": set(),
    "errors": {"printable"},
    "progress": set(),
    "byte_sizes": set(),
    "text_layout": BASE,
    "junit": {*BASE, "files"},
    "ram": {"manifest"},
    "version": set(),
    "resources": set(),
    "files": BASE,
    "console": {*BASE, "progress", "text_layout"},
    "checked_json": BASE,
    "c_layout": set(),
    "guard": set(),
    "toolchain": {*BASE, "guard", "tools"},
    "tools": set(),
    "cnames": {*BASE, "tvm_names"},
    "tvm_names": BASE,
    "options": {*TARGET, "cnames", "pools", "program"},
    "pools": {*BASE, "byte_sizes", "cnames", "program"},
    "workspace_io": {"program"},
    "combined": {"program"},
    "modules": {*PROGRAM, "blob", "codegens"},
    "module_names": {*BASE, "cnames", "files"},
    "app_memory": {"emit", "program", "target"},
    "numerics": GRAPH,
    "budget": GRAPH,
    "ir": GRAPH,
    "ops": GRAPH,
    "quantize": GRAPH,
    "quantize16": GRAPH,
    "target": TARGET,
    "external_modules": set(),
    "external_files": {*PROGRAM, "cnames", "files", "project"},
    "program": {"external_modules", "ir"},
    "metadata": {*BASE, "options", "program"},
    "conventions": {*BASE, "metadata", "options", "program"},
    "compiled": {*GRAPH, *PROGRAM, "files", "manifest", "metadata", "partition"},
    "transforms": {*BASE, "ir", "quantize", "quantize16"},
    "byte_stream": BASE,
    "ndarray": {*BASE, "byte_stream", "ir"},
    "params_file": {*BASE, "byte_stream", "ir", "ndarray"},
    "blob": {*BASE, "byte_stream", "cnames", "ir", "ndarray"},
    "manifest": {*BASE, "checked_json", "files", "structuring"},
    "structuring": set(),
    "relay": {*BASE, "byte_stream", "files", "ir", "ndarray", "params_file"},
    "frontends": {*GRAPH, "budget", "numerics", "relay", "target"},
    "passes": {*GRAPH, "budget"},
    "kernels": {*GRAPH, "program", "target"},
    "codegens": {*GRAPH, *PROGRAM, "blob", "byte_stream", "c_layout", "checked_json", "cnames"}
    | {"kernels", "passes", "relay", "target", "transforms"},
    "partition": {*GRAPH, "codegens", "passes", "relay", "target"},
    "devices": {*PROGRAM, "cnames", "target", "tvm_names"},
    "lowering_cache": {*PROGRAM, "cnames", "codegens", "target"},
    "lowering": {*GRAPH, *TARGET, "cnames", "codegens", "kernels", "partition", "passes"}
    | {"devices", "external_modules", "lowering_cache", "program", "transforms"},
    "planner": PROGRAM,
    "emit": {*PROGRAM, "blob", "cnames", "executors", "files", "params_file", "resources"},
    "mlf": {*PROGRAM, "checked_json", "cnames", "files", "manifest", "params_file", "target"},
    "code_size": {*PROGRAM, "options", "target"},
    "capacity": {*PROGRAM, "cnames", "code_size", "manifest", "options", "target"},
    "record": {*PROGRAM, "blob", "emit", "files", "manifest", "mlf", "options", "target"},
    "executors": {*PROGRAM, "c_layout", "planner"},
    "project": {*PROGRAM, "app_memory", "emit", "files", "resources", "target"},
    "llvm_ir": {*BASE, "files", "target", "toolchain"},
    "builder": {*TARGET, "files", "manifest", "toolchain"},
    "verifier": {*TARGET, "blob", "builder", "codegens", "files", "ir", "manifest", "params_file"}
    | {"junit", "options", "progress", "structuring", "text_layout", "transforms"},
    "runner": {*TARGET, "files", "guard", "ir", "manifest", "progress", "toolchain", "verifier"},
    "stimuli": {"ir", "manifest"},
    "oracle": {*BASE, "ir", "progress"},
    "compare": {*GRAPH, "files", "frontends", "manifest", "oracle", "passes", "runner", "target"}
    | {"progress"},
    "blame": {*GRAPH, "compare", "manifest", "passes", "runner"},
    "doctor": {"tools"},
}
# These join the parts; they may import anything below them.
JOINING = {"api", "cli", "commands", "inspection", "pipeline", "support", "__init__", "__main__"}

# A library -> the only parts that may use it.
ONLY_IN = {
    "jinja2": {"emit", "project"},
    "elftools": {"verifier"},
    "subprocess": {"builder", "guard", "runner", "toolchain", "tools"},
    "flatbuffers": {"frontends"},
    "tflite": {"frontends"},
    "ai_edge_litert": {"oracle"},
    "argparse": {"cli", "commands"},
}


def _part(module: Path) -> str:
    return module.relative_to(PACKAGE).parts[0].removesuffix(".py")


@functools.cache
def _imports(module: Path) -> set[str]:
    """Dotted names that a module imports, ``from a import b`` as ``a.b``."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            found.update(f"{node.module}.{alias.name}" for alias in node.names)
    return found


def _ours(module: Path) -> set[str]:
    """Parts of microgen that a module imports."""
    dotted = {name for name in _imports(module) if name.startswith("microgen.")}
    return {name.split(".")[1] for name in dotted} - {"version"}


def _libraries(module: Path) -> set[str]:
    """Of the libraries that only some parts may use those that a module imports."""
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


def test_the_check_of_plans_shares_no_code_with_the_planners() -> None:
    assert _ours(PACKAGE / "planner" / "check.py") <= {"program", "errors"}


def test_only_the_pipeline_knows_the_order() -> None:
    stages = {"frontends", "passes", "partition", "lowering", "planner", "emit", "project"}
    knowing = {_part(m) for m in MODULES if len(_ours(m) & stages) >= 5}
    assert knowing == {"pipeline"}


def test_no_code_asks_which_board() -> None:
    boards = {p.parent.name for p in (PACKAGE.parent / "boards").glob("*/board.yml")}
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
