"""``microgen codegens``: the available code generators."""

from __future__ import annotations

import argparse
from typing import Any

from microgen.base.output.console import Console, Outcome
from microgen.compiler import codegens
from microgen.compiler.codegens import Registry
from microgen.compiler.codegens.external import ExternalCodegen
from microgen.interface.commands import compiling


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    compiling.add_codegen_path(parser)


def execute(args: argparse.Namespace, _console: Console) -> Outcome:
    """Print for each codegen its title, its package, the type keys of its modules, and the
    operators and patterns that it takes; or the reason why it cannot be used."""
    known = codegens.registry(*args.codegen_path)
    described = [_described(name, known) for name in known]
    return Outcome({"codegens": described}, [line for one in described for line in _lines(one)])


def _described(name: str, known: Registry) -> dict[str, Any]:
    origin = " and ".join(known.origins(name))
    broken = known.broken(name)
    if broken:
        return {"name": name, "origin": origin, "broken": str(broken)}
    codegen = known[name]
    title = (type(codegen).__doc__ or "").strip().partition("\n")[0]
    described = {"name": name, "title": title, "origin": origin}
    if not isinstance(codegen, ExternalCodegen):
        return described
    return {
        **described,
        "type_keys": [runtime.type_key for runtime in codegen.runtimes],
        "operators": list(codegen.support.operators),
        "patterns": [pattern.name for pattern in codegen.support.patterns],
    }


def _lines(one: dict[str, Any]) -> list[str]:
    if "broken" in one:
        return [f"{one['name']} ({one['origin']}) is broken: {one['broken']}"]
    lists = {"modules of type": "type_keys", "operators": "operators", "patterns": "patterns"}
    lines = [f"    {what}: {', '.join(one[key])}" for what, key in lists.items() if one.get(key)]
    return [f"{one['name']} ({one['origin']}): {one['title']}", *lines]
