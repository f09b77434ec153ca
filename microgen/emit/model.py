"""The model's own files, below ``model/codegen/host``: which there are, and their templates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from microgen.emit.constants import constants
from microgen.emit.environment import environment
from microgen.emit.header import header
from microgen.emit.memory import memory
from microgen.emit.operators import operators
from microgen.emit.runner import runner
from microgen.emit.unit import Unit
from microgen.files import FileTree

_HOST = "model/codegen/host"


def emit(unit: Unit) -> FileTree:
    """Header, runner, operators, constants, memory symbols."""
    module = unit.module
    outputs = {
        f"include/tvmgen_{module}.h": ("include/tvmgen.h.j2", header(unit)),
        f"src/{module}_lib0.c": ("src/lib0.c.j2", runner(unit)),
        f"src/{module}_lib1.h": ("src/lib1.h.j2", operators(unit)),
        f"src/{module}_lib1.c": ("src/lib1.c.j2", operators(unit)),
        f"src/{module}_params.h": ("src/params.h.j2", constants(unit)),
        f"src/{module}_params.c": ("src/params.c.j2", constants(unit)),
    }
    if unit.plan.peak:
        outputs[f"src/{module}_memory.s"] = ("src/memory.s.j2", memory(unit))
    templates = environment(f"project/{_HOST}")
    return FileTree(
        {
            f"{_HOST}/{path}": templates.get_template(name).render(data).encode()
            for path, (name, data) in outputs.items()
        }
    )


def operators_alone(unit: Unit) -> Mapping[str, bytes]:
    """Each primitive function's name -> a C source that defines it and no other."""
    template = environment(f"project/{_HOST}").get_template("src/lib1.c.j2")
    programs = {f.name: replace(unit.program, functions=(f,)) for f in unit.program.functions}
    return {
        name: template.render(operators(replace(unit, program=program))).encode()
        for name, program in programs.items()
    }
