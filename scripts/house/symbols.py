"""Kernel symbols that a search in the tree does not find.

All implementations that microgen can choose have symbols, which the manifest and the reports print.
A symbol is found if it is a word of a text file below ``crt/`` or ``microgen/``. JSON is left out,
because the keys of a table of costs define nothing, and so is ``docs/``, whose list of operators
names neither header nor module.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

from scripts.house.tree import Figure, Tree

_LIST = """
import json
from microgen import kernels
symbols = sorted({k.symbol for own in kernels.registry().values() for k in own})
print(json.dumps([kernels.__file__, symbols]))
"""
_TEXT = (".py", ".c", ".h", ".S", ".inc", ".txt", ".md", ".j2")
_SYMBOL = re.compile(r"\bmg_\w+")


def measure(tree: Tree) -> dict[str, Figure] | str:
    """The number of symbols that are not found; a reason if microgen cannot be imported."""
    symbols = listed(tree)
    if isinstance(symbols, str):
        return symbols
    hidden = missing(tree, symbols)
    about = f"of {len(symbols)}" + "".join(f"; {name}" for name in hidden[:3])
    return {"kernel symbols not found": Figure(len(hidden), about)}


def listed(tree: Tree) -> list[str] | str:
    """All symbols of kernels; as text the reason why the tree's microgen does not list them."""
    done = subprocess.run(
        [sys.executable, "-c", _LIST],
        cwd=tree.root,
        # In a process of its own, because this one may have imported another tree's microgen.
        env={**os.environ, "PYTHONPATH": str(tree.root.resolve())},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        return (done.stderr.strip().splitlines() or ["no message"])[-1]
    place, symbols = json.loads(done.stdout)
    # An installed package can come before PYTHONPATH, and would be measured instead.
    if tree.root.resolve() not in Path(place).resolve().parents:
        return f"Python imports microgen from {place}"
    return [str(name) for name in symbols]


def missing(tree: Tree, symbols: list[str]) -> list[str]:
    """The symbols that are in no file."""
    words: set[str] = set()
    for path in (*tree.files("crt", _TEXT), *tree.files("microgen", _TEXT)):
        words.update(_SYMBOL.findall(path.read_text(encoding="utf-8")))
    return [name for name in symbols if name not in words]
