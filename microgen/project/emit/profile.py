"""The file that counts each call's cycles under Zephyr, with ``CONFIG_MICROGEN_PROFILE=y``.

The linker's option ``--wrap`` leads calls of the operators through functions of this file, so the
model's own code is the same as without profiling.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from microgen.base.files import FileTree
from microgen.base.names import cnames
from microgen.planner.program.types import PrimFunc, RunnerCall
from microgen.project.emit import layout, literals
from microgen.project.emit.environment import environment
from microgen.project.emit.kernel_calls import STRUCT, declarations, parameters, struct
from microgen.project.emit.unit import Unit, model_files

FILE = "src/profile_zephyr.c"
_INDENT = 4  # of the calls


def profile(units: Sequence[Unit]) -> FileTree:
    """The file for all models of a firmware."""
    values = {
        "model": model_files(units),
        "models": [_model(unit) for unit in units],
        "intervals": sum(u.program.feed.count if u.program.feed else 1 for u in units),
    }
    text = environment("project").get_template(f"{FILE}.j2").render(values)
    return FileTree({FILE: text.encode()})


def _model(unit: Unit) -> dict[str, Any]:
    return {
        "module": unit.module,
        "functions": [_function(f, unit) for f in unit.program.functions],
        "calls": [_call(call) for call in unit.program.calls],
    }


def _call(call: RunnerCall) -> str:
    """The initialiser of a call's texts: its kernels and its layers."""
    kernels = _joined([*dict.fromkeys(step.kernel for step in call.steps)])
    layers = _joined([*map(cnames.layer, call.layers)])
    line = f"{{{literals.string(''.join(kernels))}, {literals.string(''.join(layers))}}},"
    if _INDENT + len(line) <= layout.WIDTH:
        return line
    margin = "\n" + " " * (_INDENT + 1)
    first, second = (margin.join(map(literals.string, parts)) for parts in (kernels, layers))
    return f"{{{first},{margin}{second}}},"


def _joined(names: Sequence[str]) -> list[str]:
    """The text of the names as several C string literals, which the compiler joins."""
    return [*(f"{name} + " for name in names[:-1]), names[-1]]


def _function(function: PrimFunc, unit: Unit) -> dict[str, Any]:
    name = unit.implementation(function.name)
    declared = declarations(function, name)
    passed = [STRUCT if p is None else p.name for p in parameters(function)]
    return {
        "struct": f"{struct(name)};" if function.in_struct else "",
        "real": layout.call(f"int32_t __real_{name}", declared, end=";"),
        "declared": layout.call(f"int32_t __wrap_{name}", declared, end=";"),
        "wrap": layout.call(f"int32_t __wrap_{name}", declared),
        "call": layout.call(f"const int32_t status = __real_{name}", passed, 4, end=";"),
    }
